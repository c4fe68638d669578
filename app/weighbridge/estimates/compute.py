"""The compute buffer of llama.cpp: what its graph holds while one batch is computed, and the buffer of its outputs.

All of it is set aside once, for the widest batch there can be: the masks of attention for as long as the graph runs,
and beside them the larger of the widest layer and the logits.
"""

from __future__ import annotations

from weighbridge.estimates.activations import Activations
from weighbridge.estimates.cache import index_cells, layer_cells
from weighbridge.estimates.compute_recurrent import recurrent_bytes
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Index, Shape

FLOAT_BYTES = 4
MASK_BYTES = 2
"""A mask is kept in 16-bit floats where flash attention reads it."""
_INPUT_TEXTS, _GIVEN_TEXTS = 5, 2
"""Texts as wide as the model where it is embedded; and how many fewer a place holds that is handed the embedded one."""
PIPELINE_COPIES = 4
"""Several cards work on as many batches at a time, so each has its inputs that often."""


def compute_bytes(
    activations: Activations,
    shape: Shape,
    plan: Plan,
    layers: range | None = None,
    *,
    has_input: bool = True,
    has_output: bool = True,
    copies: int = 1,
) -> int:
    """The compute buffer of a place that holds `layers` (all of them where not told).

    `has_input`: the text is embedded there; else it comes from another place. `has_output`: the logits are made there.
    `copies`: of what comes from elsewhere, where several batches are under way.
    """
    held = range(len(shape.layers)) if layers is None else layers
    logits = _logits(activations, plan) if has_output else 0
    if not held:
        return max(_INPUT_TEXTS * activations.embedding * plan.batch_tokens * has_input, logits) * FLOAT_BYTES
    place = _Place(activations, shape, plan, held)
    masks = copies * place.mask_bytes
    if activations.graph:
        graph = recurrent_bytes(activations.graph, plan, masks, held, has_input=has_input)
        return max(graph, masks + logits * FLOAT_BYTES)
    floats = place.widest + place.chosen
    if not has_input:
        floats += (copies - 1 - _GIVEN_TEXTS) * activations.embedding
    return masks + max(round(floats * plan.batch_tokens), logits) * FLOAT_BYTES


def _logits(activations: Activations, plan: Plan) -> int:
    """The floats of all logits, and of the texts that live with them where they are those of the whole batch."""
    if activations.for_all:
        return plan.batch_tokens * (activations.vocabulary + _GIVEN_TEXTS * activations.embedding)
    return activations.vocabulary * outputs(plan)


def output_bytes(activations: Activations, plan: Plan) -> int:
    """The logits that are handed out, in host memory: those of one token a slot, until more are asked for."""
    return plan.slots * activations.vocabulary * FLOAT_BYTES


def outputs(plan: Plan) -> int:
    """For how many tokens of a batch logits are computed."""
    return min(plan.slots if plan.outputs is None else plan.outputs, plan.batch)


class _Place:
    """The layers that one place holds, under one plan. All but the masks are floats for one token."""

    def __init__(self, activations: Activations, shape: Shape, plan: Plan, held: range) -> None:
        self._activations, self._shape, self._plan, self._held = activations, shape, plan, held
        self._flash = plan.flash_attention and activations.flash
        # A model that keeps no cache looks at the tokens of the batch alone.
        keeps = any(kind.cached for kind in shape.kinds)
        self._cells = [layer_cells(kind, plan) if keeps else plan.batch_tokens for kind in shape.kinds]
        self._kind_of = shape.kind_of[held.start : held.stop]
        self._widths = activations.layers[held.start : held.stop]

    @property
    def mask_bytes(self) -> int:
        """The masks of attention: one for each length of cache among the layers."""
        kinds = self._shape.kinds
        lengths = {kinds[at].window is None: self._cells[at] for at in set(self._kind_of) if kinds[at].heads}
        bytes_each = MASK_BYTES if self._flash else FLOAT_BYTES
        return self._activations.masks * sum(lengths.values()) * self._plan.batch_tokens * bytes_each

    @property
    def widest(self) -> float:
        """The widest of the layers. Of the model's last one, the feed-forward part reads only the tokens whose logits
        are wanted.
        """
        ends = self._held.stop >= len(self._activations.layers) > 1 and outputs(self._plan) < self._plan.batch_tokens
        whole = self._widths[:-1] if ends else self._widths
        widest = max([self._attending, *[layer.peak for layer in whole]])
        return widest if self._flash else max(widest, self._scoring)

    @property
    def _attending(self) -> float:
        """The widest attention that chooses its tokens first; else that of the last layer."""
        index, plan = self._activations.indexing, self._plan
        last = self._widths[-1].attending if self._widths else 0
        if index is None or not self._flash or (index.apart and plan.unified and plan.slots > 1):
            return last
        cells = plan.slot_cells / plan.streams if index.apart else plan.slot_cells
        return last + index.held + index.per_cell * cells

    @property
    def _scoring(self) -> int:
        """The widest attention that keeps a score for each token it looks at."""
        times = self._activations.scores
        seen = [cells + self._pressed(kind.index) for kind, cells in zip(self._shape.kinds, self._cells, strict=True)]
        scores = [times * kind.heads * cells for kind, cells in zip(self._shape.kinds, seen, strict=True)]
        return max(
            (layer.scored + scores[at] for layer, at in zip(self._widths, self._kind_of, strict=False)), default=0
        )

    def _pressed(self, index: Index | None) -> int:
        """Keys that each stand for several tokens, which are looked at beside the others."""
        return index_cells(index, self._plan) if index and index.every > 1 else 0

    @property
    def chosen(self) -> int:
        """The tokens that each layer's attention chose, which are kept to the end."""
        index = self._activations.indexing
        return len(self._held) * min(index.chosen, self._plan.slot_cells) if index else 0
