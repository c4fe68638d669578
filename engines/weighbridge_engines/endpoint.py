"""Servers that someone else runs, spoken to as OpenAI's API is: on this machine, in its network, or hosted.

Nothing is started. Which fields of a request such a server understands, and where its routes begin, differ from one to
the next: `of` makes the engine over one of them from the common record.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from weighbridge_engines.api import UNCACHED, Capability, Cause, Dialect, Engine, Load

FIELDS = frozenset(
    {
        "model", "messages", "stream", "stream_options", "max_tokens", "temperature", "top_p",
        "stop", "seed", "n", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs",
        "response_format", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "user",
        "input", "encoding_format", "dimensions",
        "query", "documents", "top_n",
    }
)  # fmt: skip
"""OpenAI's fields of a chat and of embeddings, and those of a rerank; many servers refuse a request that has others."""

_ASKED_BY: Mapping[Capability, str] = {
    Capability.JSON_SCHEMA: "response_format",
    Capability.LOGPROBS: "logprobs",
    Capability.TOOLS: "tools",
}


def of(title: str, base_path: str, fields: Set[str] | None, health: str = "", limit: str = Dialect().limit) -> Engine:
    """The engine over one server: `base_path` stands before its routes, `fields` are those of a request that it
    understands (None: any), `health` is its route that answers 200 once it can be asked, `limit` its name for the field
    that says how many tokens an answer may have.
    """
    known = None if fields is None else frozenset(fields)
    able = {each for each in ENGINE.capabilities if known is None or _ASKED_BY.get(each, "model") in known}
    if known is None:
        able.add(Capability.GRAMMAR)
    uncached = UNCACHED if known is None else {}
    dialect = Dialect(base_path=base_path, health=health, fields=known, limit=limit, uncached=uncached)
    return replace(ENGINE, title=title, capabilities=frozenset(able), dialect=dialect)


def _attached(url: str) -> str:
    """A server is spoken to where it is."""
    return url.rstrip("/")


def _nothing_missing() -> Cause | None:
    """It needs nothing here; whether a server can be reached is known of each of them."""
    return None


def _name_there(load: Load) -> str:
    """Its own name for the model; ours is the alias."""
    return load.model


ENGINE = Engine(
    id="endpoint",
    title="Endpoint",
    formats=frozenset({"endpoint"}),
    capabilities=frozenset(
        {
            Capability.CHAT,
            Capability.COMPLETIONS,
            Capability.EMBEDDINGS,
            Capability.RERANK,
            Capability.VISION,
            Capability.TOOLS,
            Capability.JSON_SCHEMA,
            Capability.LOGPROBS,
            Capability.PARALLEL,
        }
    ),
    install="weighbridge endpoints add ADDRESS",
    missing=_nothing_missing,
    attach=_attached,
    dialect=Dialect(health="", fields=FIELDS),
    name_of=_name_there,
)
