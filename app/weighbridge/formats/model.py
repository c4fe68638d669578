"""What a model file says about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weighbridge.formats.architectures import Kind, kind_of
from weighbridge.formats.counts import active_parameters, bits_per_weight
from weighbridge.formats.gguf import TEMPLATE_KEY, Header, Value
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.keys import Keys, count_of
from weighbridge.formats.quant import believed, quant_of_header, quant_of_name
from weighbridge.formats.split import part_of_name

MAX_LAYERS = 4_096


@dataclass(frozen=True)
class ModelInfo:
    """A model's header in one shape for all formats. None is unknown, never 0.

    `heads` and `kv_heads` hold one number for each layer; `key_length` and `value_length` are elements for each head.
    `parameters` counts all experts, `active_parameters` what one token touches. `has_chat_template` and `tensors` are
    None after a brief read. `split` is (number of the part, from 1; count). `metadata` holds the keys of a GGUF file as
    they stand there; `config`, for other formats, those of its config.json, with those of the text model that a
    multimodal one nests among them. `quant_guessed`: the label is told by a name alone. `vocabulary` is how long the
    list of tokens is, which a GGUF file has; the tables of a model may be longer.
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
    config: Mapping[str, Any] = field(default_factory=dict)
    active_parameters: int | None = None
    bits_per_weight: float | None = None
    quant_guessed: bool = False
    vocabulary: int | None = None

    @property
    def full(self) -> bool:
        """Whether the table of tensors is known."""
        return self.tensors is not None


def model_info(header: Header, stem: str) -> ModelInfo:
    """What the GGUF `header` of the file `stem` says."""
    keys = Keys(header.metadata)
    part = part_of_name(stem)
    bits = bits_per_weight(header.tensors or ())
    by_name = quant_of_name(part.stem if part else stem)
    quant, guessed = believed(by_name, quant_of_header(header.metadata), bits)
    layers = keys.count("block_count", MAX_LAYERS)
    heads = keys.per_layer("attention.head_count", layers)
    embedding = keys.count("embedding_length")
    head_length = embedding // heads[0] if embedding and heads and heads[0] else None
    return ModelInfo(
        format="gguf",
        kind=kind_of(header.metadata),
        name=keys.text("general.name"),
        architecture=keys.text("general.architecture"),
        quant=quant,
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
        active_parameters=_active(header, keys, layers),
        bits_per_weight=bits,
        quant_guessed=guessed,
        vocabulary=header.vocabulary,
    )


def _split(metadata: Mapping[str, Value]) -> tuple[int, int] | None:
    """The header counts parts from 0, names count from 1."""
    number, count = count_of(metadata.get("split.no")), count_of(metadata.get("split.count"))
    return (number + 1, count) if number is not None and count is not None and count > 1 else None


def _parameters(header: Header) -> int | None:
    """The elements of all tensors, or what the header claims; a part of a set does not know those of the others."""
    if header.tensors and _split(header.metadata) is None:
        return sum(tensor.elements for tensor in header.tensors)
    return count_of(header.metadata.get("general.parameter_count"), limit=1 << 62) or None


def _active(header: Header, keys: Keys, layers: int | None) -> int | None:
    if not header.tensors or _split(header.metadata) is not None:
        return None
    loaded = layers - (keys.count("nextn_predict_layers") or 0) if layers else None
    return active_parameters(header.tensors, keys.count("expert_count"), keys.count("expert_used_count"), loaded)
