"""What requests for embeddings and for ranks ask for, checked. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.base.errors import Refused
from weighbridge.library.model import Model
from weighbridge.server.whole_route import Task

MOST_INPUTS = 2048
"""As OpenAI's own limit."""

_ENCODINGS = ("float", "base64")


def embedding_request(body: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """OpenAI's request for embeddings. Raises Refused with an "embedding." code and `field`.

    base64, which the engine makes, is the same numbers: four bytes each, the lowest first.
    """
    encoding = body.get("encoding_format") or "float"
    if encoding not in _ENCODINGS:
        raise Refused("embedding.encoding", field="encoding_format", value=str(encoding)[:60])
    dimensions = body.get("dimensions")
    length = model.info.embedding_length if model.info else None
    if dimensions is not None and (isinstance(dimensions, bool) or dimensions != length):
        told = "?" if length is None else length
        raise Refused("embedding.dimensions", field="dimensions", value=str(dimensions)[:60], length=told)
    if not _is_input(body.get("input")):
        raise Refused("embedding.input", field="input", limit=MOST_INPUTS)
    return {"input": body["input"], "encoding_format": encoding}


def rerank_request(body: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """A query and documents, as Jina and Cohere have it. Raises Refused with a code and `field`."""
    del model
    query, documents, most = body.get("query"), body.get("documents"), body.get("top_n")
    if not isinstance(query, str) or not query:
        raise Refused("request.not_text", field="query")
    if not isinstance(documents, list) or not 0 < len(documents) <= MOST_INPUTS or not all(map(_is_text, documents)):
        raise Refused("rerank.documents", field="documents", limit=MOST_INPUTS)
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise Refused("request.number", field="top_n", value=str(most)[:60], low=1, high=len(documents))
    return {"query": query, "documents": documents, **({} if most is None else {"top_n": most})}


EMBEDDINGS = Task("embedding", "/embeddings", embedding_request)
RERANK = Task("rerank", "/rerank", rerank_request)


def _is_input(value: object) -> bool:
    """A text or its tokens, or a list of texts or of tokens."""
    if _is_text(value) or _is_tokens(value):
        return True
    many = isinstance(value, list) and 0 < len(value) <= MOST_INPUTS
    return many and isinstance(value, list) and (all(map(_is_text, value)) or all(map(_is_tokens, value)))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_tokens(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(type(token) is int and token >= 0 for token in value)
