"""Attention that first chooses the tokens it looks at: what its graph holds beside that of ordinary attention.

Source: llama.cpp's graphs of these architectures, and its own tables.
"""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.formats.keys import Keys
from weighbridge.formats.model import ModelInfo

_LIGHTNING = frozenset({"deepseek32", "glm-dsa"})
"""Scores for all tokens, and a mask of the best, made anew for each layer."""
_BLOCKS = "minimax-m3"
"""Scores in several heads, twice over, and the mask in 32 bits."""
_PRESSED = "deepseek4"
"""Several residuals, and an indexer over pressed tokens in every other layer."""


@dataclass(frozen=True)
class Indexing:
    """All in floats for one token. `chosen` tokens are kept for each layer as long as the graph runs; while a layer
    attends it holds `held` more than ordinary attention, and `per_cell` for each token in the cache. `masked`: the
    indexer has masks of its own. `apart`: only where no two conversations share a cache.
    """

    chosen: int
    held: int
    per_cell: float
    masked: bool = False
    apart: bool = False


def indexing_of(info: ModelInfo, keys: Keys) -> Indexing | None:
    """How this model chooses tokens; None for one that looks at all of them."""
    chosen, width = keys.count("attention.indexer.top_k"), info.embedding_length or 0
    if not chosen:
        return None
    if info.architecture in _LIGHTNING:
        return Indexing(chosen, 0, 1.5, masked=True)
    if info.architecture == _BLOCKS:
        scores = 2 * (keys.count("attention.indexer.head_count") or 0)
        return Indexing(0, max(info.heads or (0,)) * (info.key_length or 0), scores + 1.0, apart=True)
    if info.architecture == _PRESSED:
        residuals = keys.count("hyper_connection.count") or 1
        return Indexing(chosen // 4, (3 * residuals - 2) * width, 0.25)
    return None
