"""A choice on the Hub as the model that it would be here, so that it is weighed as all others are. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.base.errors import BadFile
from weighbridge.base.printable import printable
from weighbridge.formats.gguf_variants import FORMAT
from weighbridge.formats.variant import Companion, Variant
from weighbridge.hub.layout import MAIN, Shelf
from weighbridge.hub.looking import Sight, Spot
from weighbridge.hub.offers import Offer
from weighbridge.hub.remote import RemoteFile, Repository
from weighbridge.library.folders import repository_of
from weighbridge.library.model import Helper, Model

HUB = "hub"
"""The source of a model that is not here yet."""


@dataclass(frozen=True)
class Offered:
    """One row of a table of choices: a spot that was not looked into yet (`offer` None), or one choice at a spot.

    `model` is what it would be here, where it would lie, for `choice.weigh`; its `id` is unlike that of any model that
    is here. `here` is the same model on this computer already, by path and size, or by the hash of all its parts; of a
    folder, which has more than its weights, only where it is of the same repository.
    """

    spot: Spot
    offer: Offer | None = None
    model: Model | None = None
    here: Model | None = None

    @property
    def key(self) -> str:
        """What tells it from all other rows, from one look to the next."""
        place = f"{self.spot.repo_id}@{self.spot.revision}"
        if self.offer is None:
            return place
        variant = self.offer.variant
        return f"{place}:{variant.format}:{variant.files[0].path if variant.files else variant.name}"

    @property
    def bits_per_weight(self) -> float | None:
        """Bits of one weight, as its header, its config or the Hub's count tells them."""
        told = self.model.info.bits_per_weight if self.model is not None and self.model.info is not None else None
        return told or (self.offer.variant.bits_per_weight if self.offer is not None else None)


def offered(sight: Sight, shelf: Shelf, models: Iterable[Model]) -> tuple[Offered, ...]:
    """The choices seen at a spot, those of its other branches after them. `models` are those that are here."""
    here = _Here(models)
    rows = []
    for offer in sight.offers:
        row = Offered(sight.spot, offer)
        made = _model(row.key, sight, offer, shelf)
        rows.append(replace(row, model=made, here=here.same(made, sight.repository.id)))
    return (*rows, *(Offered(spot) for spot in sight.branches))


def reference_of(spot: Spot, variant: Variant) -> str:
    """What a person types to mean this choice: "owner/name:Q4_K_M", "owner/name@4.0bpw"."""
    place = spot.repo_id if spot.revision == MAIN else f"{spot.repo_id}@{spot.revision}"
    meant = variant.name
    if variant.format == FORMAT and variant.files:
        meant = variant.label or variant.files[0].path
    return printable(f"{place}:{meant}" if meant else place)


class _Here:
    """The models that are here, by where they lie and by their hashes."""

    def __init__(self, models: Iterable[Model]) -> None:
        self._by_path: dict[Path, Model] = {}
        self._by_hash: dict[frozenset[str | None], Model] = {}
        for model in models:
            if model.problem is None:
                self._by_path.setdefault(model.path, model)
                if model.sha256s and all(model.sha256s):
                    self._by_hash.setdefault(frozenset(model.sha256s), model)

    def same(self, made: Model, repo_id: str) -> Model | None:
        """The one that `made`, of the repository `repo_id`, would be."""
        at_place = self._by_path.get(made.path)
        if at_place is not None and at_place.size_bytes == made.size_bytes:
            return at_place
        told = made.sha256s and all(made.sha256s)
        found = self._by_hash.get(frozenset(made.sha256s)) if told else None
        is_same = found is not None and (made.format == FORMAT or repository_of(found.path) == repo_id)
        return found if is_same else None


def _model(key: str, sight: Sight, offer: Offer, shelf: Shelf) -> Model:
    variant = offer.variant
    known = sight.repository.by_path
    parts = tuple(_place(shelf, file.path) for file in variant.files)
    folder = _place(shelf, f"{variant.name}/x" if variant.name else "x").parent
    return Model(
        id=f"{HUB}:{key}",
        title=_title(sight.repository, variant),
        path=parts[0] if variant.format == FORMAT and parts else folder,
        parts=parts,
        format=variant.format,
        quant=variant.label,
        size_bytes=variant.size_bytes or 0,
        info=offer.info,
        problem=offer.problem,
        companions=tuple(_helper(shelf, each) for each in variant.companions),
        guessed=variant.guessed,
        asks_to_run_code=variant.asks_to_run_code,
        source=HUB,
        sha256s=tuple(known[file.path].sha256 if file.path in known else None for file in variant.files),
    )


def _place(shelf: Shelf, path: str) -> Path:
    """Where a file would lie; one whose name is not safe to write has no place of its own."""
    try:
        return shelf.place(RemoteFile(path, 0))
    except BadFile:
        return shelf.root


def _helper(shelf: Shelf, companion: Companion) -> Helper:
    return Helper(companion.role, _place(shelf, companion.file.path), companion.file.size_bytes or 0)


def _title(repository: Repository, variant: Variant) -> str:
    """Of a file its own name; of a folder that of the repository, with the branch or the folder that has its size."""
    if variant.format == FORMAT and variant.name:
        return printable(variant.name)
    name = repository.id.partition("/")[2]
    branch = "" if repository.revision == MAIN else f"@{repository.revision}"
    return printable(f"{name}{branch}" + (f"-{variant.name.replace('/', '-')}" if variant.name else ""))
