"""How the next message is to be sent: load, sampling and system prompt, as the user asked. No Qt here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from weighbridge.chat.client import Sampling
from weighbridge_engines.api import Load


@dataclass(frozen=True)
class Options:
    """What the user asked for. None leaves a value to the engine, or to the program's default load."""

    context: int | None = None
    threads: int | None = None
    sampling: Sampling = field(default_factory=Sampling)
    system_prompt: str = ""

    def load(self, default: Load) -> Load:
        """`default` with what was asked for."""
        context = default.context if self.context is None else self.context
        threads = default.threads if self.threads is None else self.threads
        return replace(default, context=context, threads=threads)

    def following(self, load: Load) -> Options:
        """The same, asking for what `load` has where it asks for anything of a load."""
        context = None if self.context is None else load.context
        threads = None if self.threads is None else load.threads
        return replace(self, context=context, threads=threads)

    def as_json(self) -> dict[str, Any]:
        """Plain values, to be kept with a message and a conversation; the system prompt is kept beside them."""
        return {"context": self.context, "threads": self.threads, **asdict(self.sampling)}


def options_from(values: Mapping[str, Any], system_prompt: str) -> Options:
    """The other end of `as_json`; what is missing or of a wrong kind is left to the engine."""
    sampling = {one.name: _figure(values.get(one.name)) for one in fields(Sampling)}
    whole = {name: _whole(values.get(name)) for name in ("context", "threads")}
    return Options(sampling=Sampling(**sampling), system_prompt=system_prompt, **whole)


def _figure(value: object) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
