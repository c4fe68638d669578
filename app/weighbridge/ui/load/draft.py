"""A load as the user edits it: beside what holds now, and what the program would do by itself. No Qt here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from weighbridge.base.words import mark
from weighbridge.running.load_settings import (
    Control,
    applied,
    differing,
    load_for,
    refusal,
    settings_of,
    value_of,
    with_value,
)
from weighbridge_engines.api import Cause, Engine, Load


@dataclass(frozen=True)
class Draft:
    """`plain` is what the program would do by itself, `before` what is set now: as the model is loaded, or would be.

    `controls` are all settings that `engine` knows.
    """

    plain: Load
    before: Load
    load: Load
    engine: Engine
    controls: tuple[Control, ...]

    @cached_property
    def known(self) -> Mapping[str, Control]:
        """The controls by name."""
        return {one.name: one for one in self.controls}

    @cached_property
    def changed(self) -> dict[str, Any]:
        """What is asked for otherwise than what is set now, by name."""
        return differing(self.load, self.before, self.controls)

    @cached_property
    def asked(self) -> dict[str, Any]:
        """What is asked for otherwise than what the program would do by itself: what a preset keeps."""
        return {name: one for name, one in differing(self.load, self.plain, self.controls).items() if one is not None}

    @cached_property
    def refusal(self) -> Cause | None:
        """Why the engine would not follow it; None where it would."""
        return refusal(self.load, self.engine)

    def value(self, name: str) -> Any:
        """What is asked for; None where it is left to the engine."""
        return value_of(self.load, self.known[name])

    def with_value(self, name: str, value: Any) -> Draft:
        """With that value; None leaves it to the engine."""
        return replace(self, load=with_value(self.load, self.known[name], value))

    def put_back(self, name: str) -> Draft:
        """With the value that the setting had as the sheet was opened."""
        return self.with_value(name, value_of(self.before, self.known[name]))

    def without(self, name: str) -> Load:
        """The load as it would be without that one change."""
        return self.put_back(name).load

    def by(self, engine: Engine, able: Iterable[Engine]) -> tuple[Draft, tuple[Cause, ...]]:
        """With `engine`, which the load asks for now, one of those in `able`: what is asked for otherwise than the
        program would do by itself, as far as that engine can follow it. Beside it, why the rest cannot be.
        """
        plain = replace(self.plain, engine=self.load.engine, in_process=self.load.in_process)
        base = plain if refusal(plain, engine) is None else replace(load_for(engine, plain), engine=plain.engine)
        dropped = [Cause("setting.unknown", {"name": name}) for name in _CHOSEN if _lost(name, plain, base)]
        asked = {name: value for name, value in self.asked.items() if name not in ("engine", "in_process")}
        made = applied(base, asked, engine)
        changed = replace(self, load=made.load, engine=engine, controls=settings_of(engine, able))
        return changed, (*dropped, *made.left_out)


_CHOSEN = ("projector", "draft", "adapters", "template")
"""What the program names in a load because somebody chose it for the model."""


def _lost(name: str, before: Load, after: Load) -> bool:
    return bool(getattr(before, name)) and not getattr(after, name)


@dataclass(frozen=True)
class Group:
    """A heading and the settings under it; `is_open` at first."""

    name: str
    title: str
    controls: tuple[Control, ...]
    is_open: bool = False


_GROUPS: tuple[tuple[str, str, frozenset[str]], ...] = (
    ("memory", mark("Memory"), frozenset({"context", "memory"})),
    ("cards", mark("Cards"), frozenset({"cards"})),
    ("speed", mark("Speed"), frozenset({"prompt", "prompts", "processor"})),
    ("beside", mark("Beside the model"), frozenset({"beside", "draft"})),
    ("sampling", mark("Sampling defaults"), frozenset({"sampling"})),
    ("form", mark("Template and RoPE"), frozenset({"form", "rope"})),
)
_REST = ("more", mark("More"))
_OPEN = ("memory", "cards", "speed")


def groups(controls: Iterable[Control], *, with_cards: bool) -> tuple[Group, ...]:
    """The settings under few headings; those of cards only where an engine here can use one."""
    listed = tuple(controls)
    named = frozenset[str]().union(*(groups for _, _, groups in _GROUPS))
    found = [
        Group(name, title, tuple(one for one in listed if one.group in within), name in _OPEN)
        for name, title, within in _GROUPS
        if with_cards or name != "cards"
    ]
    found.append(Group(*_REST, tuple(one for one in listed if one.group not in named)))
    return tuple(each for each in found if each.controls)
