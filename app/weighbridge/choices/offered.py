"""A choice on the Hub as the model that it would be here, so that it is weighed as all others are. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from weighbridge.hub.layout import Shelf
from weighbridge.hub.looking import Sight, Spot
from weighbridge.hub.offers import Offer
from weighbridge.library.model import Model

HUB = "hub"
"""The source of a model that is not here yet."""


@dataclass(frozen=True)
class Offered:
    """One row of a table of choices: a spot that was not looked into yet (`offer` None), or one choice at a spot.

    `model` is what it would be here, where it would lie, for `choice.weigh`; its `id` is unlike that of any model that
    is here. `here` is the same model on this computer already, by path or by the hash of all its parts.
    """

    spot: Spot
    offer: Offer | None = None
    model: Model | None = None
    here: Model | None = None

    @property
    def key(self) -> str:
        """What tells it from all other rows, from one look to the next."""
        place = f"{self.spot.repo_id}@{self.spot.revision}"
        return place if self.offer is None else f"{place}:{self.offer.variant.format}:{self.offer.variant.name}"


def offered(sight: Sight, shelf: Shelf, models: Iterable[Model]) -> tuple[Offered, ...]:
    """The choices seen at a spot, those of its other branches after them. `models` are those that are here."""
    there = tuple(models)
    rows = []
    for offer in sight.offers:
        row = Offered(sight.spot, offer)
        made = _model(row.key, sight, offer, shelf)
        rows.append(Offered(sight.spot, offer, made, _same(made, there)))
    return (*rows, *(Offered(spot) for spot in sight.branches))


def _model(key: str, sight: Sight, offer: Offer, shelf: Shelf) -> Model:
    variant = offer.variant
    known = {file.path: file for file in sight.repository.files}
    is_file = variant.format == "gguf"
    parts = tuple(shelf.root / file.path for file in variant.files)
    return Model(
        id=f"{HUB}:{key}",
        title=_title(sight, offer),
        path=parts[0] if is_file and parts else shelf.root / variant.folder,
        parts=parts,
        format=variant.format,
        quant=variant.label,
        size_bytes=variant.size_bytes or 0,
        info=offer.info,
        problem=offer.problem,
        guessed=variant.guessed,
        asks_to_run_code=variant.asks_to_run_code,
        source=HUB,
        sha256s=tuple(known[file.path].sha256 if file.path in known else None for file in variant.files),
    )


def _title(sight: Sight, offer: Offer) -> str:
    name = sight.repository.id.partition("/")[2]
    return offer.variant.name if offer.variant.format == "gguf" and offer.variant.name else name


def _same(made: Model, there: Iterable[Model]) -> Model | None:
    """By path, or by the hashes of all parts: a listing knows them of files that other programs have named by them."""
    told = set(made.sha256s) if made.sha256s and all(made.sha256s) else None
    for model in there:
        if model.problem is None and (model.path == made.path or (told and told == set(model.sha256s))):
            return model
    return None
