"""What the palette finds for what was typed. No Qt here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One thing that can be chosen: its title, a hint at the right (keys, a kind), and what it does."""

    title: str
    hint: str
    act: Callable[[], object]


def matching(typed: str, entries: Iterable[Entry]) -> list[Entry]:
    """The entries that hold every typed word, those that begin with the first one before the others."""
    words = typed.casefold().split()
    found = [entry for entry in entries if _holds(entry, words)]
    return sorted(found, key=lambda entry: not _begins(entry, words))


def _holds(entry: Entry, words: list[str]) -> bool:
    title = entry.title.casefold()
    return all(word in title for word in words)


def _begins(entry: Entry, words: list[str]) -> bool:
    return bool(words) and any(part.startswith(words[0]) for part in entry.title.casefold().split())
