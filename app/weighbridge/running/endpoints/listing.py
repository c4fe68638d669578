"""What a server's list of models says, in the forms that servers have. Pure: nothing in it is trusted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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

_SIGHT: Mapping[str, bool] = {"vlm": True, "llm": False}
"""What LM Studio calls a model that takes pictures, and one that does not."""


class NoListing(Exception):
    """It is no list of models: no JSON, or JSON of another form."""


@dataclass(frozen=True)
class Listing:
    """A list of models. `left_out` counts those that were left out for their names, `beyond` those after the first
    MOST_MODELS; `house` is the mark of the Weighbridge that it comes from, "" where it is from another server.
    """

    models: tuple[Listed, ...]
    left_out: int = 0
    beyond: int = 0
    house: str = ""


def read_listing(body: bytes) -> Listing:
    """What a list says. Raises NoListing.

    The list is OpenAI's ("data"), a bare one (Together), or Ollama's own ("models").
    """
    read = _json(body)
    rows = read if isinstance(read, list) else _rows(read)
    if rows is None:
        raise NoListing
    first, beyond = rows[:MOST_MODELS], len(rows[MOST_MODELS:])
    named = [(name, row) for row in first if isinstance(row, dict) and (name := _name(row)) is not None]
    by_name = {name: _listed(name, row) for name, row in named}
    house = read.get("weighbridge") if isinstance(read, dict) else None
    models, left_out = tuple(by_name.values()), len(first) - len(named)
    return Listing(models, left_out, beyond, house if isinstance(house, str) else "")


def with_more(models: tuple[Listed, ...], body: bytes) -> tuple[Listed, ...]:
    """`models` with what a further list tells of them, or what llama.cpp tells of the one that it serves. Raises
    NoListing.
    """
    read = _json(body)
    if isinstance(read, dict) and isinstance(read.get("modalities"), dict):
        sees = read["modalities"].get("vision")
        return tuple(replace(each, sees=sees) for each in models) if isinstance(sees, bool) else models
    return _joined(models, read_listing(body).models)


def with_own(listed: Listed, body: bytes) -> Listed:
    """`listed` with what its server tells of it alone. Raises NoListing."""
    read = _json(body)
    if not isinstance(read, dict):
        raise NoListing
    return replace(listed, sees=_first_known(_sees(read), listed.sees))


def _joined(models: Iterable[Listed], told: Iterable[Listed]) -> tuple[Listed, ...]:
    known = {each.name: each for each in told}
    return tuple(_with(each, known[each.name]) if each.name in known else each for each in models)


def _with(listed: Listed, more: Listed) -> Listed:
    context, kind = more.context or listed.context, listed.kind or more.kind
    return replace(listed, context=context, kind=kind, sees=_first_known(more.sees, listed.sees))


def _first_known(*told: bool | None) -> bool | None:
    return next((each for each in told if each is not None), None)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise NoListing from None


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
    return Listed(name, _context(row), known, sent_on=row.get("leaves_computer") is True, sees=_sees(row))


def _context(row: Mapping[str, Any]) -> int | None:
    meta = row.get("meta")
    places = (row, meta) if isinstance(meta, dict) else (row,)
    for field in _CONTEXTS:
        for place in places:
            value = place.get(field)
            if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST_CONTEXT:
                return value
    return None


def _sees(row: Mapping[str, Any]) -> bool | None:
    """Whether a model takes pictures: OpenRouter and Weighbridge tell it by what goes in, LM Studio by the type,
    Fireworks and Mistral by a flag, Ollama by what it can do.
    """
    kind, able = row.get("type"), row.get("capabilities")
    if isinstance(kind, str) and kind in _SIGHT:
        return _SIGHT[kind]
    architecture = row.get("architecture")
    goes_in = (architecture if isinstance(architecture, dict) else row).get("input_modalities")
    if isinstance(goes_in, list) and goes_in:
        return "image" in goes_in
    flag = able.get("vision") if isinstance(able, dict) else row.get("supports_image_input")
    if isinstance(flag, bool):
        return flag
    # llama.cpp says "multimodal" also of what takes sound alone.
    if isinstance(able, list) and "completion" in able and "multimodal" not in able:
        return "vision" in able
    return None
