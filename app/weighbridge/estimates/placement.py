"""Which layer lies on which device, as llama.cpp lays them, and the weights that this puts there. Pure.

There is one slot for each layer of the file and one for the output. The last `gpu_layers` slots go to the cards, split
by their shares; all before them, and always the input, stay in host memory. Source: `llama_model::load_tensors` and
the loader's choice of a buffer for each tensor; checked against the memory tables that llama.cpp itself prints.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from ctypes import c_float
from dataclasses import dataclass
from itertools import accumulate, pairwise

from weighbridge.estimates.plan import Plan
from weighbridge.estimates.weights import LayerWeights, Weights

_PINS_HOST_MEMORY = frozenset({"cann", "cuda", "openvino", "rocm", "sycl", "vulkan"})
"""Ways to reach a card that have their own kind of host memory: it takes what stays there, and nothing is reordered."""


@dataclass(frozen=True)
class Seat:
    """What lies in one place: its weights in bytes, the numbers of its layers, and whether the output is there.

    The others are parts of `weights_bytes`. `copy_bytes` is the second copy of a token embedding that is the output
    matrix too. In host memory alone: `expert_bytes` of layers that lie on a card; `mapped_bytes`, pages of the file
    itself, which the system may drop and read again; `reordered_bytes`, which the engine has copied into another order,
    so that the file's own pages of them lie in memory as well while it loads.
    """

    weights_bytes: int = 0
    layers: range = range(0)
    has_output: bool = False
    copy_bytes: int = 0
    expert_bytes: int = 0
    mapped_bytes: int = 0
    reordered_bytes: int = 0


def seats(
    weights: Weights, plan: Plan, card_shares: Sequence[float], reordered: Collection[str] = ()
) -> tuple[Seat, ...]:
    """The seat of host memory, then one for each card; `card_shares` is the weight of each card in a split, not all of
    them 0: see `shares_of`.

    Of the first `cpu_experts` layers, the experts stay in host memory. The layers that only predict follow the others
    in number; they have slots even where they are not loaded. `reordered` are the types that the CPU part of the engine
    copies: see `reordered_types`.
    """
    count = layer_count(weights)
    loaded = count if plan.predict else len(weights.layers)
    edges = list(pairwise((0, *_edges(count + 1, plan, card_shares))))
    spans = [range(min(start, loaded), min(end, loaded)) for start, end in edges]
    has_output = [start <= count < end for start, end in edges]
    cards = zip(spans[1:], has_output[1:], strict=True)
    return (
        _host(weights, plan, spans, has_output[0], reordered),
        *(_card(weights, plan, span, output) for span, output in cards),
    )


def layer_count(weights: Weights) -> int:
    """All layers of the file: those that only predict count, though they are not loaded."""
    return len(weights.layers) + len(weights.predicting)


def slot_count(weights: Weights) -> int:
    """All that can go to cards one by one: the layers of the file, and the output."""
    return layer_count(weights) + 1


def shares_of(plan: Plan, free_bytes: Sequence[int | None]) -> tuple[float, ...]:
    """The weight of each card in a split: as the plan says, else by what is free, else equal."""
    count = len(free_bytes)
    split = (*(plan.split or ()), *([0.0] * count))[:count]
    if any(split):
        return split
    free = [float(each) for each in free_bytes if each is not None]
    return tuple(free) if len(free) == count and any(free) else (1.0,) * count


def reordered_types(extensions: Collection[str], apis: Iterable[str] = ()) -> frozenset[str]:
    """The types of matrices that llama.cpp copies into another order for the CPU.

    `extensions` are the vector instructions of its build, which may be fewer than the machine's ("AVX2", "AVX-512F",
    "NEON", "DotProd", "I8MM", as `hardware.cpu` names them), `apis` the ways in which it reaches cards.
    Source: `ggml_repack_get_optimal_repack_type`.
    """
    if not _PINS_HOST_MEMORY.isdisjoint(apis):
        return frozenset()
    types: set[str] = set()
    if "AVX2" in extensions:
        types |= {"Q4_0", "Q4_K", "IQ4_NL", "MXFP4"}
    if "AVX-512F" in extensions:
        types |= {"Q2_K"}
    if "NEON" in extensions and not {"DotProd", "I8MM"}.isdisjoint(extensions):
        types |= {"Q4_0", "Q4_K", "Q5_K", "Q6_K", "Q8_0", "Q1_0"}
    if {"NEON", "DotProd"} <= set(extensions):
        types |= {"IQ4_NL", "MXFP4"}
    return frozenset(types)


def _edges(slots: int, plan: Plan, card_shares: Sequence[float]) -> list[int]:
    """The slot after the last one of each place, host memory first.

    A slot lies on the first card whose share, added up, is greater than the slot's place among those on cards; all of
    it in single precision, as the engine reckons: at an edge, a layer is hundreds of MiB.
    """
    wanted = slots if plan.gpu_layers is None else min(max(plan.gpu_layers, 0), slots)
    count = wanted if card_shares else 0
    if not count:
        return [slots] * (len(card_shares) + 1)
    first = slots - count
    totals = list(accumulate(map(_single, card_shares), lambda total, share: _single(total + share)))
    ends = [_single(total / totals[-1]) for total in totals[:-1]]
    on_cards = range(count)
    inner = (first + bisect_left(on_cards, end, key=lambda slot: _single(slot / count)) for end in ends)
    return [first, *inner, slots]


def _single(number: float) -> float:
    """`number` in single precision."""
    return c_float(number).value


def _card(weights: Weights, plan: Plan, span: range, has_output: bool) -> Seat:
    copy = weights.embedding_bytes if has_output and weights.tied else 0
    amount = _within(weights.dense_sums, span) + _within(weights.expert_sums, span[away(plan, span) :])
    output = weights.output_bytes + copy if has_output else 0
    return Seat(amount + output, span, has_output, copy)


def _host(weights: Weights, plan: Plan, spans: Sequence[range], has_output: bool, reordered: Collection[str]) -> Seat:
    """A tied output needs no copy where it lies in the same memory as the embedding, unless it is reordered."""
    guests = [span[: away(plan, span)] for span in spans[1:]]
    experts = sum(_within(weights.expert_sums, span) for span in guests)
    copied = has_output and weights.tied and weights.embedding_type in reordered
    copy = weights.embedding_bytes if copied else 0
    output = weights.output_bytes + copy if has_output else 0
    layers = _within(weights.dense_sums, spans[0]) + _within(weights.expert_sums, spans[0])
    amount = weights.input_bytes + layers + experts + output
    moved = copy + (_matrices(weights, spans[0], guests, has_output, reordered) if reordered else 0)
    return Seat(
        weights_bytes=amount,
        layers=spans[0],
        has_output=has_output,
        copy_bytes=copy,
        expert_bytes=experts,
        mapped_bytes=amount - moved if plan.mapped else weights.lazy_bytes,
        reordered_bytes=moved,
    )


def _within(sums: Sequence[int], span: range) -> int:
    """The bytes of the layers in `span`; `sums` are those of the first ones."""
    return sums[span.stop] - sums[span.start]


def _layers(weights: Weights, span: range) -> Sequence[LayerWeights]:
    layers = weights.layers + weights.predicting if weights.predicting else weights.layers
    return layers[span.start : span.stop]


def away(plan: Plan, span: range) -> int:
    """How many of a card's layers have their experts in host memory: its first ones."""
    return min(max(plan.cpu_experts - span.start, 0), len(span))


def _matrices(
    weights: Weights,
    span: range,
    guests: Sequence[range],
    has_output: bool,
    reordered: Collection[str],
) -> int:
    """Bytes of the matrices in host memory that are copied: those of layers in `span`, and of experts in `guests`."""
    layers = _layers(weights, span)
    tables = [layer.dense_matrices for layer in layers]
    tables += [layer.expert_matrices for each in (span, *guests) for layer in _layers(weights, each)]
    tables += [weights.output_matrices] if has_output else []
    return sum(size for table in tables for kind, size in table if kind in reordered)
