"""Attention in a layer's graph, as the pieces of memory it takes and gives back; see `graph_parts`."""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.estimates.graph_parts import Batch, Coming
from weighbridge.estimates.graph_space import Piece, Space


@dataclass(frozen=True)
class Attention:
    """Attention over a cache. `query`, `key` and `value` are widths over all heads.

    `turned`: queries and keys are made anew by their rotation or their norms. `gated`: the matrix of the queries gives
    a gate beside them. `fused`: one matrix gives all three.
    """

    width: int
    heads: int
    query: int
    key: int
    value: int
    turned: bool = True
    gated: bool = False
    fused: bool = False

    def run(self, space: Space, batch: Batch, text: Piece, coming: Coming) -> Piece:
        """Read `text`, which nobody needs after, and leave an answer."""
        tokens = batch.tokens
        query, gate = self._projected(space, tokens, text)
        seen = looked_up(space, batch, self.heads, query, self.query)
        coming.fetch(space, batch)
        if gate:
            apart = space.take(self.query * tokens)
            space.give(gate, seen)
            seen = apart
        out = space.take(self.width * tokens)
        space.give(seen)
        return out

    def seen(self, space: Space, batch: Batch, text: Piece) -> Piece:
        """What it finds in the cache, before the last matrix."""
        query, _ = self._projected(space, batch.tokens, text)
        return looked_up(space, batch, self.heads, query, self.query)

    def _projected(self, space: Space, tokens: int, text: Piece) -> tuple[Piece, Piece]:
        """The queries, and what their gate is a part of; keys and values went into the cache."""
        if self.fused:
            joined = space.take((self.query + self.key + self.value) * tokens)
            space.give(text)
            query, key = space.take(self.query * tokens), space.take(self.key * tokens)
            space.give(key, joined)
            return query, None
        made = space.take((2 if self.gated else 1) * self.query * tokens)
        query = space.take(self.query * tokens) if self.turned else made
        gate = made if self.gated else None
        if self.turned and not self.gated:
            space.give(made)
        value, key = space.take(self.value * tokens), space.take(self.key * tokens)
        space.give(text)
        if self.turned:
            turned = space.take(self.key * tokens)
            space.give(key)
            key = turned
        space.give(key, value)
        return query, gate


@dataclass(frozen=True)
class LatentAttention:
    """Attention over a cache of compressed keys, `rank` + `rope` wide. `nope`, `rope` and `value` are of one head."""

    width: int
    heads: int
    rank: int
    nope: int
    rope: int
    value: int
    query_rank: int = 0

    def run(self, space: Space, batch: Batch, text: Piece, coming: Coming) -> Piece:
        """Read `text`, which nobody needs after, and leave an answer."""
        tokens, heads = batch.tokens, self.heads
        low = space.take(self.query_rank * tokens)
        query = space.take(heads * (self.nope + self.rope) * tokens)
        space.give(low)
        absorbed = space.take(heads * self.rank * tokens)
        whole = space.take(heads * (self.rank + self.rope) * tokens)
        space.give(absorbed, query)
        key = space.take((self.rank + self.rope) * tokens)
        space.give(text)
        normed = space.take(self.rank * tokens)
        joined = space.take((self.rank + self.rope) * tokens)
        space.give(key, normed)
        space.give(joined)
        seen = looked_up(space, batch, heads, whole, heads * self.rank)
        coming.fetch(space, batch)
        for _ in range(2):
            value = space.take(heads * self.value * tokens)
            space.give(seen)
            seen = value
        out = space.take(self.width * tokens)
        space.give(seen)
        return out


def looked_up(space: Space, batch: Batch, heads: int, query: Piece, width: int) -> Piece:
    """What the queries find in the cache; without flash attention by way of a score for each of its tokens."""
    if batch.flash:
        found = space.take(width * batch.tokens)
        space.give(query)
        return found
    scores = space.take(heads * batch.cells * batch.tokens)
    space.give(query)
    apart = space.take(width * batch.tokens)
    space.give(scores)
    found = space.take(width * batch.tokens)
    space.give(apart)
    return found
