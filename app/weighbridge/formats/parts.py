"""The whole of a GGUF model: the headers of all its parts, read in full and joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePath

from weighbridge.base.errors import BadFile
from weighbridge.formats.gguf import Header, Value, read_header
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.model import ModelInfo, model_info
from weighbridge.formats.source import FileSource

_NUMBER, _COUNT, _TENSORS = "split.no", "split.count", "split.tensors.count"


def full_info(paths: Sequence[Path], check: Callable[[], None] = lambda: None) -> ModelInfo:
    """What the GGUF model in `paths` (one file, or all parts of a set in their order) says, tensors included.

    Reads each header in full, up to 64 MiB. `check` is called before each part; what it raises ends the reading. Raises
    BadFile as `read_header` does, and "model.parts_differ" where the files are not the parts of one model.
    """
    headers: list[Header] = []
    for path in paths:
        check()
        with FileSource(path) as source:
            headers.append(read_header(source, full=True))
    return joined_info(headers, [path.name for path in paths])


def joined_info(headers: Sequence[Header], names: Sequence[str]) -> ModelInfo:
    """What the whole headers of a file, or of all parts of a set, say together; `names` are those of the files.

    Raises BadFile("model.parts_differ") where they are not the parts of one model.
    """
    whole = headers[0] if len(headers) == 1 else _joined(headers, names)
    return model_info(whole, PurePath(names[0]).stem)


def _joined(headers: Sequence[Header], names: Sequence[str]) -> Header:
    for place, (header, name) in enumerate(zip(headers, names, strict=True)):
        if header.metadata.get(_NUMBER) != place or header.metadata.get(_COUNT) != len(headers):
            raise BadFile("model.parts_differ", name=name)
    tensors = tuple(chain.from_iterable(header.tensors or () for header in headers))
    told = headers[0].metadata.get(_TENSORS)
    if told is not None and told != len(tensors):
        raise BadFile("model.parts_differ", name=names[0])
    _check_names(tensors)
    return replace(headers[0], metadata=_without_split(headers[0]), tensors=tensors, tensor_count=len(tensors))


def _check_names(tensors: Sequence[Tensor]) -> None:
    seen: set[str] = set()
    for tensor in tensors:
        if tensor.name in seen:
            raise BadFile("gguf.duplicate_tensor", tensor=tensor.name)
        seen.add(tensor.name)


def _without_split(header: Header) -> dict[str, Value]:
    """What holds for the whole set: the keys without those that make a file a part."""
    return {key: value for key, value in header.metadata.items() if key not in (_NUMBER, _COUNT, _TENSORS)}
