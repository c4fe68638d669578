"""What a model file says about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weighbridge.formats.architectures import Kind, kind_of
from weighbridge.formats.ggml_types import FILE_TYPES
from weighbridge.formats.gguf import TEMPLATE_KEY, Header, Value
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.keys import Keys, count_of
from weighbridge.formats.quant import quant_of_name
from weighbridge.formats.split import part_of_name

MAX_LAYERS = 4_096


@dataclass(frozen=True)
class ModelInfo:
    """A model's header in one shape for all formats. None is unknown, never 0.

    `heads` and `kv_heads` hold one number for each layer; `key_length` and `value_length` are elements for each head.
    `parameters` counts all experts. `has_chat_template` and `tensors` are None after a brief read. `split` is (number
    of the part, from 1; count). `metadata` holds the keys as they stand in the file.
    """

    format: str
    kind: Kind
    name: str | None = None
    architecture: str | None = None
    quant: str | None = None
    parameters: int | None = None
    layers: int | None = None
    context_length: int | None = None
    embedding_length: int | None = None
    heads: tuple[int, ...] | None = None
    kv_heads: tuple[int, ...] | None = None
    key_length: int | None = None
    value_length: int | None = None
    sliding_window: int | None = None
    experts: int | None = None
    experts_used: int | None = None
    license: str | None = None
    has_chat_template: bool | None = None
    tensors: tuple[Tensor, ...] | None = None
    split: tuple[int, int] | None = None
    metadata: Mapping[str, Value] = field(default_factory=dict)


def model_info(header: Header, stem: str) -> ModelInfo:
    """What the GGUF `header` of the file `stem` says. The label of the quantisation comes from the name first."""
    keys = Keys(header.metadata)
    part = part_of_name(stem)
    layers = keys.count("block_count", MAX_LAYERS)
    heads = keys.per_layer("attention.head_count", layers)
    embedding = keys.count("embedding_length")
    head_length = embedding // heads[0] if embedding and heads and heads[0] else None
    return ModelInfo(
        format="gguf",
        kind=kind_of(header.metadata),
        name=keys.text("general.name"),
        architecture=keys.text("general.architecture"),
        quant=quant_of_name(part.stem if part else stem) or _quant_of_header(header.metadata),
        parameters=_parameters(header),
        layers=layers,
        context_length=keys.count("context_length"),
        embedding_length=embedding,
        heads=heads,
        kv_heads=keys.per_layer("attention.head_count_kv", layers, missing=heads),
        key_length=keys.count("attention.key_length") or head_length,
        value_length=keys.count("attention.value_length") or head_length,
        sliding_window=keys.count("attention.sliding_window") or None,
        experts=keys.count("expert_count") or None,
        experts_used=keys.count("expert_used_count") or None,
        license=keys.text("general.license"),
        has_chat_template=TEMPLATE_KEY in header.metadata if header.complete else None,
        tensors=header.tensors,
        split=_split(header.metadata),
        metadata=header.metadata,
    )


def _quant_of_header(metadata: Mapping[str, Value]) -> str | None:
    file_type = count_of(metadata.get("general.file_type"))
    return None if file_type is None else FILE_TYPES.get(file_type)


def _split(metadata: Mapping[str, Value]) -> tuple[int, int] | None:
    """The header counts parts from 0, names count from 1."""
    number, count = count_of(metadata.get("split.no")), count_of(metadata.get("split.count"))
    return (number + 1, count) if number is not None and count is not None and count > 1 else None


def _parameters(header: Header) -> int | None:
    """The elements of all tensors, or what the header claims; a part of a set does not know those of the others."""
    if header.tensors and _split(header.metadata) is None:
        return sum(tensor.elements for tensor in header.tensors)
    return count_of(header.metadata.get("general.parameter_count"), limit=1 << 62) or None
