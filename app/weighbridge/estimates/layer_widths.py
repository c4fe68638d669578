"""How much one layer of a graph holds at its widest point, for one token, in floats of 32 bits.

What the tensors show goes before what the keys say, so that an architecture that is not known yet is counted by what it
has: a feed-forward part with or without a gate, experts, compressed attention. Where only the keys are known, a plain
layer is assumed.

A part is at its widest while an operation reads one tensor and writes another: what lives then are the text as it came
in (the residual), what the part has made so far, and the holes that are too small for it. Source: ggml's graph
allocator (`ggml-alloc.c`) run over the graphs of llama.cpp (`build_ffn`, `build_moe_ffn`, `build_attn`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weighbridge.formats.keys import Keys
from weighbridge.formats.model import ModelInfo

Shapes = Mapping[str, tuple[int, ...]]
"""The shapes of a layer's tensors, by their names without ".weight"."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WITHOUT_GATE = _names("""
    apertus arcee bert bloom codeshell falcon gpt2 gptj gptneox jais2 jina-bert-v3 mpt nemotron nomic-bert-moe phi2
    starcoder starcoder2 t5 t5encoder
""")
"""Of use only where the tensors are not known."""
_TOLD_TWICE = "qwen"
"""Its key tells the width of both matrices together."""
_WEIGHED_BEFORE = "llama4"
"""Its experts read the text after it was multiplied by their weights, so each has a copy of its own."""
_OWN_NORMS = ("ffn_norm", "attn_norm_2", "attn_output_norm", "post_attention_norm")
"""With any of these the feed-forward part reads a text of its own."""
_MATRIX = 2
_RESIDUALS = 5
"""Texts as wide as the model that live, or leave holes, beside any part: the embedded ones that the graph may be given
in place of tokens, those tokens' rows, the residual, and the text that is read."""


@dataclass(frozen=True)
class LayerWidths:
    """`peak` is the most that the layer holds, `attending` the most while it attends; `scored` is what it holds beside
    the scores of its attention, where there is no flash attention.
    """

    peak: int
    attending: int
    scored: int


class Layer:
    """One layer's parts, each with the most that it holds at a time."""

    def __init__(self, info: ModelInfo, shapes: Shapes, number: int) -> None:
        self._info, self._keys, self._shapes = info, Keys(info.metadata), shapes
        self._number = number
        self._width = info.embedding_length or 0
        self._heads = _of(info.heads, number)
        self._query = self._heads * (info.key_length or 0)
        self._kept = _of(info.kv_heads, number) * ((info.key_length or 0) + (info.value_length or 0))

    @property
    def inner(self) -> int:
        """The width within its feed-forward part."""
        told = _of(self._keys.per_layer("feed_forward_length", self._info.layers), self._number)
        return self._in("ffn_down") or (told // 2 if self._info.architecture == _TOLD_TWICE else told)

    def widths(self, beside: int = 0) -> LayerWidths:
        """The widest parts, with `beside` more floats that live as long as the graph runs."""
        attention = self._attention()
        forward = max(self._feed_forward(), self._experts())
        base = _RESIDUALS * self._width + beside
        scored = attention + self._width if self._latent else 2 * self._query + self._kept
        return LayerWidths(base + max(attention, forward), base + attention, base - self._width + scored)

    @property
    def _latent(self) -> int:
        """The length of a head's keys before they are compressed; 0 for attention that is not, or is kept whole."""
        return self._keys.count("attention.key_length_mla") or 0

    def _attention(self) -> int:
        """Queries as they come and as they are turned, and what they find."""
        if self._latent:
            length, value = self._info.key_length or 0, self._info.value_length or 0
            turned = self._heads * (length - value)
            return self._heads * (self._latent + length + value) + (turned if turned > self._width else 0)
        if fused := self._out("attn_qkv"):
            return fused + self._query + self._kept // 2 - self._width
        return 2 * self._query

    def _feed_forward(self) -> int:
        """What goes in, its gate, and both together; without a gate the activation works in place."""
        if not self._shapes:
            return self._told_feed_forward()
        if gate := self._out("ffn_gate"):
            longer = "ffn_down_exps" in self._shapes or (self._parallel and self._info.sliding_window)
            return 3 * gate + (self._width if longer else 0)
        given, inner = self._out("ffn_up"), self._in("ffn_down")
        if given > inner:
            return given + inner
        return inner + (self._width if self._parallel else 0)

    @property
    def _parallel(self) -> bool:
        """Whether attention and feed-forward part read the same text, which then lives longer."""
        return not any(name in self._shapes for name in _OWN_NORMS)

    def _told_feed_forward(self) -> int:
        return 0 if self._sparse else self.inner * (3 if self._told_gate else 1)

    @property
    def _told_gate(self) -> bool:
        return self._info.architecture not in _WITHOUT_GATE

    @property
    def _sparse(self) -> bool:
        """Whether its feed-forward part is of experts, as the tensors show, else as the keys tell."""
        if self._shapes or not self._info.experts:
            return "ffn_down_exps" in self._shapes
        every = self._keys.count("interleave_moe_layer_step") or 1
        return self._number >= (self._keys.count("leading_dense_block_count") or 0) and (self._number + 1) % every == 0

    def _experts(self) -> int:
        """The routed ones together, then the shared ones."""
        used = self._info.experts_used or 0
        if not self._sparse:
            return 0
        inner, gated = self._expert_width(), bool(self._gate_of_experts) if self._shapes else self._told_gate
        answers = used * self._width
        routed = used * inner * (3 if gated else 1)
        routed += answers if not gated or 2 * used * inner < answers else 0
        weighed = answers if self._info.architecture == _WEIGHED_BEFORE else 0
        return max(routed + weighed, 3 * self._in("ffn_down_shexp"))

    @property
    def _gate_of_experts(self) -> int:
        return self._out("ffn_gate_exps") or self._out("ffn_gate_up_exps")

    def _expert_width(self) -> int:
        told = self._keys.count("expert_feed_forward_length")
        return self._in("ffn_down_exps") or told or self.inner

    def _out(self, name: str) -> int:
        """The width of what a matrix gives; 0 where there is no such matrix."""
        shape = self._shapes.get(name, ())
        return shape[1] if len(shape) >= _MATRIX else 0

    def _in(self, name: str) -> int:
        """The width of what a matrix reads; 0 where there is no such matrix."""
        shape = self._shapes.get(name, ())
        return shape[0] if shape else 0


def _of(values: tuple[int, ...] | None, number: int) -> int:
    """A layer's value; that of the last one where there are too few."""
    return values[min(number, len(values) - 1)] if values else 0
