"""The table of tensors that EXL3's converter writes beside its weights: exact sizes, before a weight is fetched."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from weighbridge.base.printable import printable
from weighbridge.formats.dtypes import BY_NAME, UNKNOWN
from weighbridge.formats.gguf_tensors import MAX_DIMENSIONS, MAX_ELEMENTS, MAX_TENSORS, Tensor
from weighbridge.formats.quantisation import whole

STORAGE = "quantization_config.json"
_TYPES = {
    "bfloat16": "BF16",
    "float16": "F16",
    "float32": "F32",
    "int16": "I16",
    "int32": "I32",
    "int8": "I8",
    "uint8": "U8",
}


def storage_tensors(storage: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """The tensors in `tensor_storage`, each once; what is not told soundly is left out. None of them has an offset."""
    modules = storage.get("tensor_storage")
    found: dict[str, Tensor] = {}
    for module in modules.values() if isinstance(modules, Mapping) else ():
        stored = module.get("stored_tensors") if isinstance(module, Mapping) else None
        for name, told in stored.items() if isinstance(stored, Mapping) else ():
            tensor = _tensor(name, told)
            if tensor is not None and len(found) < MAX_TENSORS:
                found[name] = tensor
    return tuple(found.values())


def _tensor(name: str, told: object) -> Tensor | None:
    if not isinstance(told, Mapping):
        return None
    shape, size, dtype = told.get("shape"), whole(told.get("n_bytes"), MAX_ELEMENTS), told.get("dtype")
    if size is None or not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        return None
    lengths = [whole(each, MAX_ELEMENTS) for each in shape]
    if None in lengths or prod(length or 0 for length in lengths) > MAX_ELEMENTS:
        return None
    type_id = BY_NAME.get(_TYPES.get(str(dtype).removeprefix("torch."), ""), UNKNOWN)
    return Tensor(printable(name), type_id, tuple(length or 0 for length in lengths), 0, size)
