"""The recurrent parts of a layer's graph, as the pieces of memory they take and give back; see `graph_parts`.

Each is handed what it remembers of its text in `rows` (its `conv`, for each conversation), and reads and writes a state
of `state` floats. Source: `src/models/mamba-base.cpp`, `delta-net-base.cpp`, `lfm2.cpp`, `kimi-linear.cpp`,
`minimax-01.cpp` and `plamo2.cpp` of llama.cpp.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weighbridge.estimates.graph_parts import Batch, Coming, again
from weighbridge.estimates.graph_space import Piece, Space

Rows = tuple[Piece, ...]
"""What a layer remembers, as it was fetched for it."""


@dataclass(frozen=True)
class Scan:
    """A selective scan of the first kind: every channel has a step of its own. `normed`: so are its inputs."""

    width: int
    inner: int
    rank: int
    wide: int
    conv: int
    state: int
    normed: bool = False

    @property
    def remembered(self) -> tuple[int, ...]:
        """What is fetched for it before."""
        return (self.conv,)

    def run(self, space: Space, batch: Batch, text: Piece, rows: Rows, coming: Coming) -> Piece:
        """Read `text`, which nobody needs after, and leave an answer."""
        tokens, inner = batch.tokens, self.inner * batch.tokens
        both = space.take(2 * inner)
        space.give(text)
        mixed = _convolved(space, inner, self.conv * batch.slots, None, rows)
        inputs, step = space.take((self.rank + 2 * self.wide) * tokens), space.take(self.rank * tokens)
        norms = [space.take(self.wide * tokens) for _ in range(2 if self.normed else 0)]
        steps = space.take(inner)
        space.give(step)
        scanned = space.take(inner + self.state * batch.slots)
        space.give(steps, inputs, *norms)
        _others(space, self.state, batch)
        coming.fetch(space, batch)
        gate = space.take(inner)
        space.give(both, scanned)
        gated = space.take(inner)
        space.give(gate, mixed)
        return _out(space, self.width * tokens, gated)


@dataclass(frozen=True)
class HeadScan:
    """A selective scan of the second kind: a step for each of `heads`. `mixed` channels go through the convolution,
    `projected` is what the first matrix gives. `parted`: it is sorted first, and its steps come from a narrow text.
    """

    width: int
    inner: int
    mixed: int
    projected: int
    heads: int
    conv: int
    state: int
    parted: bool = False

    @property
    def remembered(self) -> tuple[int, ...]:
        """What is fetched for it before."""
        return (self.conv,)

    def run(self, space: Space, batch: Batch, text: Piece, rows: Rows, coming: Coming) -> Piece:
        """Read `text`, which nobody needs after, and leave an answer."""
        gated = self.scanned(space, batch, text, rows, coming)
        out = _out(space, self.width * batch.tokens, gated)
        return again(space, self.width * batch.tokens, out) if self.parted else out

    def scanned(
        self,
        space: Space,
        batch: Batch,
        text: Piece,
        rows: Rows,
        coming: Coming,
        between: Callable[[], None] | None = None,
    ) -> Piece:
        """What the last matrix reads; `coming` is fetched on the way, and `between` done, after the scan itself."""
        inner = self.inner * batch.tokens
        both = space.take(self.projected * batch.tokens)
        space.give(text)
        channels = None
        if self.parted:
            both = again(space, self.projected * batch.tokens, both)
            channels = space.take(inner)
        mixed = _convolved(space, self.mixed * batch.tokens, self.conv * batch.slots, channels, rows)
        step = space.take(self.heads * batch.tokens)
        scanned = space.take(inner + self.state * batch.slots)
        space.give(step)
        _others(space, self.state, batch)
        coming.fetch(space, batch)
        if between:
            between()
        gate = space.take(inner)
        space.give(both)
        skipped = space.take(inner)
        space.give(mixed, scanned)
        gated = space.take(inner)
        space.give(gate, skipped)
        return gated


@dataclass(frozen=True)
class DeltaNet:
    """A gated delta net: `keys` is the width of its queries and of its keys, `values` that of its values.

    `repeated`: queries and keys are made as wide as the values first.
    """

    width: int
    keys: int
    values: int
    heads: int
    conv: int
    state: int
    repeated: bool = False

    @property
    def remembered(self) -> tuple[int, ...]:
        """What is fetched for it before: nothing, it does so itself."""
        return ()

    def run(self, space: Space, batch: Batch, text: Piece, rows: Rows, coming: Coming) -> Piece:
        """Read `text`, which nobody needs after, and leave an answer."""
        tokens, mixed = batch.tokens, (2 * self.keys + self.values) * batch.tokens
        before = space.take(self.conv * batch.slots)
        joined = space.take(mixed)
        read = space.take(mixed + self.conv * batch.slots)
        space.give(before, joined)
        state = space.take(self.state * batch.slots)
        convolved = space.take(mixed)
        space.give(read)
        query, key = self._taken(space, tokens), self._taken(space, tokens)
        decay, rate = space.take(self.heads * tokens), space.take(self.heads * tokens)
        found = space.take(self.values * tokens + self.state * batch.slots)
        space.give(query, key, convolved, decay, rate, state)
        normed = space.take(self.values * tokens)
        space.give(found)
        gate = space.take(self.values * tokens)
        space.give(text)
        gate = again(space, self.values * tokens, gate)
        space.give(gate)
        return _out(space, self.width * tokens, normed)

    def _taken(self, space: Space, tokens: int) -> Piece:
        normed = space.take(self.keys * tokens)
        return again(space, self.values * tokens, normed) if self.repeated else normed


@dataclass(frozen=True)
class KeyedDelta:
    """A delta net with a decay for each channel (KDA): queries, keys, values and decay are `inner` wide, over heads of
    `length`.
    """

    width: int
    inner: int
    heads: int
    length: int
    conv: int
    state: int

    @property
    def remembered(self) -> tuple[int, ...]:
        """What is fetched for it before: nothing, it does so itself."""
        return ()

    def run(self, space: Space, batch: Batch, text: Piece, rows: Rows, coming: Coming) -> Piece:
        """Read `text`, which nobody needs after, and leave an answer."""
        tokens, inner = batch.tokens, self.inner * batch.tokens
        before = space.take(self.conv * batch.slots)
        read = []
        for _ in range(3):
            projected = space.take(inner)
            read.append(space.take(inner + self.conv // 3 * batch.slots))
            space.give(projected)
        space.give(before)
        state = space.take(self.state * batch.slots)
        made = [self._convolved(space, inner, piece, copies) for piece, copies in zip(read, (2, 2, 1), strict=True)]
        low = space.take(self.length * tokens)
        decay = space.take(inner)
        space.give(low)
        decay = again(space, inner, decay)
        rate = space.take(self.heads * tokens)
        found = space.take(inner + self.state * batch.slots)
        space.give(*made, decay, rate, state)
        normed = again(space, inner, again(space, inner, found))
        low = space.take(self.length * tokens)
        gate = space.take(inner)
        space.give(text, low)
        gate = again(space, inner, gate)
        space.give(gate)
        return _out(space, self.width * tokens, again(space, inner, normed))

    @staticmethod
    def _convolved(space: Space, inner: int, read: Piece, copies: int) -> Piece:
        made = space.take(inner)
        space.give(read)
        for _ in range(copies):
            made = again(space, inner, made)
        return made


@dataclass(frozen=True)
class ShortConv:
    """A short convolution, gated before and after."""

    width: int
    conv: int

    @property
    def remembered(self) -> tuple[int, ...]:
        """What is fetched for it before."""
        return (self.conv,)

    def run(self, space: Space, batch: Batch, text: Piece, rows: Rows, coming: Coming) -> Piece:
        """Read `text`, which nobody needs after, and leave an answer."""
        width = self.width * batch.tokens
        parts = space.take(3 * width)
        space.give(text)
        gated = space.take(width)
        read = space.take(width + self.conv * batch.slots)
        space.give(*rows, gated)
        coming.fetch(space, batch)
        convolved = space.take(width)
        space.give(read, parts)
        return _out(space, width, convolved)


@dataclass(frozen=True)
class Lightning:
    """Linear attention over blocks: within a batch, every token looks at all of its own conversation."""

    width: int
    inner: int
    heads: int
    state: int

    @property
    def remembered(self) -> tuple[int, ...]:
        """What is fetched for it before."""
        return (self.state,)

    def inputs(self, batch: Batch) -> int:
        """The decays, which stand beside the graph as long as it runs."""
        return 2 * self.heads * batch.tokens + self._pairs(batch)

    def _pairs(self, batch: Batch) -> int:
        return self.heads * batch.tokens * (batch.tokens // batch.slots)

    def run(self, space: Space, batch: Batch, text: Piece, rows: Rows, coming: Coming) -> Piece:
        """Read `text`, which stays, and leave an answer."""
        inner, state = self.inner * batch.tokens, self.state * batch.slots
        joined = space.take(3 * inner)
        decay = space.take(self.heads * batch.tokens)
        query = space.take(inner)
        space.give(decay)
        past = space.take(inner)
        space.give(query)
        value, scores = space.take(inner), space.take(self._pairs(batch))
        fading = space.take(self._pairs(batch))
        space.give(fading)
        present = space.take(inner)
        space.give(scores)
        space.give(present)
        faded = space.take(state)
        space.give(*rows)
        decay = space.take(self.heads * batch.tokens)
        key = space.take(inner)
        space.give(decay, joined)
        key = again(space, inner, key)
        added = space.take(state)
        space.give(key, value)
        space.give(added, faded)
        gate = space.take(inner)
        normed = again(space, inner, again(space, inner, past))
        space.give(normed)
        coming.fetch(space, batch)
        return _out(space, self.width * batch.tokens, gate)


def _convolved(space: Space, mixed: int, kept: int, channels: Piece, rows: Rows) -> Piece:
    """The channels behind what is remembered of them, and what the convolution makes of both."""
    read = space.take(mixed + kept)
    space.give(channels, *rows)
    convolved = space.take(mixed)
    space.give(read)
    return convolved


def _others(space: Space, state: int, batch: Batch) -> None:
    """A scan reads states where they are kept; all but the first are fetched besides, for those it does not reach."""
    space.give(space.take(state * (batch.slots - 1)))


def _out(space: Space, size: int, last: Piece) -> Piece:
    """What the last matrix gives."""
    return again(space, size, last)
