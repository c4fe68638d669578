"""What a model keeps in memory while it runs, layer by layer, whatever the format of its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Certainty(StrEnum):
    """How far a shape can be trusted.

    KNOWN: this architecture is understood. APPROXIMATE: it keeps more than is counted here, or something is
    missing in its header. UPPER_BOUND: it may keep less. UNKNOWN: nothing can be said of it.
    """

    KNOWN = "known"
    APPROXIMATE = "approximate"
    UPPER_BOUND = "upper_bound"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Index:
    """A second cache beside a layer's own, always for the whole context: the keys by which an indexer chooses tokens,
    or keys that each stand for `every` tokens. Its rows have `key_width` + `value_width` elements.
    """

    key_width: int
    value_width: int = 0
    every: int = 1


@dataclass(frozen=True)
class Layer:
    """What one layer keeps. All counts are of elements; a cache has `key_width` + `value_width` of them for a token.

    `window` is how many tokens its attention looks back, None for all of them. `conv` and `state` are kept once for
    each slot, in 32 bits, however long the text is. A layer without a cache of its own (it has none, or it uses another
    layer's) has widths of 0. `padded_width` stands in for `value_width` where there is no flash attention: values are
    then as wide as the widest layer's. `heads` are those of the queries, 0 where there is no attention. `separate`:
    each slot has a cache as long as the whole context, even where all slots were to share one.
    """

    heads: int = 0
    key_width: int = 0
    value_width: int = 0
    window: int | None = None
    conv: int = 0
    state: int = 0
    padded_width: int | None = None
    index: Index | None = None
    separate: bool = False

    @property
    def cached(self) -> bool:
        """Whether it has a cache of its own."""
        return self.key_width + self.value_width > 0


@dataclass(frozen=True)
class Shape:
    """The layers that are loaded, in their order. `predicting` are further ones at the end of the file, loaded only to
    predict more than one token at a time. `latent`: the cache holds compressed attention, the same for keys and values.
    """

    layers: tuple[Layer, ...]
    certainty: Certainty = Certainty.KNOWN
    predicting: tuple[Layer, ...] = ()
    latent: bool = False

    def total(self, count: Callable[[Layer], int]) -> int:
        """The sum of `count` over the layers; it is asked once for each kind of them."""
        kinds = zip(self.kinds, self.kind_counts, strict=True)
        return sum(count(layer) * times for layer, times in kinds if times)

    @cached_property
    def kinds(self) -> tuple[Layer, ...]:
        """The layers that differ, those that only predict among them: most models have one or two kinds."""
        return tuple(dict.fromkeys(self.layers + self.predicting))

    @cached_property
    def kind_of(self) -> tuple[int, ...]:
        """For each layer, and then each that only predicts, its place among `kinds`."""
        places = {layer: place for place, layer in enumerate(self.kinds)}
        return tuple(places[layer] for layer in self.layers + self.predicting)

    @cached_property
    def kind_counts(self) -> tuple[int, ...]:
        """How many of the loaded layers are of each kind."""
        counts = Counter(self.kind_of[: len(self.layers)])
        return tuple(counts[kind] for kind in range(len(self.kinds)))

    @property
    def windowed(self) -> bool:
        """Whether some layers keep only a window."""
        return any(layer.window is not None and layer.cached for layer in self.layers)

    @property
    def recurrent(self) -> bool:
        """Whether some layers keep a state instead of, or beside, a cache."""
        return any(layer.conv or layer.state for layer in self.layers)
