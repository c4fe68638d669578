"""How wide a model's layers are while they are computed, by its config.json."""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.formats.model import ModelInfo
from weighbridge.formats.quantisation import Config, whole

_CAPPED = frozenset({"gemma2"})
"""Types whose scores pass through a function of their own, so that all of them stand in memory at a time."""


@dataclass(frozen=True)
class Widths:
    """What one token takes in the widest layer, in elements.

    `feed_forward` is the width between its two steps, over all experts that a token passes; `queries` that of all
    `heads`, `head` of one.
    """

    hidden: int
    vocabulary: int = 0
    feed_forward: int = 0
    heads: int = 0
    head: int = 0
    capped: bool = False

    @property
    def queries(self) -> int:
        """The width of the queries of all heads."""
        return self.heads * self.head

    @property
    def beside(self) -> int:
        """What stands beside one another while a layer is computed: copies of the token, and the wider of its parts."""
        return 5 * self.hidden + max(3 * self.feed_forward, 2 * self.queries)


def widths_of(info: ModelInfo) -> Widths | None:
    """The widths of the model of `info`, by its config; None where that does not tell how wide it is."""
    hidden = info.embedding_length
    if not hidden:
        return None
    dense = _first(info.config, "intermediate_size", "n_inner", "ffn_hidden_size", "block_ff_dim") or 4 * hidden
    return Widths(
        hidden=hidden,
        vocabulary=_first(info.config, "vocab_size"),
        feed_forward=max(dense, _experts(info, hidden, dense)),
        heads=max(info.heads or (0,)),
        head=info.key_length or 0,
        capped=info.architecture in _CAPPED,
    )


def _experts(info: ModelInfo, hidden: int, dense: int) -> int:
    """The experts that a token passes, each with its own copy of the token, and those that all tokens pass."""
    if not info.experts or not info.experts_used:
        return 0
    one = _first(info.config, "moe_intermediate_size", "expert_ffn_hidden_size") or dense
    shared = _first(info.config, "shared_expert_intermediate_size") or one * _first(info.config, "n_shared_experts")
    return info.experts_used * (one + hidden) + shared


def _first(config: Config, *keys: str) -> int:
    """The first of `keys` that is a number above 0; 0 where none is."""
    return next((size for size in (whole(config.get(key)) for key in keys) if size), 0)
