"""The compute buffer of models that keep a state: what their graph takes while one batch is computed.

Their layers differ in what they leave behind, and a formula for the widest of them is off by up to 70 %; so the graph
is run through once for each size of batch (see `graph_walk`), as an outline digested from the file once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weighbridge.estimates.graph_attention import Attention, LatentAttention
from weighbridge.estimates.graph_keys import shapes_of_keys
from weighbridge.estimates.graph_layers import Block, Both, Graph, Mixer
from weighbridge.estimates.graph_parts import Batch, Dense, Experts
from weighbridge.estimates.graph_rwkv import Rwkv, TimeMix6, TimeMix7
from weighbridge.estimates.graph_states import DeltaNet, HeadScan, KeyedDelta, Lightning, Scan, ShortConv
from weighbridge.estimates.graph_walk import graph_floats
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Layer, Shape
from weighbridge.formats.keys import Keys
from weighbridge.formats.model import ModelInfo

Shapes = Mapping[str, Sequence[int]]

FLOAT_BYTES = 4
_MROPE = frozenset(["qwen35", "qwen35moe"])
"""Where a token stands is told by four numbers."""
_OTHERWISE = frozenset(["deepseek4", "glm5-next", "qwen4exp"])
"""They keep a state in a graph that is not outlined here: it has several residuals."""
_REPEATS = "qwen3next"
"""The first with gated delta nets: its queries and keys are repeated for every head of the values."""
_UNTURNED = frozenset(["jamba", "nemotron_h", "nemotron_h_moe"])
"""Their attention knows nothing of where a token stands."""


def graph_of(info: ModelInfo, shape: Shape) -> Graph | None:
    """The outline of this model's graph; None for one that keeps no state, or that is not understood."""
    width = info.embedding_length
    if not shape.recurrent or not width or info.architecture in _OTHERWISE:
        return None
    shapes = _by_layer(info) if info.tensors else _by_keys(info, shape)
    reader = _Reader(info, width)
    layers = [reader.layer(number, shapes.get(number, {}), kept) for number, kept in enumerate(shape.layers)]
    if any(layer is None for layer in layers):
        return None
    positions = 4 if info.architecture in _MROPE else 1
    return Graph(width, tuple(layer for layer in layers if layer is not None), positions)


def recurrent_bytes(graph: Graph, plan: Plan, mask_bytes: int, layers: range, *, has_input: bool = True) -> int:
    """The compute buffer of a device that holds `layers` of the graph, with the masks it needs for them.

    Without `has_input`, it is handed the text already embedded.
    """
    cells = 0 if plan.flash_attention else plan.slot_cells
    batch = Batch(
        plan.batch_tokens, plan.slots, cells, plan.flash_attention, _spread(plan.key_type), _spread(plan.value_type)
    )
    return mask_bytes + FLOAT_BYTES * graph_floats(graph, batch, layers.start, layers.stop, has_input)


def _spread(cache_type: str) -> bool:
    return not cache_type.endswith(("16", "32"))


def _by_keys(info: ModelInfo, shape: Shape) -> dict[int, Shapes]:
    keys = Keys(info.metadata)
    return {number: shapes_of_keys(info, keys, number, kept) for number, kept in enumerate(shape.layers)}


def _by_layer(info: ModelInfo) -> dict[int, Shapes]:
    found: dict[int, dict[str, Sequence[int]]] = {}
    for tensor in info.tensors or ():
        place, _, name = tensor.name.removeprefix("blk.").partition(".")
        if place.isdecimal() and tensor.name.startswith("blk."):
            found.setdefault(int(place), {})[name.removesuffix(".weight")] = tensor.shape
    return dict(found)


