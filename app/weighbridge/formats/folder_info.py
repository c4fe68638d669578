"""A folder of weights as `ModelInfo`: by its config alone, then with the tables of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from weighbridge.formats.architectures import Kind
from weighbridge.formats.config_counts import reckoned
from weighbridge.formats.configs import config_info
from weighbridge.formats.folder_variants import BESIDE
from weighbridge.formats.genai_config import GENAI, as_config
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.packed import Packing, held
from weighbridge.formats.place import CONFIG
from weighbridge.formats.quantisation import Config, quantisation
from weighbridge.formats.variant import Variant


def whole_config(read: Callable[[str], Config | None]) -> Config:
    """config.json, with the quantisation that only a file beside it tells; where there is none, what stands in its
    place for ONNX Runtime GenAI. `read` gives the object in a file.
    """
    config = read(CONFIG) or as_config(read(GENAI) or {})
    for name in BESIDE if quantisation(config, ()) is None else ():
        told = read(name)
        if told and quantisation({}, [told]) is not None:
            return {**config, "quantization_config": told}
    return config


def brief_folder_info(variant: Variant, config: Config) -> ModelInfo:
    """What `config` says of the model that `variant` is; parameters are reckoned where its family is known well."""
    info = config_info(config, variant.format, variant.kind, variant.label, guessed=variant.guessed)
    counts = reckoned(config)
    return replace(
        info,
        parameters=counts.parameters,
        active_parameters=counts.active,
        bits_per_weight=variant.bits_per_weight,
    )


def with_tensors(info: ModelInfo, tensors: Sequence[Tensor]) -> ModelInfo:
    """`info` with its tensors: parameters and bits for each weight are then counted, and no longer reckoned."""
    told = quantisation(info.config, ())
    packing = Packing(told.packed_bits, told.by_module) if told else Packing()
    experts = (info.experts, info.experts_used) if info.experts and info.experts_used else None
    counts = held(tensors, packing, info.layers, experts, generates=info.kind in (Kind.CHAT, Kind.UNKNOWN))
    size_bytes = sum(tensor.size_bytes or 0 for tensor in tensors)
    parameters = counts.parameters or info.parameters
    return replace(
        info,
        tensors=tuple(tensors),
        parameters=parameters,
        active_parameters=counts.active if counts.parameters else info.active_parameters,
        bits_per_weight=size_bytes * 8 / parameters if parameters else info.bits_per_weight,
    )
