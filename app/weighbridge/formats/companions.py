"""Files that help a model, told from models by their names, and the models that each of them is for.

Names are those that converters and llama.cpp's own search for such files use. Where a header tells what a file is, that
is believed; only drafts go by their names first, for their headers are those of the model that they help.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weighbridge.formats.architectures import Kind
from weighbridge.formats.quant import quant_of_name, without_quant
from weighbridge.formats.split import part_of_name
from weighbridge.formats.variant import Companion, Role

_DRAFT = re.compile(r"^(?:mtp|draft)[-_.]|(?:^|[-_.])(?:eagle3?|dflash|dspark)(?=$|[-_.])", re.IGNORECASE)
_PROJECTOR = re.compile(r"(?:^|[-_.])mmproj(?=$|[-_.])", re.IGNORECASE)
_IMATRIX = re.compile(r"(?:^|[-_.])imatrix(?=$|[-_.])", re.IGNORECASE)
_ADAPTER = re.compile(r"^lora[-_.]|[-_.]lora$", re.IGNORECASE)
_WORDS = re.compile(
    r"(?:^|[-_.])(?:mmproj|imatrix|mtp|draft|eagle3?|dflash|dspark|lora|model)(?=$|[-_.])", re.IGNORECASE
)
_SEPARATORS = re.compile(r"[-_. ]+")
_DIGITS = re.compile(r"\d+")
MOST_COMPARED = 2_000_000
"""Names that are compared in one place, which takes some seconds; in real ones there are far fewer."""

_IMATRIX_ENDINGS = (".imatrix", ".dat", ".gguf_file")

_BY_KIND: Mapping[Kind, Role] = {
    Kind.ADAPTER: Role.ADAPTER,
    Kind.DRAFT: Role.DRAFT,
    Kind.IMATRIX: Role.IMATRIX,
    Kind.PROJECTION: Role.PROJECTOR,
}
KIND_OF_ROLE: Mapping[Role, Kind] = {role: kind for kind, role in _BY_KIND.items()}


def is_imatrix_file(name: str) -> bool:
    """Whether a file that is no GGUF file is an importance matrix by its name."""
    lowered = name.lower()
    return lowered.endswith(_IMATRIX_ENDINGS) and "imatrix" in lowered


def role_of(stem: str, told: Kind | None) -> Role | None:
    """What a GGUF file of the name `stem` is for a model, or None for a model. `told`: its kind by its header."""
    if _DRAFT.search(stem):
        return Role.DRAFT
    if told is not None:
        return _BY_KIND.get(told)
    if _PROJECTOR.search(stem):
        return Role.PROJECTOR
    if _ADAPTER.search(without_quant(stem)):
        return Role.ADAPTER
    return Role.IMATRIX if _IMATRIX.search(stem) and quant_of_name(stem) is None else None


@dataclass(frozen=True)
class Helped:
    """A model that companions are looked for: its folder, and its stem without numbers of parts."""

    folder: str
    stem: str


def companions_of(models: Sequence[Helped], helpers: Iterable[Companion]) -> list[tuple[Companion, ...]]:
    """For each of `models` those of `helpers` that are for it; of each role the nearest in bits first.

    A helper lies in the model's folder, above or below it, or in one beside it that holds helpers alone, and bears the
    model's name; or no name at all, where all models it could be for are the same one in other quantisations. After
    MOST_COMPARED names, the rest of the helpers are for none.
    """
    around = _Around(models)
    found: list[list[Companion]] = [[] for _ in models]
    for helper in helpers:
        for place in around.helped_by(helper):
            found[place].append(helper)
    return [_in_order(mine, _bits(model.stem)) for model, mine in zip(models, found, strict=True)]


def base_of(stem: str) -> str:
    """What a stem says beside its quantisation and its role, in one spelling, for comparing."""
    part = part_of_name(stem)
    bare = _WORDS.sub("-", without_quant(part.stem if part else stem))
    return _SEPARATORS.sub("-", bare).strip("-").casefold()


class _Around:
    """Models by folder, with their names in one spelling, so that a helper is compared with those near it alone."""

    def __init__(self, models: Sequence[Helped]) -> None:
        self._inside: dict[str | None, list[tuple[int, str]]] = {}
        self._below: dict[str | None, set[str | None]] = {}
        self._left = MOST_COMPARED
        for place, model in enumerate(models):
            self._inside.setdefault(model.folder, []).append((place, base_of(model.stem)))
            self._below.setdefault(_above(model.folder), set()).add(model.folder)

    def helped_by(self, helper: Companion) -> list[int]:
        """The places of the models that `helper` is for."""
        if self._left < 0:
            return []
        folder, base = helper.file.folder, base_of(helper.file.stem)
        beside = self._in({folder})
        near = [*beside, *self._in({_above(folder)}), *self._in(self._below.get(folder, set()))]
        farther = [] if beside else self._in(self._below.get(_above(folder), set()))
        self._left -= len(near) + len(farther)
        found = {place for place, own in (*near, *farther) if _bears(base, own)}
        if not base or helper.role is Role.IMATRIX:
            told = {own for _, own in beside or near}
            found |= {place for place, own in near if told == {own}}
        return sorted(found)

    def _in(self, folders: Iterable[str | None]) -> list[tuple[int, str]]:
        return [model for folder in folders for model in self._inside.get(folder, ())]


def _bears(base: str, own: str) -> bool:
    """Whether one of two names is the beginning of the other."""
    return bool(base and own) and (own.startswith(base) or base.startswith(own))


def _above(folder: str) -> str | None:
    return folder.rpartition("/")[0] if folder else None


def _in_order(helpers: Iterable[Companion], bits: int | None) -> tuple[Companion, ...]:
    return tuple(sorted(helpers, key=lambda helper: (list(Role).index(helper.role), *_distance(helper, bits))))


def _bits(stem: str) -> int | None:
    found = _DIGITS.search(quant_of_name(stem) or "")
    return int(found[0]) if found else None


def _distance(helper: Companion, bits: int | None) -> tuple[int, str]:
    own = _bits(helper.file.stem)
    return (abs(own - bits) if own is not None and bits is not None else 0), helper.file.path
