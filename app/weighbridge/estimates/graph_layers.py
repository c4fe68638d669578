"""A model's graph as an outline, layer by layer; `graph_walk` tells how much memory it takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from weighbridge.estimates.graph_attention import Attention, LatentAttention
from weighbridge.estimates.graph_parts import Batch, Coming, Dense, Experts, again
from weighbridge.estimates.graph_rwkv import Rwkv
from weighbridge.estimates.graph_space import Piece, Space
from weighbridge.estimates.graph_states import DeltaNet, HeadScan, KeyedDelta, Lightning, Rows, Scan, ShortConv


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

    @cached_property
    def kinds(self) -> tuple[Block | Rwkv, ...]:
        """The layers that differ: most models have two or three kinds."""
        return tuple(dict.fromkeys(self.layers))

    @cached_property
    def kind_of(self) -> tuple[int, ...]:
        """For each layer its place among `kinds`."""
        places = {layer: place for place, layer in enumerate(self.kinds)}
        return tuple(places[layer] for layer in self.layers)

    @cached_property
    def followers(self) -> tuple[int, ...]:
        """For each layer that puts its graph in order itself, the next one that does; for the others, the end."""
        following = end = len(self.layers)
        found = []
        for number in reversed(range(end)):
            in_order = self.layers[number].in_order
            found.append(following if in_order else end)
            following = number if in_order else following
        return tuple(reversed(found))
