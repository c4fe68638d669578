"""How the weights of a folder of safetensors are quantised, by what its JSON files say.

The order in which the claims are looked at is that in which they are reliable: some repositories say two things at
once. Sources: the converters' own files, and configurations of published models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbridge.formats.exl_names import exl_label

Config = Mapping[str, Any]

MLX_GROUP, MLX_BITS = 64, 4
_MLX_NOMINAL = {"mxfp4": 4.25, "nvfp4": 4.5, "mxfp8": 8.25}
_OF_OTHERS = frozenset({"desc_act", "w_bit", "zero_point", "sym", "version", "calibration"})
"""Keys of GPTQ, AWQ and EXL, whose oldest files name no method."""

_PLAIN = {"bfloat16": "BF16", "float16": "F16", "float32": "F32", "half": "F16"}
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,31}")
_MOST_BITS = 64


@dataclass(frozen=True)
class Quantisation:
    """A format, its label, and the bits that the config tells: on average, and where they pack the words of a module.

    `bits_per_weight` counts scales in where the format fixes them; None is untold.
    """

    format: str
    label: str | None = None
    bits_per_weight: float | None = None
    packed_bits: int | None = None
    by_module: Mapping[str, int] = field(default_factory=dict)


def quantisation(config: Config, beside: Sequence[Config]) -> Quantisation | None:
    """What `config` (config.json) and the files `beside` it (quantize_config.json, hf_quant_config.json) tell.

    None where they tell of no quantisation.
    """
    claims = [claim for claim in (*_claims(config), *beside) if claim]
    for look in (_exl, _mlx, _modelopt, _compressed, _bitsandbytes, _grouped, _other):
        for claim in claims:
            found = look(claim)
            if found is not None:
                return found
    return None


def plain(config: Config) -> Quantisation:
    """Weights as they were trained, in the type that the config names."""
    label = next((_PLAIN[name] for name in _dtypes(config) if name in _PLAIN), None)
    bits = {"BF16": 16.0, "F16": 16.0, "F32": 32.0}.get(label or "")
    return Quantisation("safetensors", label, bits)


def number(value: object, most: float = 1 << 31) -> float | None:
    """`value` where it is a number from 0 to `most`, no truth."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if 0 <= value <= most else None


def whole(value: object, most: int = 1 << 31) -> int | None:
    """`value` where it is a whole number from 0 to `most`."""
    return value if isinstance(value, int) and number(value, most) is not None else None


def _claims(config: Config) -> list[Config]:
    """The places where a quantisation is told, in their order; MLX's own key says it plainest."""
    text = config.get("text_config")
    nested = text if isinstance(text, Mapping) else {}
    found = [
        config.get("quantization"),
        config.get("quantization_config"),
        nested.get("quantization"),
        nested.get("quantization_config"),
        config.get("compression_config"),
        nested.get("compression_config"),
    ]
    return [claim for claim in found if isinstance(claim, Mapping)]


def _dtypes(config: Config) -> list[str]:
    text = config.get("text_config")
    places = (config, text if isinstance(text, Mapping) else {})
    found = [place.get(key) for place in places for key in ("torch_dtype", "dtype")]
    return [each.removeprefix("torch.") for each in found if isinstance(each, str)]


def _method(claim: Config) -> str:
    value = claim.get("quant_method")
    return value.lower() if isinstance(value, str) else ""


def _exl(claim: Config) -> Quantisation | None:
    method, bits = _method(claim), number(claim.get("bits"), _MOST_BITS)
    if method not in ("exl2", "exl3"):
        return None
    label = exl_label(bits, number(claim.get("head_bits"), _MOST_BITS)) if bits else None
    return Quantisation(method, label, bits or None)


def _mlx(claim: Config) -> Quantisation | None:
    """MLX writes bits and the size of a group, and no method: that is how it is told from the others."""
    group, bits = whole(claim.get("group_size")), whole(claim.get("bits"), _MOST_BITS)
    if _method(claim) or _algorithm(claim) or _OF_OTHERS & claim.keys() or not group or not bits:
        return None
    mode = claim.get("mode")
    mode = mode if isinstance(mode, str) and _NAME.fullmatch(mode) else "affine"
    label = f"{bits}bit g{group}" if mode == "affine" else mode
    nominal = bits + 32 / group if mode == "affine" else _MLX_NOMINAL.get(mode)
    own = _overrides(claim)
    mixed = any(each != (bits, group, mode) for each in own.values())
    by_module = {module: override[0] for module, override in own.items()}
    return Quantisation("mlx", f"{label} mixed" if mixed else label, None if mixed else nominal, bits, by_module)


