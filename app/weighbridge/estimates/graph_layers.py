"""A model's graph, layer by layer, and how much memory it takes while it is computed.

Only what fits into the holes that others leave makes a graph short: hence the layers are run through one after another,
as the engine does when it sets the memory aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from weighbridge.estimates.graph_attention import Attention, LatentAttention
from weighbridge.estimates.graph_parts import Batch, Coming, Dense, Experts, again
from weighbridge.estimates.graph_rwkv import Rwkv
from weighbridge.estimates.graph_space import Holes, Piece, Space
from weighbridge.estimates.graph_states import DeltaNet, HeadScan, KeyedDelta, Lightning, Rows, Scan, ShortConv

_KEPT_RESULTS = 512


@dataclass(frozen=True)
class Both:
    """Attention and a scan side by side, each with a norm of its own, summed."""

    attention: Attention
    scan: HeadScan

    @property
    def remembered(self) -> tuple[int, ...]:
        """What is fetched for it before."""
        return self.scan.remembered

    def run(self, space: Space, batch: Batch, text: Piece, rows: Rows, coming: Coming) -> Piece:
        """Read `text`, which nobody needs after, and leave an answer."""
        seen = self.attention.seen(space, batch, text)
        other = space.take(self.scan.width * batch.tokens)
        out: list[Piece] = []

        def attended() -> None:
            found = self.attention.turned_back(space, batch, seen)
            out.append(again(space, self.scan.width * batch.tokens, found))

        gated = self.scan.scanned(space, batch, other, rows, coming, attended)
        space.give(again(space, self.scan.width * batch.tokens, gated))
        return out[0]


State = Scan | HeadScan | DeltaNet | KeyedDelta | ShortConv | Lightning | Both
Mixer = State | Attention | LatentAttention


@dataclass(frozen=True)
class Block:
    """One layer: a mixer, a feed-forward part, or one after the other.

    `onto`: their answers are added onto the residual where it lies, and not it to them.
    """

    width: int
    mixer: Mixer | None = None
    forward: Dense | Experts | None = None
    onto: bool = False

    @property
    def remembered(self) -> tuple[int, ...]:
        """What is fetched for it before."""
        if self.mixer is None or isinstance(self.mixer, Attention | LatentAttention):
            return ()
        return self.mixer.remembered

    @property
    def in_order(self) -> bool:
        """Whether it puts its graph in order itself; else it is computed as late as can be."""
        return self.mixer is not None or isinstance(self.forward, Experts)

    def run(self, space: Space, batch: Batch, residual: Piece, rows: Rows, coming: Coming) -> Piece:
        """From one residual to the next."""
        late = isinstance(self.forward, Experts)
        if self.mixer is not None:
            residual = self._mixed(space, batch, residual, rows, Coming() if late else coming)
        if self.forward is not None:
            text = space.take(self.width * batch.tokens)
            out = self.forward.run(space, batch, text, coming if late else Coming())
            residual = self._summed(space, residual, out)
        return residual

    def _summed(self, space: Space, residual: Piece, out: Piece) -> Piece:
        space.give(out if self.onto else residual)
        return residual if self.onto else out

    def _mixed(self, space: Space, batch: Batch, residual: Piece, rows: Rows, coming: Coming) -> Piece:
        mixer = self.mixer
        if isinstance(mixer, Lightning):
            return self._summed(space, residual, mixer.run(space, batch, residual, rows, coming))
        text = space.take(self.width * batch.tokens)
        if isinstance(mixer, Attention | LatentAttention):
            out = mixer.run(space, batch, text, coming)
        else:
            assert mixer is not None
            out = mixer.run(space, batch, text, rows, coming)
        return self._summed(space, residual, out)


@dataclass(frozen=True, eq=False)
class Graph:
    """All layers in their order. `positions` is how many numbers tell where a token stands.

    Two graphs are never equal: what is known of one is found again by its identity, in no time.
    """

    width: int
    layers: tuple[Block | Rwkv, ...]
    positions: int = 1


@lru_cache(maxsize=_KEPT_RESULTS)
def graph_floats(graph: Graph, batch: Batch, first: int, last: int, has_input: bool = True) -> int:
    """The floats that layers `first` up to `last` take, beside the masks of attention, which stay all the time.

    Without `has_input`, the text comes from another place, already embedded.
    """
    space = Space()
    layers = graph.layers[first:last]
    residual = _inputs(space, graph, batch, layers, has_input)
    rows = Coming(layers[0].remembered if layers else ())
    rows.fetch(space, batch)
    pieces, known = rows.pieces, dict[object, tuple[Piece, Rows, Holes]]()
    for number, layer in enumerate(layers):
        fetches = not isinstance(layer, Block) or layer.in_order
        coming = Coming(_next_remembered(layers, number) if fetches else ())
        now = (layer, coming.floats, residual, pieces, space.holes)
        if now in known:
            residual, pieces, holes = known[now]
            space.go_on_from(holes)
            continue
        residual = layer.run(space, batch, residual, pieces, coming)
        pieces = coming.pieces if fetches else pieces
        known[now] = residual, pieces, space.holes
    return space.peak


def _next_remembered(layers: Sequence[Block | Rwkv], number: int) -> tuple[int, ...]:
    """What the next layer remembers that is not computed as late as can be."""
    for layer in layers[number + 1 :]:
        if not isinstance(layer, Block) or layer.in_order:
            return layer.remembered
    return ()


def _inputs(space: Space, graph: Graph, batch: Batch, layers: Sequence[Block | Rwkv], has_input: bool) -> Piece:
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
    mixers = [layer.mixer for layer in layers if isinstance(layer, Block)]
    if any(isinstance(mixer, Attention | LatentAttention | Both) for mixer in mixers):
        space.take((graph.positions + 2 + 2) * tokens)
    space.take(max((mixer.inputs(batch) for mixer in mixers if isinstance(mixer, Lightning)), default=0))
    embedded = space.take(wide)
    if not has_input:
        return embedded
    space.give(*ids)
    told = space.take(wide)
    space.give(mixed[0])
    space.take(wide)
    space.give(mixed[2], told, mixed[1])
    return embedded
