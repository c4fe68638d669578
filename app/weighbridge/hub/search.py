"""The Hub's list of models: what a query asks of it, and what of its answers is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

import httpx2

from weighbridge.base.errors import Refused
from weighbridge.base.task import Task
from weighbridge.hub.addresses import origin_of
from weighbridge.hub.errors import BadAnswer
from weighbridge.hub.hit_reading import hit_of
from weighbridge.hub.hits import Hit, Query
from weighbridge.hub.reference import is_repo_id

Parameters: TypeAlias = Mapping[str, "str | int | Sequence[str]"]
Get: TypeAlias = "Callable[[str, Parameters | None], httpx2.Response]"
"""Asks an address with parameters, in our transport's way."""

PATH = "/api/models"
PAGE, MOST_HITS, MOST_PAGES = 1_000, 2_000, 20
_TOLD = (
    *("sha", "downloads", "likes", "gated", "private", "gguf", "safetensors", "tags", "pipeline_tag"),
    *("lastModified", "siblings"),
)
_TAKEN = ("id", *_TOLD)
_MOST_LETTERS = 200
_UNITS = ((10**9, "B"), (10**6, "M"), (10**3, "K"))
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, OverflowError)


def search(get: Get, endpoint: str, query: Query, most: int, task: Task | None) -> tuple[Hit, ...]:
    """What the Hub at `endpoint` lists for `query`, MOST_HITS at most; another page is asked for only where the first
    has fewer than `most`.

    An entry that makes no sense is left out. Raises ValueError where all do, or where the answer is no list;
    Refused("hub.bad_name") where a word of the query is too long, or cannot be seen.
    """
    most = max(1, min(most, MOST_HITS))
    parameters = parameters_of(query, most)
    rows = list(islice(_rows(get, f"{endpoint}{PATH}", parameters, task), most))
    hits: dict[str, Hit] = {}
    for hit in filter(None, map(_hit, rows)):
        hits.setdefault(hit.id, hit)
    if rows and not hits:
        raise ValueError("entries")
    return tuple(hits.values())


def parameters_of(query: Query, most: int) -> Parameters:
    """The parameters of a search for `most` repositories, as huggingface_hub's `list_models` sends them."""
    told: dict[str, str | int | Sequence[str]] = {}
    words = " ".join(query.words.split())
    tags = (query.format, _tag("license", query.license), _tag("base_model:quantized", query.base))
    filters = [tag for tag in tags if tag]
    for value in (words, query.task or "", query.author or "", *filters):
        if len(value) > _MOST_LETTERS or not value.isprintable():
            raise Refused("hub.bad_name", name=value[:_MOST_LETTERS])
    told |= {"search": words} if words else {}
    told |= {"filter": filters} if filters else {}
    told |= {"author": query.author} if query.author else {}
    told |= {"pipeline_tag": query.task} if query.task else {}
    bounds = _bounds(query)
    told |= {"num_parameters": bounds} if bounds else {}
    return {**told, "sort": query.sort.value, "limit": min(most, PAGE), "expand": _TOLD}


def _tag(kind: str, value: str | None) -> str | None:
    return f"{kind}:{value}" if value else None


def _bounds(query: Query) -> str:
    least, most = query.least_parameters, query.most_parameters
    parts = [f"min:{_count(least)}"] if least is not None else []
    if most is not None:
        parts.append(f"max:{_count(-(-most // 1_000) * 1_000)}")
    return ",".join(parts)


def _count(parameters: int) -> str:
    """In the greatest unit that divides it, to a thousand; 0 has none."""
    unit, name = next((each for each in _UNITS if parameters % each[0] == 0), _UNITS[-1])
    return f"{parameters // unit}{name}" if parameters else "0"


def _rows(get: Get, address: str, parameters: Parameters, task: Task | None) -> Iterator[Any]:
    """The entries of all pages, each asked for when it is needed, at the same server."""
    origin = origin_of(address)
    following: Parameters | None = parameters
    for _ in range(MOST_PAGES):
        if task is not None:
            task.check()
        response = _answered(get, address, following)
        page = response.json()
        if not isinstance(page, list):
            raise ValueError("no list")
        yield from page
        named = response.links.get("next", {}).get("url")
        if named is None:
            return
        address, following = str(response.url.join(named)), None
        if origin_of(address) != origin:
            raise ValueError("next page elsewhere")


def _answered(get: Get, address: str, parameters: Parameters | None) -> httpx2.Response:
    try:
        return get(address, parameters)
    except BadAnswer as bad:
        if bad.answer.status == httpx2.codes.NOT_FOUND:
            raise ValueError("HTTP 404") from None  # a mirror that lists nothing; no repository was asked for
        raise


def _hit(row: object) -> Hit | None:
    """An entry; None where it makes no sense, or could never be opened."""
    from huggingface_hub import ModelInfo

    if not isinstance(row, dict):
        return None
    made: Any = ModelInfo  # whose constructor has no annotations
    try:
        hit = hit_of(made(**{name: row[name] for name in _TAKEN if name in row}))
    except _MALFORMED:
        return None
    return hit if is_repo_id(hit.id) else None
