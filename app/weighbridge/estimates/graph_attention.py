"""Attention in a layer's graph, as the pieces of memory it takes and gives back; see `graph_parts`."""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.estimates.graph_parts import Batch, Coming, again
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
        query, gate = self._projected(space, batch, text)
        seen = looked_up(space, batch, self.heads, query, self.query)
        coming.fetch(space, batch)
        seen = self.turned_back(space, batch, seen)
        if gate:
            apart = space.take(self.query * tokens)
            space.give(gate, seen)
            seen = apart
        out = space.take(self.width * tokens)
        space.give(seen)
        return out

    def seen(self, space: Space, batch: Batch, text: Piece) -> Piece:
        """What it finds in the cache."""
        query, _ = self._projected(space, batch, text)
        return looked_up(space, batch, self.heads, query, self.query)

    def turned_back(self, space: Space, batch: Batch, found: Piece) -> Piece:
        """What the last matrix reads: the values as they were before they were quantised."""
        return again(space, self.query * batch.tokens, found) if batch.spread_values else found

    def _projected(self, space: Space, batch: Batch, text: Piece) -> tuple[Piece, Piece]:
        """The queries, and what their gate is a part of; keys and values went into the cache."""
        query, key, value = (width * batch.tokens for width in (self.query, self.key, self.value))
        made = space.take(query + key + value if self.fused else (2 if self.gated else 1) * query)
        shared = self.fused or self.gated
        if self.fused:
            space.give(text)
        queries = space.take(query) if self.turned or shared else made
        if self.turned and not shared:
            space.give(made)
        if batch.spread_keys:
            queries = again(space, query, queries)
        values = None if self.fused else space.take(value)
        if batch.spread_values:
            values = again(space, value, values)
        keys = self._keys(space, batch, key, None if self.fused else text)
        space.give(keys, values)
        if self.fused:
            space.give(made)
        return queries, made if self.gated else None

    def _keys(self, space: Space, batch: Batch, key: int, text: Piece) -> Piece:
        keys = space.take(key)
        space.give(text)
        if self.turned and not self.fused:
            keys = again(space, key, keys)
        return again(space, key, keys) if batch.spread_keys else keys


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
