"""Repositories that hold one and the same model, put together by what a list has told of them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from weighbridge.formats.family_names import family_name, plain_name
from weighbridge.hub.hits import FORMATS, Hit
from weighbridge.hub.reference import is_repo_id

CHAT_TASKS = frozenset(
    {"any-to-any", "audio-text-to-text", "conversational", "image-text-to-text", "text-generation"}
    | {"text2text-generation", "video-text-to-text"}
)
"""What the Hub calls the tasks of models that answer in text."""

_BASE, _QUANTIZED = "base_model:", "base_model:quantized:"
_CHANGED = ("base_model:adapter:", "base_model:finetune:", "base_model:merge:")
_MOST_STEPS = 8


@dataclass(frozen=True)
class Group:
    """One model: its repositories in the Hub's order, and what all of them come to. None is untold.

    `base` is the repository that it is at full precision, where any of them names it; else they are together by their
    names alone, which is a guess. `downloads` are those of all, `changed_s` is the newest change in seconds since 1970,
    `gated` whether the licence has to be accepted for each of them.
    """

    base: str | None
    title: str
    hits: tuple[Hit, ...]
    formats: tuple[str, ...]
    downloads: int | None
    changed_s: float | None
    parameters: int | None
    gated: bool


def groups(hits: Iterable[Hit]) -> tuple[Group, ...]:
    """`hits` by model, in the order in which the Hub named the first of each."""
    there = tuple(hits)
    quantised = {hit.id.casefold(): base for hit in there if (base := quantised_base(hit)) is not None}
    bases = [_base(hit, quantised) for hit in there]
    named = {base.casefold() for base in bases if base is not None}
    models = [*filter(None, bases), *(hit.id for hit in there if _is_own(hit))]
    by_name = {family_name(_name(model)): model.casefold() for model in reversed(models)}
    members: dict[str, list[tuple[Hit, str | None]]] = {}
    for hit, base in zip(there, bases, strict=True):
        own = _is_own(hit) or hit.id.casefold() in named
        members.setdefault(_key(base or (hit.id if own else None), hit, by_name), []).append((hit, base))
    return tuple(_group(each) for each in members.values())


def of_tasks(hits: Iterable[Hit], tasks: Collection[str] = CHAT_TASKS) -> tuple[Hit, ...]:
    """Those for one of `tasks`, and those whose task nobody has told."""
    return tuple(hit for hit in hits if hit.task is None or hit.task in tasks)


def quantised_base(hit: Hit) -> str | None:
    """The repository whose model this one holds in fewer bits, by its tags; None for a model of its own, and where
    there are several."""
    told = _tagged(hit, _QUANTIZED)
    if not told and not _is_own(hit):
        told = _tagged(hit, _BASE)
    return told[0] if len(told) == 1 and told[0].casefold() != hit.id.casefold() else None


def _is_own(hit: Hit) -> bool:
    """Whether it says that it is a model of its own, made out of another."""
    return any(tag.startswith(_CHANGED) for tag in hit.tags) and not any(tag.startswith(_QUANTIZED) for tag in hit.tags)


def _tagged(hit: Hit, kind: str) -> list[str]:
    names = (tag.removeprefix(kind) for tag in hit.tags if tag.startswith(kind))
    return list(dict.fromkeys(name for name in names if is_repo_id(name)))


def _base(hit: Hit, quantised: Mapping[str, str]) -> str | None:
    """The base, or the base of that, where what is quantised was quantised already."""
    base = quantised.get(hit.id.casefold())
    for _ in range(_MOST_STEPS):
        if base is None or base.casefold() not in quantised:
            break
        base = quantised[base.casefold()]
    return base


def _key(model: str | None, hit: Hit, by_name: Mapping[str, str]) -> str:
    """What it has in common with its group: which model it is, or what it is called where nothing tells."""
    if model is not None:
        return model.casefold()
    family = family_name(_name(hit.id))
    return (by_name.get(family) or f":{family}") if family else hit.id.casefold()


def _group(members: Sequence[tuple[Hit, str | None]]) -> Group:
    hits = tuple(hit for hit, _ in members)
    base = next((base for _, base in members if base is not None), None)
    whole = next((hit for hit in hits if base is not None and hit.id.casefold() == base.casefold()), None)
    base = whole.id if whole is not None else base
    counted = [each.parameters for each in ((whole, *hits) if whole else hits) if each.parameters is not None]
    downloads = [hit.downloads for hit in hits if hit.downloads is not None]
    return Group(
        base=base,
        title=_name(base) if base is not None else plain_name(_name(hits[0].id)) or _name(hits[0].id),
        hits=hits,
        formats=tuple(each for each in FORMATS if any(each in hit.formats for hit in hits)),
        downloads=sum(downloads) if downloads else None,
        changed_s=max((hit.changed_s for hit in hits if hit.changed_s is not None), default=None),
        parameters=counted[0] if counted else None,
        gated=all(hit.gated for hit in hits),
    )


def _name(repo_id: str) -> str:
    return repo_id.rpartition("/")[2]
