"""The files that could be loaded beside a model: its own, those of other models, and other models; each compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from weighbridge.formats.architectures import Kind
from weighbridge.formats.companions import KIND_OF_ROLE, role_of
from weighbridge.formats.gguf_variants import ENDING
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.pairing import UNTOLD, Pairing, pairing
from weighbridge.formats.variant import Role
from weighbridge.library.headers import header_at
from weighbridge.library.model import Helper, Model

HeaderOf = Callable[[Path], ModelInfo | None]


@dataclass(frozen=True)
class Candidate:
    """A file for a role, with what its header says to the model's. `own`: it was found for this very model."""

    helper: Helper
    title: str
    pairing: Pairing
    own: bool = False


def candidates(
    model: Model, role: Role, models: Iterable[Model], near: Iterable[Helper] = (), header: HeaderOf = header_at
) -> list[Candidate]:
    """What could do `role` for `model`, best first: what is its own, what suits, what is not told, what does not suit.

    `models` are all that are listed, `near` the files that lie beside it. Each file is told once. Where it is known
    that a draft is larger than the model, or of another vocabulary, it is told all the same, with the reason.
    """
    own = [helper for helper in model.companions if helper.role is role]
    known = {part: other.info for other in models for part in other.parts[:1]}
    found: dict[Path, Candidate] = {}
    for helper in (*own, *near, *_elsewhere(model, role, models)):
        if helper.role is role and helper.path not in found and helper.path not in model.parts:
            info = known.get(helper.path) or header(helper.path)
            compared = UNTOLD if info is None or model.info is None else pairing(role, info, model.info)
            found[helper.path] = Candidate(helper, helper.path.stem, compared, helper in own)
    return sorted(found.values(), key=_order)


def helpers_in(folder: Path, header: HeaderOf = header_at) -> list[Helper]:
    """The GGUF files in `folder` that are no models of their own; empty where it cannot be read."""
    found = []
    try:
        for path in sorted(folder.iterdir()):
            if path.name.lower().endswith(ENDING) and path.is_file():
                info = header(path)
                role = role_of(path.stem, info.kind if info else None)
                found += [] if role is None else [Helper(role, path, path.stat().st_size)]
    except OSError:
        return []
    return found


def _elsewhere(model: Model, role: Role, models: Iterable[Model]) -> Iterator[Helper]:
    """Those of other models, and other models where they can be used so. A draft writes text as its model does."""
    for other in models:
        yield from other.companions
        is_draft = role is Role.DRAFT and other.format == model.format and other.kind is Kind.CHAT is model.kind
        smaller = other.size_bytes < model.size_bytes
        if other.problem is None and (other.kind is KIND_OF_ROLE[role] or (is_draft and smaller)):
            yield Helper(role, other.path, other.size_bytes)


def _order(one: Candidate) -> tuple[int, str]:
    rank = 0 if one.own else {True: 1, None: 2, False: 3}[one.pairing.suits]
    return rank, one.title.casefold()
