"""The layers of the RWKV family, as the pieces of memory that their graphs take and give back; see `graph_parts`.

Source: `src/models/rwkv6-base.cpp`, `rwkv7-base.cpp` and the graphs that use them in llama.cpp.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weighbridge.estimates.graph_parts import Batch, Coming, Dense, again
from weighbridge.estimates.graph_space import Piece, Space
from weighbridge.estimates.graph_states import Rows

SHIFTED = 2
"""Of its last token, such a layer remembers what time mixing read and what channel mixing read."""


@dataclass(frozen=True)
class TimeMix6:
    """Time mixing of the sixth version. `extra` and `decay` are the ranks of its small matrices; `kept` is the width of
    keys and values where they are fewer than the queries; `plain`: a linear attention without norms, as in QRWKV.
    """

    width: int
    extra: int
    decay: int
    state: int
    kept: int = 0
    plain: bool = False

    def run(self, space: Space, batch: Batch, text: Piece, state: Piece, between: Callable[[], None]) -> Piece:
        """Read `text`, which stays, and leave an answer; `between` is done once the state is written."""
        wide, tokens = self.width * batch.tokens, batch.tokens
        shifted = space.take(wide)
        mixed = space.take(wide)
        low = space.take(5 * self.extra * tokens)
        space.give(mixed)
        turned = space.take(5 * self.extra * tokens)
        space.give(low)
        five = space.take(5 * wide)
        space.give(turned, shifted)
        made = [self._wide(space, tokens) for _ in range(1 if self.plain else 3)]
        low = space.take(self.decay * tokens)
        decay = space.take(wide)
        space.give(low)
        if self.plain:
            faded = space.take(wide)
            space.give(made.pop(0))
            made += [faded, self._wide(space, tokens), space.take(wide)]
        found = space.take(wide + self.state * batch.slots)
        space.give(*made, decay, state)
        between()
        if not self.plain:
            for _ in range(2):
                found = again(space, wide, found)
        gate = space.take(wide)
        space.give(five, found)
        return again(space, wide, gate)

    def _wide(self, space: Space, tokens: int) -> Piece:
        """Keys or values: where they are fewer, made wide by repeating them."""
        if not self.kept:
            return space.take(self.width * tokens)
        return again(space, self.width * tokens, space.take(self.kept * tokens))


@dataclass(frozen=True)
class TimeMix7:
    """Time mixing of the seventh version. `decay`, `rate`, `share` and `gate` are the ranks of its small matrices."""

    width: int
    decay: int
    rate: int
    share: int
    gate: int
    state: int
    first: bool = False
    normed: bool = True

    def run(self, space: Space, batch: Batch, text: Piece, state: Piece, between: Callable[[], None]) -> Piece:
        """See TimeMix6; the values of the first layer stay for all others."""
        wide, tokens = self.width * batch.tokens, batch.tokens
        count = 6 if self.gate else 5
        six = again(space, count * wide, space.take(wide))
        receptance = space.take(wide)
        decay = self._through(space, self.decay * tokens, wide)
        key = space.take(wide)
        rate = self._through(space, self.rate * tokens, wide)
        scaled = space.take(wide)
        rated = space.take(wide)
        space.give(scaled)
        value = space.take(wide)
        if not self.first:
            apart = space.take(wide)
            share = self._through(space, self.share * tokens, wide)
            space.give(share, apart)
        normed = again(space, wide, key)
        negative = space.take(wide)
        space.give(rate)
        found = space.take(wide + self.state * batch.slots)
        space.give(decay, negative, normed, state)
        between()
        for _ in range(2 if self.normed else 0):
            found = again(space, wide, found)
        product = space.take(wide)
        space.give(rated, receptance, product)
        bonus = space.take(wide)
        space.give(None if self.first else value)
        found = found if self.normed else again(space, wide, found)
        space.give(bonus)
        if self.gate:
            gate = self._through(space, self.gate * tokens, wide)
            space.give(six, gate)
        else:
            space.give(six)
        return again(space, wide, found)

    @staticmethod
    def _through(space: Space, low: int, wide: int) -> Piece:
        """Through a small matrix and back."""
        return again(space, wide, space.take(low))


@dataclass(frozen=True)
class Rwkv:
    """One layer: time mixing, then a feed-forward part. `mixing`: that mixes channels, `gated`: by a second matrix."""

    width: int
    time: TimeMix6 | TimeMix7
    forward: Dense
    mixing: bool = True
    gated: bool = False
    in_order = True
    """It puts its graph in order itself; see `graph_layers.Block`."""

    @property
    def conv(self) -> int:
        """What it remembers of its text."""
        return (SHIFTED if self.mixing else 1) * self.width

    @property
    def remembered(self) -> tuple[int, ...]:
        """What is fetched for it before."""
        return self.conv, self.time.state

    def run(self, space: Space, batch: Batch, residual: Piece, kept: Rows, coming: Coming) -> Piece:
        """From one residual to the next."""
        wide = self.width * batch.tokens
        rows, state = kept
        text = space.take(wide)

        def between() -> None:
            if not self.mixing:
                space.give(rows, text)
                coming.fetch(space, batch)

        answer = self.time.run(space, batch, text, state, between)
        middle = space.take(wide)
        space.give(answer, residual)
        normed = space.take(wide)
        if self.mixing:
            shift = space.take(self.conv * batch.slots)
            space.give(text, shift)
            coming.fetch(space, batch)
            out = self._channels(space, batch, normed, rows)
        else:
            out = self.forward.run(space, batch, normed, coming)
        space.give(middle)
        return out

    def _channels(self, space: Space, batch: Batch, text: Piece, rows: Piece) -> Piece:
        wide, inner = self.width * batch.tokens, self.forward.inner * batch.tokens
        before = space.take(wide)
        space.give(rows)
        shifted = again(space, wide, before)
        gate = None
        if self.gated:
            gate = again(space, wide, space.take(wide))
        space.give(text)
        inside = space.take(inner)
        space.give(shifted)
        value = space.take(wide)
        space.give(inside)
        if gate is None:
            return value
        space.give(value)
        return gate
