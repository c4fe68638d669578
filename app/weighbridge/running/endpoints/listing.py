"""What a server's list of models says, in the forms that servers have. Pure: nothing in it is trusted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from weighbridge.base.printable import printable
from weighbridge.formats.architectures import Kind
from weighbridge.running.endpoints.endpoint import Listed

MOST_MODELS, MOST_NAME, MOST_CONTEXT = 5_000, 200, 1 << 31
_CONTEXTS = (
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "n_ctx",
    "n_ctx_train",
)
"""Where servers tell the context length, what is in force before what is possible: LM Studio, vLLM, Ollama (of what is
loaded) and Together, Groq, LM Studio, llama.cpp (the last two within "meta")."""

_KINDS: Mapping[str, Kind] = {
    "embedding": Kind.EMBEDDING,
    "embeddings": Kind.EMBEDDING,
    "rerank": Kind.RERANK,
    "reranker": Kind.RERANK,
    "image": Kind.IMAGE,
    "audio": Kind.AUDIO,
    "transcribe": Kind.AUDIO,
    "chat": Kind.CHAT,
    "llm": Kind.CHAT,
    "vlm": Kind.CHAT,
}
"""What LM Studio and Together call what a model is for, and we."""


class NoListing(Exception):
    """It is no list of models: no JSON, or JSON of another form."""


def read_listing(body: bytes) -> tuple[tuple[Listed, ...], int]:
    """The models of a list, and how many were left out for their names. Raises NoListing.

    The list is OpenAI's ("data"), a bare one (Together), or Ollama's own ("models").
    """
    try:
        read = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise NoListing from None
    rows = read if isinstance(read, list) else _rows(read)
    if rows is None:
        raise NoListing
    named = [(name, row) for row in rows[:MOST_MODELS] if isinstance(row, dict) and (name := _name(row)) is not None]
    by_name = {name: _listed(name, row) for name, row in named}
    return tuple(by_name.values()), len(rows) - len(named)


def with_contexts(models: Iterable[Listed], told: Iterable[Listed]) -> tuple[Listed, ...]:
    """`models` with what a further list tells of them."""
    known = {each.name: each for each in told}
    return tuple(_joined(each, known[each.name]) if each.name in known else each for each in models)


def _joined(listed: Listed, more: Listed) -> Listed:
    return replace(listed, context=more.context or listed.context, kind=listed.kind or more.kind)


def _rows(read: object) -> list[Any] | None:
    if not isinstance(read, dict):
        return None
    rows = read.get("data", read.get("models"))
    if rows is None and ("data" in read or "models" in read):
        return []  # a server without models may say null
    return rows if isinstance(rows, list) else None


def _name(row: Mapping[str, Any]) -> str | None:
    """The model's name, where it can be shown and sent."""
    name = row.get("id") or row.get("name") or row.get("model")
    if not isinstance(name, str) or not 0 < len(name) <= MOST_NAME or name != printable(name) or name != name.strip():
        return None
    return name


def _listed(name: str, row: Mapping[str, Any]) -> Listed:
    kind = row.get("type")
    known = _KINDS.get(kind.casefold()) if isinstance(kind, str) else None
    return Listed(name, _context(row), known, sent_on=row.get("leaves_computer") is True)


def _context(row: Mapping[str, Any]) -> int | None:
    meta = row.get("meta")
    places = (row, meta) if isinstance(meta, dict) else (row,)
    for field in _CONTEXTS:
        for place in places:
            value = place.get(field)
            if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST_CONTEXT:
                return value
    return None
