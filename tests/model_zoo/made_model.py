"""Models of which only the header is made: true hyper-parameters and tensor shapes, and no weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import prod

from tests.formats.made_gguf import gguf, tensor

from weighbridge.formats.ggml_types import tensor_bytes
from weighbridge.formats.gguf import read_header
from weighbridge.formats.model import ModelInfo, model_info
from weighbridge.formats.source import BytesSource

F32, F16, Q8_0, Q4_K, I32 = 0, 1, 8, 12, 26
ALIGNMENT = 32
MATRIX = 2
_SMALL = ("norm", "bias", "ssm_a", "ssm_d", "conv", "lerp", "time_mix_first", "_ape", "sinks", "rel_b", "hc_", "scale")
"""What a name contains whose tensor is never quantised."""

Shapes = dict[str, tuple[int, ...]]


@dataclass
class Made:
    """A model in the making. The keys are without the architecture's prefix, unless they have a dot-less "general"."""

    name: str
    architecture: str
    keys: dict[str, object]
    tensors: Shapes = field(default_factory=dict)

    def block(self, number: int, *parts: Shapes) -> None:
        """Add the tensors of one layer."""
        for part in parts:
            self.tensors.update({f"blk.{number}.{name}": shape for name, shape in part.items()})

    def header(self) -> bytes:
        """The header as it would stand in a file; the weights would follow."""
        general = {"general.architecture": self.architecture, "general.name": self.name}
        own = {f"{self.architecture}.{key}": value for key, value in self.keys.items() if not _global(key)}
        rest = {key: value for key, value in self.keys.items() if _global(key)}
        return gguf({**general, **own, "tokenizer.ggml.model": "no_vocab", **rest}, list(self._records()))

    def file_bytes(self) -> int:
        """How long the whole file would be."""
        weights = sum(_padded(_bytes(shape, type_of(name, shape))) for name, shape in self.tensors.items())
        return _padded(len(self.header())) + weights

    def info(self) -> ModelInfo:
        """What the program reads of it."""
        return model_info(read_header(BytesSource.start_of(self.header()), full=True), self.name)

    def _records(self) -> Iterator[bytes]:
        offset = 0
        for name, shape in self.tensors.items():
            type_id = type_of(name, shape)
            yield tensor(name, shape, type_id, offset)
            offset += _padded(_bytes(shape, type_id))


def made(name: str, architecture: str, vocabulary: int, tied: bool = False, **keys: object) -> Made:
    """A model without layers yet. Underscores of `keys` that stand for dots are written as two."""
    written = {key.replace("__", "."): value for key, value in keys.items()}
    width = written["embedding_length"]
    assert isinstance(width, int)
    norm = {"attention.layer_norm_rms_epsilon": 1e-6, "attention.layer_norm_epsilon": 1e-6}
    model = Made(name, architecture, {"context_length": 1 << 20, **norm, "vocab_size": vocabulary, **written})
    model.tensors = {"token_embd.weight": (width, vocabulary), "output_norm.weight": (width,)}
    if not tied:
        model.tensors["output.weight"] = (width, vocabulary)
    return model


def weights(**shapes: Iterable[int]) -> Shapes:
    """Tensors whose names end in ".weight"."""
    return {f"{name}.weight": tuple(shape) for name, shape in shapes.items()}


def type_of(name: str, shape: tuple[int, ...]) -> int:
    """The type that a converter could give to a tensor: a simple mix."""
    if name.endswith("tid2eid.weight"):
        return I32
    if len(shape) < MATRIX or shape[0] == 1 or any(mark in name for mark in _SMALL):
        return F32
    if shape[0] % 256 == 0:
        return Q4_K
    return Q8_0 if shape[0] % 32 == 0 else F16


def _bytes(shape: tuple[int, ...], type_id: int) -> int:
    size = tensor_bytes(type_id, shape)
    assert size is not None, (type_id, shape, prod(shape))
    return size


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _global(key: str) -> bool:
    """Whether a key stands in a file without the architecture's name before it."""
    return key.startswith(("tokenizer.", "xielu."))
