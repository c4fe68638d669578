"""The parts of a layer's graph as llama.cpp builds them, each as the pieces of memory it takes and gives back.

A part is handed the text it reads, already normed, and the place it leaves its answer in. Operations that work in
place (a bias, a norm of a tensor's own, an activation) take nothing and are not there. Widths are floats for one token.
Source: `build_ffn`, `build_moe_ffn`, `build_attn` and the graphs in llama.cpp's `src/models`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from weighbridge.estimates.graph_space import Piece, Space


@dataclass(frozen=True)
class Batch:
    """What is computed at a time: so many tokens, of so many conversations, each beside `cells` tokens of cache.

    `spread_keys`, `spread_values`: they are turned before they are quantised, so that no element stands out.
    """

    tokens: int
    slots: int = 1
    cells: int = 0
    flash: bool = True
    spread_keys: bool = False
    spread_values: bool = False


@dataclass
class Coming:
    """What the next layer remembers of its text, fetched as soon as a layer has put its own graph in order.

    `floats` is how much that is for each conversation, piece by piece; `pieces` is where they lie.
    """

    floats: tuple[int, ...] = ()
    pieces: tuple[Piece, ...] = ()

    def fetch(self, space: Space, batch: Batch) -> None:
        """Take the room for it."""
        self.pieces = tuple(space.take(size * batch.slots) for size in self.floats)


class Forward(Protocol):
    """A feed-forward part."""

    def run(self, space: Space, batch: Batch, text: Piece, coming: Coming) -> Piece:
        """Read `text`, which nobody needs after, and leave an answer."""


@dataclass(frozen=True)
class Dense:
    """One matrix in, one out; `gate`: "own" for a second one in, "joined" for one that gives both, "none"."""

    width: int
    inner: int
    gate: str = "own"

    def run(self, space: Space, batch: Batch, text: Piece, coming: Coming) -> Piece:
        """See Forward."""
        inner = self.inner * batch.tokens
        both = _gated(space, inner, self.gate, text)
        out = space.take(self.width * batch.tokens)
        space.give(both)
        return out


@dataclass(frozen=True)
class Experts:
    """Routed experts, `used` of `count`, and shared ones of `shared` width.

    `latent`: they work on a narrower text. `biased`: the choice is by other figures than the weights.
    `shared_gate`: how much the shared ones count is told by the text.
    """

    width: int
    count: int
    used: int
    inner: int
    gate: str = "own"
    shared: int = 0
    latent: int = 0
    biased: bool = False
    shared_gate: bool = False

    def run(self, space: Space, batch: Batch, text: Piece, coming: Coming) -> Piece:
        """See Forward."""
        tokens = batch.tokens
        shared = Dense(self.width, self.shared, "own" if self.gate != "none" else "none") if self.shared else None
        probabilities = space.take(self.count * tokens)
        figures = space.take(self.count * tokens) if self.biased else None
        order = space.take(self.count * tokens)
        space.give(figures)
        chosen = space.take(self.used * tokens)
        space.give(probabilities)
        narrow = space.take(self.latent * tokens)
        out = self._routed(space, tokens, narrow or (None if shared else text), (chosen, order))
        if narrow and not shared:
            space.give(text)
        if narrow:
            wide = space.take(self.width * tokens)
            space.give(out)
            out = wide
        coming.fetch(space, batch)
        if shared:
            answer = shared.run(space, batch, None if self.shared_gate else text, coming)
            space.give(text if self.shared_gate else None, answer)
        return out

    def _routed(self, space: Space, tokens: int, text: Piece, routing: tuple[Piece, Piece]) -> Piece:
        inner, width = self.used * self.inner * tokens, self.latent or self.width
        both = _gated(space, inner, self.gate, text)
        answers = space.take(self.used * width * tokens)
        space.give(both, *routing)
        out = space.take(width * tokens)
        space.give(answers)
        return out


def again(space: Space, size: int, old: Piece) -> Piece:
    """The same once more, in another place."""
    new = space.take(size)
    space.give(old)
    return new


def _gated(space: Space, inner: int, gate: str, text: Piece) -> Piece:
    """What `text` makes of the first matrix of a feed-forward part and of its gate, joined; `text` is given up."""
    first = space.take(2 * inner if gate == "joined" else inner)
    second = space.take(inner) if gate == "own" else None
    space.give(text)
    if gate == "none":
        return first
    both = space.take(inner)
    space.give(first, second)
    return both