@dataclass(frozen=True)
class _Reader:
    """One header's way to the outline of its layers."""

    info: ModelInfo
    width: int

    @property
    def _keys(self) -> Keys:
        return Keys(self.info.metadata)

    def layer(self, number: int, shapes: Shapes, kept: Layer) -> Block | Rwkv | None:
        """One layer; None for one that is not understood."""
        if "time_mix_w1" in shapes:
            return self._rwkv(number, shapes, kept)
        mixer, forward = self._mixer(number, shapes, kept), self._forward(number, shapes)
        onto = self._keys.count("shortconv.l_cache") is not None
        return None if mixer is None and forward is None else Block(self.width, mixer, forward, onto)

    def _mixer(self, number: int, shapes: Shapes, kept: Layer) -> Mixer | None:
        state = self._state(shapes, kept)
        if state is None or not kept.cached:
            return state or self._attention(number, shapes)
        attention = self._attention(number, shapes)
        both = isinstance(state, HeadScan) and isinstance(attention, Attention)
        return Both(attention, state) if both else state  # type: ignore[arg-type]

    def _state(self, shapes: Shapes, kept: Layer) -> Mixer | None:
        heads = self._keys.count("ssm.time_step_rank") or 0
        if "shortconv.conv" in shapes:
            return ShortConv(self.width, kept.conv)
        if "ssm_conv1d_q" in shapes:
            inner, length = _out(shapes, "attn_q"), _out(shapes, "ssm_f_a")
            return KeyedDelta(self.width, inner, _out(shapes, "ssm_beta"), length, kept.conv, kept.state)
        if "attn_norm_2" in shapes and kept.state and not kept.conv:
            return Lightning(self.width, _out(shapes, "attn_gate"), (self.info.heads or (0,))[0], kept.state)
        if "attn_gate" in shapes and "ssm_conv1d" in shapes:
            values = _out(shapes, "attn_gate")
            keys = (_out(shapes, "ssm_conv1d") - values) // 2
            repeated = self.info.architecture == _REPEATS and keys != values
            return DeltaNet(self.width, keys, values, heads, kept.conv, kept.state, repeated)
        return self._scan(shapes, kept, heads) if "ssm_in" in shapes else None

    def _scan(self, shapes: Shapes, kept: Layer, heads: int) -> Scan | HeadScan:
        inner = self._keys.count("ssm.inner_size") or 0
        if "ssm_x" in shapes and len(shapes.get("ssm_a", ())) > 1:
            wide = self._keys.count("ssm.state_size") or 0
            normed = "ssm_dt_norm" in shapes or self._normed
            return Scan(self.width, inner, heads, wide, kept.conv, kept.state, normed)
        mixed, projected = _out(shapes, "ssm_conv1d"), _out(shapes, "ssm_in")
        return HeadScan(self.width, inner, mixed, projected, heads, kept.conv, kept.state, "ssm_x" in shapes)

    @property
    def _normed(self) -> bool:
        prefix = self.info.architecture
        return bool(self.info.metadata.get(f"{prefix}.ssm.dt_b_c_rms"))

    def _attention(self, number: int, shapes: Shapes) -> Mixer | None:
        heads = (self.info.heads or ())[number : number + 1] or (0,)
        if "attn_kv_a_mqa" in shapes:
            return self._latent(heads[0], shapes)
        query = _in(shapes, "attn_output")
        if not query:
            return None
        turned = self.info.architecture not in _UNTURNED and self._rotates
        if fused := _out(shapes, "attn_qkv"):
            key = (fused - query) // 2
            return Attention(self.width, heads[0], query, key, key, turned, fused=True)
        key, value = _out(shapes, "attn_k"), _out(shapes, "attn_v")
        return Attention(self.width, heads[0], query, key, value, turned, gated=_out(shapes, "attn_q") > query)

    @property
    def _rotates(self) -> bool:
        return self.info.metadata.get(f"{self.info.architecture}.rope.scaling.finetuned") is not False

    def _latent(self, heads: int, shapes: Shapes) -> LatentAttention:
        rank = _in(shapes, "attn_kv_a_norm")
        rope = _out(shapes, "attn_kv_a_mqa") - rank
        nope = _in(shapes, "attn_k_b") or self.info.key_length or 0
        return LatentAttention(
            self.width, heads, rank, nope, rope, _out(shapes, "attn_v_b"), _in(shapes, "attn_q_a_norm")
        )

    def _forward(self, number: int, shapes: Shapes) -> Dense | Experts | None:
        if len(shapes.get("ffn_down_exps", ())) == 3:
            return self._experts(number, shapes)
        inner = _in(shapes, "ffn_down")
        if not inner:
            return None
        return Dense(self.width, inner, _gate(shapes, "ffn_gate", _out(shapes, "ffn_up") > inner))

    def _experts(self, number: int, shapes: Shapes) -> Experts:
        inner, narrow, count = shapes["ffn_down_exps"]
        used = self._keys.per_layer("expert_used_count", number + 1) or (self.info.experts_used or 0,)
        return Experts(
            self.width,
            count,
            used[-1],
            inner,
            _gate(shapes, "ffn_gate_exps", "ffn_gate_up_exps" in shapes),
            _in(shapes, "ffn_down_shexp"),
            narrow if narrow != self.width else 0,
            "exp_probs_b.bias" in shapes,
            "ffn_gate_inp_shexp" in shapes,
        )

    def _rwkv(self, number: int, shapes: Shapes, kept: Layer) -> Rwkv:
        mixing = "channel_mix_key" in shapes
        inner = _out(shapes, "channel_mix_key") or _out(shapes, "ffn_up")
        time = self._time7(number, shapes, kept) if "time_mix_w0" in shapes else self._time6(shapes, kept)
        return Rwkv(self.width, time, Dense(self.width, inner), mixing, "channel_mix_receptance" in shapes)

    def _time6(self, shapes: Shapes, kept: Layer) -> TimeMix6:
        wide = _out(shapes, "time_mix_key")
        return TimeMix6(
            self.width, _out(shapes, "time_mix_w1") // 5, _out(shapes, "time_mix_decay_w1"), kept.state,
            wide if wide < self.width else 0, "time_mix_first" not in shapes,
        )  # fmt: skip

    def _time7(self, number: int, shapes: Shapes, kept: Layer) -> TimeMix7:
        return TimeMix7(
            self.width, _out(shapes, "time_mix_w1"), _out(shapes, "time_mix_a1"), _out(shapes, "time_mix_v1"),
            _out(shapes, "time_mix_g1"), kept.state, number == 0, "time_mix_ln" in shapes,
        )  # fmt: skip


def _in(shapes: Shapes, name: str) -> int:
    """The width of what a matrix reads, or of a vector; 0 where there is none."""
    shape = shapes.get(name, ())
    return shape[0] if shape else 0


def _out(shapes: Shapes, name: str) -> int:
    """The width of what a matrix gives; 0 where there is no such matrix."""
    shape = shapes.get(name, ())
    return shape[-1] if len(shape) >= 2 else 0


def _gate(shapes: Shapes, name: str, joined: bool) -> str:
    if name in shapes:
        return "own"
    return "joined" if joined else "none"