def _overrides(claim: Config) -> dict[str, tuple[int, int, str]]:
    """Modules with bits of their own; mlx-lm fills up with its defaults. One that is `false` is not quantised."""
    found: dict[str, tuple[int, int, str]] = {}
    for module, value in claim.items():
        if not isinstance(value, Mapping):
            continue
        bits = whole(value.get("bits"), _MOST_BITS) or MLX_BITS
        mode = value.get("mode")
        group = whole(value.get("group_size")) or MLX_GROUP
        found[module] = bits, group, mode if isinstance(mode, str) else "affine"
    return found


def _algorithm(claim: Config) -> str:
    """Model Optimizer's word, also where it stands one level deeper (hf_quant_config.json)."""
    inner = claim.get("quantization")
    places = (claim, inner if isinstance(inner, Mapping) else {})
    for key in ("moe_quant_algo", "quant_algo"):
        for place in places:
            value = place.get(key)
            if isinstance(value, str) and value:
                return value.upper()
    return ""


def _modelopt(claim: Config) -> Quantisation | None:
    algorithm = _algorithm(claim)
    if not algorithm:
        return None
    if algorithm == "MIXED_PRECISION":
        return _modelopt_mix(claim)
    return _by_algorithm(algorithm)


def _modelopt_mix(claim: Config) -> Quantisation:
    inner = claim.get("quantization")
    layers = claim.get("quantized_layers") or (inner.get("quantized_layers") if isinstance(inner, Mapping) else None)
    told = layers.values() if isinstance(layers, Mapping) else ()
    algorithms = {_algorithm(each) for each in told if isinstance(each, Mapping)}
    parts = sorted({_by_algorithm(each).label or each for each in algorithms if each}, reverse=True)
    if not parts:
        return Quantisation("modelopt", "mix")
    return Quantisation(parts[0].lower(), f"{'+'.join(parts)} mix" if len(parts) > 1 else parts[0])


def _by_algorithm(algorithm: str) -> Quantisation:
    for known in ("NVFP4", "MXFP4", "MXFP8", "FP8"):
        if known in algorithm:
            return Quantisation(known.lower(), known)
    return Quantisation("modelopt", algorithm[:32])


_PACKED = {"mxfp4-pack-quantized": "MXFP4", "nvfp4-pack-quantized": "NVFP4", "float-quantized": "FP8"}


def _compressed(claim: Config) -> Quantisation | None:
    if _method(claim) != "compressed-tensors":
        return None
    told = claim.get("format")
    label = _PACKED.get(told) if isinstance(told, str) else None
    if label is not None:
        return Quantisation(label.lower(), label)
    groups = claim.get("config_groups")
    group = next(iter(groups.values()), None) if isinstance(groups, Mapping) else None
    if not isinstance(group, Mapping):
        return Quantisation("compressed-tensors")
    bits = whole(_inner(group, "weights").get("num_bits"), _MOST_BITS)
    inputs = whole(_inner(group, "input_activations").get("num_bits"), _MOST_BITS) or 16
    return Quantisation("compressed-tensors", f"W{bits}A{inputs}" if bits else None, packed_bits=bits)


def _inner(values: Config, key: str) -> Config:
    found = values.get(key)
    return found if isinstance(found, Mapping) else {}


def _bitsandbytes(claim: Config) -> Quantisation | None:
    if _method(claim) != "bitsandbytes" and not claim.get("load_in_4bit") and not claim.get("load_in_8bit"):
        return None
    if claim.get("load_in_4bit") or claim.get("_load_in_4bit"):
        kind = claim.get("bnb_4bit_quant_type")
        return Quantisation("bitsandbytes", f"4bit {kind}" if kind in ("nf4", "fp4") else "4bit")
    return Quantisation("bitsandbytes", "8bit" if claim.get("load_in_8bit") else None)


def _grouped(claim: Config) -> Quantisation | None:
    """AWQ and GPTQ; in their own files beside the config, no method is named."""
    method = _method(claim) or ("gptq" if "desc_act" in claim else "awq" if "w_bit" in claim else "")
    bits = whole(claim.get("bits", claim.get("w_bit")), _MOST_BITS)
    if method not in ("awq", "gptq") or not bits:
        return None
    group = whole(claim.get("group_size", claim.get("q_group_size")))
    return Quantisation(method, f"{bits}bit g{group}" if group else f"{bits}bit", packed_bits=bits)


def _other(claim: Config) -> Quantisation | None:
    """A method by its own name: "fp8", "mxfp4", and what is new."""
    method = _method(claim)
    if not _NAME.fullmatch(method):
        return None
    bits = whole(claim.get("bits"), _MOST_BITS)
    label = method.upper() if method in ("fp8", "mxfp4", "nvfp4") else (f"{bits}bit" if bits else None)
    return Quantisation(method, label)
