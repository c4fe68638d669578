"""What an engine tells while it answers, as immutable values.

`StreamParser` makes them, `Meter` counts them, the chat pane shows them. Unknown figures are None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Delta:
    """A piece of the answer: `text`, `reasoning` (thinking), or pieces of tool calls as the engine sent them."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class PromptProgress:
    """How far the prompt is read: `processed` of `total` tokens, `cache` of them known from before."""

    total: int
    cache: int
    processed: int
    time_ms: float | None = None


@dataclass(frozen=True)
class Timings:
    """The engine's own figures up to here. `prompt_n` are the tokens it read, without the `cache_n` it knew from
    before.
    """

    prompt_n: int | None = None
    cache_n: int | None = None
    prompt_ms: float | None = None
    predicted_n: int | None = None
    predicted_ms: float | None = None
    prompt_tps: float | None = None
    decode_tps: float | None = None


@dataclass(frozen=True)
class Usage:
    """The engine's count of tokens for the whole request."""

    prompt_tokens: int | None
    completion_tokens: int | None


@dataclass(frozen=True)
class Finish:
    """Why the answer ended: "stop", "length", "tool_calls", or a word of the engine's own."""

    reason: str


@dataclass(frozen=True)
class Done:
    """The answer is whole. Nothing comes after it."""


@dataclass(frozen=True)
class StreamFault:
    """The answer is not whole. `code` stands in `base.explain`; `message` holds the engine's own words, where it had
    any, or the name of the endpoint that broke off.
    """

    code: str
    message: str = ""


Event = Delta | PromptProgress | Timings | Usage | Finish | Done | StreamFault
