"""How much memory a model's graph takes while it is computed.

Only what fits into the holes that others leave makes a graph short: hence its layers are run through one after another,
as the engine does when it sets the memory aside. From the same holes the same layer goes the same way, so each step is
taken once for each size of batch, and found again in every later layer and in every other part of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from weighbridge.estimates.graph_attention import Attention, LatentAttention
from weighbridge.estimates.graph_layers import Block, Both, Graph
from weighbridge.estimates.graph_parts import Batch, Coming
from weighbridge.estimates.graph_space import Holes, Piece, Space
from weighbridge.estimates.graph_states import Lightning, Rows

_WALKS = 1024
"""As many as a large library has models that keep a state; each takes some 20 KiB."""


@dataclass(frozen=True, eq=False, slots=True)
class _Stand:
    """What a layer finds: the residual, what was fetched for it, and the holes.

    A walk holds one of each, which is found again by its identity, in no time.
    """

    residual: Piece
    rows: Rows
    holes: Holes


_Step = tuple[_Stand, int]
"""Where a step leads, and how long the buffer became on the way."""


def graph_floats(graph: Graph, batch: Batch, first: int, last: int, has_input: bool = True) -> int:
    """The floats that layers `first` up to `last` take, beside the masks of attention, which stay all the time.

    Without `has_input`, the text comes from another place, already embedded.
    """
    return _walk(graph, batch).floats(first, last, has_input)


class _Walk:
    """All that is known of the ways through one graph with one size of batch. Safe to use from any thread: two that
    take the same step at once come to the same stand.
    """

    def __init__(self, graph: Graph, batch: Batch) -> None:
        self._graph, self._batch = graph, batch
        self._remembered = [layer.remembered for layer in graph.layers]
        mixers = [layer.mixer if isinstance(layer, Block) else None for layer in graph.layers]
        self._attends = [isinstance(mixer, Attention | LatentAttention | Both) for mixer in mixers]
        self._decays = [mixer.inputs(batch) if isinstance(mixer, Lightning) else 0 for mixer in mixers]
        self._stands: dict[tuple[Piece, Rows, Holes], _Stand] = {}
        self._starts: dict[tuple[tuple[int, ...], bool, bool, int], _Step] = {}
        self._steps: dict[tuple[_Stand, int, tuple[int, ...]], _Step] = {}

    def floats(self, first: int, last: int, has_input: bool) -> int:
        """See `graph_floats`."""
        at, peak = self._start(first, last, has_input)
        kind_of, followers, remembered = self._graph.kind_of, self._graph.followers, self._remembered
        for number in range(first, last):
            following = followers[number]
            wanted = remembered[following] if following < last else ()
            step = at, kind_of[number], wanted
            at, reached = self._steps.get(step) or self._new_step(*step)
            peak = max(peak, reached)
        return peak

    def _start(self, first: int, last: int, has_input: bool) -> _Step:
        """Where the layers begin: there stands what the whole graph reads."""
        remembered = self._remembered[first] if first < last else ()
        start = remembered, has_input, any(self._attends[first:last]), max(self._decays[first:last], default=0)
        return self._starts.get(start) or self._new_start(*start)

    def _new_start(self, remembered: tuple[int, ...], has_input: bool, attends: bool, decays: int) -> _Step:
        space, rows = Space(), Coming(remembered)
        residual = _inputs(space, self._graph, self._batch, has_input, attends, decays)
        rows.fetch(space, self._batch)
        step = self._stand(residual, rows.pieces, space.holes), space.peak
        self._starts[remembered, has_input, attends, decays] = step
        return step

    def _new_step(self, at: _Stand, kind: int, wanted: tuple[int, ...]) -> _Step:
        """Run a layer of `kind`, which fetches what is `wanted` after it."""
        layer, space, coming = self._graph.kinds[kind], Space(at.holes), Coming(wanted)
        residual = layer.run(space, self._batch, at.residual, at.rows, coming)
        rows = coming.pieces if layer.in_order else at.rows
        step = self._stand(residual, rows, space.holes), space.peak
        self._steps[at, kind, wanted] = step
        return step

    def _stand(self, residual: Piece, rows: Rows, holes: Holes) -> _Stand:
        return self._stands.setdefault((residual, rows, holes), _Stand(residual, rows, holes))


_walk = lru_cache(maxsize=_WALKS)(_Walk)


def _inputs(space: Space, graph: Graph, batch: Batch, has_input: bool, attends: bool, decays: int) -> Piece:
    """What stands beside the graph, and the embedded text, which is the first residual.

    A batch may be of tokens, of embeddings, or of both, and the graph has a way for each.
    """
    tokens, wide = batch.tokens, graph.width * batch.tokens
    ids: tuple[Piece, ...] = ()
    mixed: tuple[Piece, ...] = ()
    if has_input:
        ids = (space.take(tokens),)
        space.take(wide)
        mixed = (space.take(tokens), space.take(2 * tokens), space.take(wide))
    space.take(batch.slots)
    if attends:
        space.take((graph.positions + 2 + 2) * tokens)
    space.take(decays)
    embedded = space.take(wide)
    if not has_input:
        return embedded
    space.give(*ids)
    told = space.take(wide)
    space.give(mixed[0])
    space.take(wide)
    space.give(mixed[2], told, mixed[1])
    return embedded
