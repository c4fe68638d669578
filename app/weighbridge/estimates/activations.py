"""How wide a model's graph is: what one token of a batch needs while it is computed. Digested once for each file.

Source of the sums: ggml's graph allocator over the graphs that llama.cpp builds, and the tables it prints for the
headers of more than a hundred models.
"""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.estimates.compute_recurrent import graph_of
from weighbridge.estimates.graph_layers import Graph
from weighbridge.estimates.indexing import Indexing, indexing_of
from weighbridge.estimates.layer_widths import Layer, LayerWidths, Shapes
from weighbridge.estimates.shape import Shape
from weighbridge.estimates.shape_gguf import shape_of_gguf
from weighbridge.formats.keys import Keys
from weighbridge.formats.model import ModelInfo

_ALL_LOGITS = "cogvlm"
_BIASED_BY_PLACE = frozenset({"t5", "t5encoder"})
"""Their scores are added to by a table of distances, and stand there thrice while that is done."""
_WITHOUT_FLASH_ATTENTION = _BIASED_BY_PLACE | {"grok"}
"""It cannot add to scores; for Grok llama.cpp forces it off."""
_IN_LAYER = 3


@dataclass(frozen=True)
class Activations:
    """What a model's graph holds for one token, in floats of 32 bits.

    `layers` is what each layer holds, `vocabulary` the width of the logits, which are computed `for_all` tokens of a
    batch whoever wants them, or only where they are wanted; `tokenizer` is the kind of its tokens. `masks` is how many
    there are for one length of cache, `scores` how often those of one head stand there where there is no flash
    attention. `flash` is False where the engine cannot use it; `indexing` tells of attention that first chooses tokens.
    `graph` is there for a model that keeps a state: its layers cannot be looked at one by one.
    """

    embedding: int
    vocabulary: int
    layers: tuple[LayerWidths, ...]
    for_all: bool = False
    masks: int = 1
    scores: int = 1
    flash: bool = True
    indexing: Indexing | None = None
    graph: Graph | None = None
    tokenizer: str | None = None


def activations(info: ModelInfo) -> Activations | None:
    """The widths of this model's graph; None where its header does not even tell how wide the model is."""
    if not info.embedding_length or not info.layers:
        return None
    keys, shapes, shape = Keys(info.metadata), _shapes(info), shape_of_gguf(info)
    whole, indexing = shapes.get(None, {}), indexing_of(info, keys)
    biased = info.architecture in _BIASED_BY_PLACE
    layers = [Layer(info, shapes.get(number, {}), number) for number in range(len(shape.layers) or info.layers)]
    return Activations(
        embedding=info.embedding_length,
        vocabulary=_vocabulary(keys, whole) or info.vocabulary or 0,
        layers=tuple(layer.widths(_beside(info, keys, whole, layer)) for layer in layers),
        for_all=info.architecture == _ALL_LOGITS,
        masks=1 + (bool(indexing and indexing.masked) or biased or _reads_windows(info, shape)),
        scores=3 if biased else 1,
        flash=info.architecture not in _WITHOUT_FLASH_ATTENTION,
        indexing=indexing,
        graph=graph_of(info, shape),
        tokenizer=keys.text("tokenizer.ggml.model"),
    )


def _reads_windows(info: ModelInfo, shape: Shape) -> bool:
    """Whether it keeps no cache, and yet some layers look at a part of the text only."""
    return bool(info.sliding_window) and not any(layer.cached for layer in shape.kinds)


def _shapes(info: ModelInfo) -> dict[int | None, dict[str, tuple[int, ...]]]:
    """The tensors' shapes by layer; those of no layer under None."""
    found: dict[int | None, dict[str, tuple[int, ...]]] = {}
    for tensor in info.tensors or ():
        name = tensor.name.removesuffix(".weight")
        parts = name.split(".", _IN_LAYER - 1)
        if len(parts) == _IN_LAYER and parts[0] == "blk" and parts[1].isdecimal():
            found.setdefault(int(parts[1]), {})[parts[2]] = tensor.shape
        else:
            found.setdefault(None, {})[name] = tensor.shape
    return found


def _vocabulary(keys: Keys, shapes: Shapes) -> int:
    """As many as the output matrix gives, or as the header claims; 0 where neither tells."""
    for name in ("output", "token_embd"):
        shape = shapes.get(name, ())
        if len(shape) > 1:
            return shape[1]
    return keys.count("vocab_size") or 0


def _beside(info: ModelInfo, keys: Keys, shapes: Shapes, layer: Layer) -> int:
    """What lives beside the layers from first to last."""
    width = info.embedding_length or 0
    return _per_layer_inputs(info, keys, layer) + _residual_copies(keys, shapes, width) + _deep_stack(keys, width)


def _per_layer_inputs(info: ModelInfo, keys: Keys, layer: Layer) -> int:
    """Each layer's own part of the embedded text, made at the start for all layers, once more in another order; the
    hole that the first of the two leaves is taken by a feed-forward part that fits into it.
    """
    inputs = (keys.count("embedding_length_per_layer_input") or 0) * (info.layers or 0)
    return inputs if layer.inner <= inputs else 2 * inputs


def _residual_copies(keys: Keys, shapes: Shapes, width: int) -> int:
    """Gemma 3n computes several residuals beside one another."""
    projections = shapes.get("altup_proj", ())
    return (projections[2] + 1) * width if len(projections) > 2 else 0


def _deep_stack(keys: Keys, width: int) -> int:
    """Images come with further rows for the first layers, so all that a graph may be given is wider by them."""
    deeper = keys.count("n_deepstack_layers") or 0
    return (4 * deeper - 1) * width if deeper else 0
