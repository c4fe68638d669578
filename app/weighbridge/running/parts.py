"""What is loaded beside a model: the files that the user has chosen for it, weighed and named in its load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from weighbridge.base.errors import NotFound
from weighbridge.estimates.beside import Beside
from weighbridge.estimates.blueprint import Blueprint, blueprint
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.pairing import draft_kind_of
from weighbridge.formats.variant import Role
from weighbridge.library.headers import header_at
from weighbridge.library.marks import Mark
from weighbridge.library.model import Helper, Model
from weighbridge_engines.api import Load

Digest = Callable[[Helper], Blueprint | None]
LOADED = (Role.PROJECTOR, Role.DRAFT, Role.ADAPTER)
"""The roles of files that an engine loads."""
_ALONE = Beside()


def parts_of(model: Model, mark: Mark) -> tuple[Helper, ...]:
    """The files that are loaded beside `model`: those that the mark names and that are there. Nobody else chooses any:
    each takes memory, and an adapter makes another model of it. Looks at files that are not the model's own.
    """
    chosen = [(role, path) for role in LOADED if (path := mark.parts.get(role)) is not None]
    own = {helper.path: helper for helper in model.companions}
    found = [replace(own[path], role=role) if path in own else _there(Helper(role, path, 0)) for role, path in chosen]
    return tuple(helper for helper in found if helper is not None)


def named(model: Model, roles: Sequence[str]) -> tuple[Helper, ...]:
    """The nearest companion of each of `roles`. Raises NotFound where there is none of a role."""
    found = {role: model.companion(Role(role)) for role in roles}
    missing = next((role for role, helper in found.items() if helper is None), None)
    if missing is not None:
        raise NotFound("model.no_companion", model=model.title, role=missing)
    return tuple(helper for helper in found.values() if helper is not None)


def beside(parts: Sequence[Helper], digest: Digest) -> Beside:
    """What `parts` weigh; `digest` gives the blueprint of a draft, None where its file does not say enough."""
    sizes = {role: sum(helper.size_bytes for helper in parts if helper.role is role) for role in LOADED}
    draft = next((helper for helper in parts if helper.role is Role.DRAFT), None)
    return Beside(sizes[Role.PROJECTOR], sizes[Role.ADAPTER], None if draft is None else digest(draft))


def with_parts(load: Load, parts: Sequence[Helper], draft_kind: str = "simple") -> Load:
    """`load` with `parts` named in it; `draft_kind`: see `formats.pairing.draft_kind_of`."""
    paths = {role: [str(helper.path) for helper in parts if helper.role is role] for role in LOADED}
    return replace(
        load,
        projector=next(iter(paths[Role.PROJECTOR]), None),
        draft=next(iter(paths[Role.DRAFT]), None),
        draft_kind=draft_kind,
        adapters=tuple(paths[Role.ADAPTER]),
    )


class Parts:
    """What loads name beside a model, by the marks of models. Safe to use from any thread.

    Headers of drafts are read briefly, once for each state of a file.
    """

    def __init__(self, mark_of: Callable[[Model], Mark] = lambda _model: Mark()) -> None:
        self._mark_of = mark_of
        self._drafts: dict[Path, tuple[int, int, ModelInfo | None]] = {}

    def named_in(self, load: Load, model: Model) -> Load:
        """`load` with what the user has chosen to load beside `model`; only where its format can have such files."""
        parts = parts_of(model, self._mark_of(model)) if model.format == "gguf" else ()
        if not parts:
            return load
        draft = next((helper.path for helper in parts if helper.role is Role.DRAFT), None)
        info = None if draft is None else self._header(draft)
        return with_parts(load, parts, "simple" if info is None else draft_kind_of(info))

    def beside(self, load: Load) -> Beside:
        """What the files that `load` names weigh."""
        if load.projector is None and load.draft is None and not load.adapters:
            return _ALONE
        named = (
            (Role.PROJECTOR, load.projector),
            (Role.DRAFT, load.draft),
            *((Role.ADAPTER, one) for one in load.adapters),
        )
        there = [_there(Helper(role, Path(path), 0)) for role, path in named if path is not None]
        return beside([helper for helper in there if helper is not None], self._digest)

    def _digest(self, draft: Helper) -> Blueprint | None:
        info = self._header(draft.path)
        return None if info is None else blueprint(info, draft.size_bytes)

    def _header(self, path: Path) -> ModelInfo | None:
        try:
            status = path.stat()
        except OSError:
            return None
        state = status.st_size, status.st_mtime_ns
        known = self._drafts.get(path)
        if known is None or known[:2] != state:
            known = self._drafts[path] = (*state, header_at(path))
        return known[2]


def _there(helper: Helper) -> Helper | None:
    try:
        return replace(helper, size_bytes=helper.path.stat().st_size)
    except OSError:
        return None
