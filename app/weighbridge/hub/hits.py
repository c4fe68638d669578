"""What a search on the Hub asks for, and what it finds: immutable values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

FORMATS = ("gguf", "exl2", "exl3", "mlx")
"""The formats that Discover is about, by the Hub's own tags."""

_BASE, _QUANTIZED, _LICENSE = "base_model:", "base_model:quantized:", "license:"


class Sort(StrEnum):
    """In which order the Hub answers, always the most first; the values are the Hub's own."""

    TRENDING = "trendingScore"
    DOWNLOADS = "downloads"
    LIKES = "likes"
    CHANGED = "lastModified"
    MADE = "createdAt"


@dataclass(frozen=True)
class Query:
    """What is looked for. None: any.

    `format` is one of FORMATS, `task` the Hub's word for what a model is for ("text-generation"), `base` the
    repository "owner/name" of which quantisations are wanted. `least_parameters` and `most_parameters` bound the size.
    """

    words: str = ""
    format: str | None = None
    task: str | None = None
    author: str | None = None
    license: str | None = None
    base: str | None = None
    least_parameters: int | None = None
    most_parameters: int | None = None
    sort: Sort = Sort.DOWNLOADS


@dataclass(frozen=True)
class Hit:
    """One repository as a list of the Hub tells it: no sizes, no headers. None is untold.

    `files` are names alone. `changed_s` counts seconds since 1970. `parameters`, `context_length` and `architecture`
    are what the Hub has read out of one of its files.
    """

    id: str
    commit: str | None = None
    downloads: int | None = None
    likes: int | None = None
    changed_s: float | None = None
    gated: bool = False
    private: bool = False
    task: str | None = None
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    parameters: int | None = None
    context_length: int | None = None
    architecture: str | None = None

    @property
    def owner(self) -> str:
        """Who has put it there."""
        return self.id.partition("/")[0]

    @property
    def formats(self) -> tuple[str, ...]:
        """Those of FORMATS that it is tagged with."""
        return tuple(each for each in FORMATS if each in self.tags)

    @property
    def base(self) -> str | None:
        """The repository that it says it was made from, quantised or otherwise."""
        told = [tag for tag in self.tags if tag.startswith(_QUANTIZED)] or [
            tag for tag in self.tags if tag.startswith(_BASE) and tag.count(":") == 1
        ]
        return told[0].rpartition(":")[2] if told else None

    @property
    def license(self) -> str | None:
        """The licence that it is tagged with."""
        return next((tag.removeprefix(_LICENSE) for tag in self.tags if tag.startswith(_LICENSE)), None)
