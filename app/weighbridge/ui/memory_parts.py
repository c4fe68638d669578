"""A memory bar as data: its parts in their order, where each is drawn, and what each says. No Qt here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weighbridge.base.units import number, size
from weighbridge.base.words import mark, text

ORDER = ("others", "weights", "kv", "state", "compute", "engine")
"""The kinds of parts as they stand in a bar; each is also the name of its colour. What is left is free."""

_WORDS: Mapping[str, str] = {
    "others": mark("Everything else"),
    "weights": mark("Weights"),
    "kv": mark("KV cache"),
    "state": mark("State"),
    "compute": mark("Compute buffers"),
    "engine": mark("Engine"),
    "free": mark("Free"),
}


@dataclass(frozen=True)
class Part:
    """One part of a bar: its kind (of ORDER), its bytes, and whose it is (a model's name) where that is to be said.

    `named` stands for the kind's own word where that would be wrong.
    """

    kind: str
    size_bytes: int
    owner: str = ""
    named: str = ""

    @property
    def word(self) -> str:
        """ "KV cache" for "kv"."""
        return self.named or text(_WORDS[self.kind])


@dataclass(frozen=True)
class Memory:
    """A memory and what is in it. `limit_bytes` is marked: above it, less is left than should be. `of_card`: it is a
    card's own, not the system's.
    """

    name: str
    total_bytes: int
    parts: tuple[Part, ...] = ()
    limit_bytes: int | None = None
    of_card: bool = False

    @property
    def used_bytes(self) -> int:
        """What all parts take together."""
        return sum(part.size_bytes for part in self.parts)

    @property
    def ordered(self) -> tuple[Part, ...]:
        """The parts that take anything, as they stand in the bar, and the free rest."""
        taken = [part for part in self.parts if part.size_bytes > 0]
        taken.sort(key=lambda part: ORDER.index(part.kind))
        free = max(0, self.total_bytes - self.used_bytes)
        return (*taken, Part("free", free))


def in_words(part: Part, memory: Memory) -> str:
    """What a part is, how much, and how much of the whole: "KV cache · SmolLM2 · 90.0 MiB · 1 % of RAM"."""
    share = number(100 * part.size_bytes / memory.total_bytes) if memory.total_bytes else "0"
    said = [part.word]
    said += [part.owner] if part.owner else []
    said += [size(part.size_bytes), text("{share} % of {name}", share=share, name=memory.name)]
    if part.kind == "free" and memory.limit_bytes is not None:
        said.append(text("{amount} should stay free", amount=size(memory.total_bytes - memory.limit_bytes)))
    return " · ".join(said)


def mark_at(memory: Memory) -> float | None:
    """Where the limit is marked, as a share of the bar's width; where too much is in it, the end of the memory."""
    if memory.limit_bytes is None or memory.total_bytes <= 0:
        return None
    if memory.used_bytes > memory.total_bytes:
        return memory.total_bytes / memory.used_bytes
    share = memory.limit_bytes / memory.total_bytes
    return share if 0 < share < 1 else None


def spans(parts: Sequence[Part], whole_bytes: int, width: float, least: float = 2.0) -> list[tuple[float, float]]:
    """Where each of `parts` (the free one last) is drawn in `width` pixels: left edge and width.

    A part that is there is at least `least` wide, so that it can be seen and pointed at. Where the parts are more than
    the whole, they share the width.
    """
    scale = width / max(whole_bytes, sum(part.size_bytes for part in parts), 1)
    places: list[tuple[float, float]] = []
    left = 0.0
    for part in parts:
        wide = 0.0 if part.size_bytes <= 0 else max(least, part.size_bytes * scale)
        wide = max(0.0, min(wide, width - left))
        places.append((left, wide))
        left += wide
    return places
