"""Models out of what was recognised: single files, sets, folders; and what changes once a full header is known."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.base.errors import BadFile
from weighbridge.base.printable import printable
from weighbridge.base.task import Task
from weighbridge.formats.architectures import Kind
from weighbridge.formats.gguf_variants import FORMAT, gguf_label, gguf_variants, is_gguf
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.split import part_of_name, piece_of_name
from weighbridge.formats.variant import Companion, File, Hints, Reader, Variant
from weighbridge.library.files import Found
from weighbridge.library.folders import FolderModel, model_folders
from weighbridge.library.headers import Headers
from weighbridge.library.model import Helper, Model

MAX_ECHO_BYTES = 64 << 10


@dataclass(frozen=True)
class Row:
    """A model, what it is for, the root below which it was found, and all the files that tell of it."""

    model: Model
    kind: Kind
    root: Path
    files: tuple[Found, ...]


def rows_below(root: Path, files: Sequence[Found], headers: Headers, task: Task) -> Iterator[Row]:
    """All that is a model, or helps one, among `files`, which lie below `root`."""
    folders = list(model_folders(files))
    for done, (top, inside) in enumerate(folders):
        task.step(done, len(folders))
        yield from (folder_row(root, model) for model in headers.in_folder(top, inside))
    yield from gguf_rows(root, [file for file in files if is_gguf(file.path.name)], headers, task.check)
    yield from (echo_row(file) for file in files if file.path.suffix.lower() == ".echo")


def gguf_rows(root: Path, files: Iterable[Found], headers: Headers, check: Callable[[], None]) -> list[Row]:
    """The GGUF models in `files`, which lie below `root` and hold GGUF whatever they are called.

    `check` is called before each file is read.
    """
    found = {file.path.relative_to(root).as_posix(): file for file in files}

    def header(path: str) -> ModelInfo | BadFile:
        check()
        return headers.of(found[path])

    listed = [File(path, file.size_bytes) for path, file in found.items()]
    variants = gguf_variants(listed, Reader(header=header), Hints(local=True))
    return [_gguf_row(root, variant, found, headers) for variant in variants]


def folder_row(root: Path, found: FolderModel) -> Row:
    """A model that is a whole folder below `root`."""
    variant, title = found.variant, shown_name(found.title)
    model = Model(
        id=title,
        title=title,
        path=found.path,
        parts=found.parts,
        format=variant.format,
        quant=variant.label,
        size_bytes=variant.size_bytes or 0,
        info=found.info,
        problem=variant.problem,
        guessed=variant.guessed,
        asks_to_run_code=variant.asks_to_run_code,
    )
    return Row(model, variant.kind, root, found.files)


def echo_row(file: Found) -> Row:
    """A model of the fake engine that ships with the program for trials: a JSON object."""
    stem = shown_name(file.path.stem)
    model = Model(stem, stem, file.path, (file.path,), "echo", None, file.size_bytes)
    try:
        sound = file.size_bytes <= MAX_ECHO_BYTES and isinstance(json.loads(file.path.read_bytes()), dict)
    except (OSError, ValueError, RecursionError):
        sound = False
    told = model if sound else replace(model, problem=BadFile("model.echo"))
    return Row(told, Kind.UNKNOWN, file.folder, (file,))


def in_full(model: Model, info: ModelInfo) -> Model:
    """`model` once its full header is known: of a GGUF file, the label is looked at anew."""
    if model.format != FORMAT:
        return replace(model, info=info)
    part = part_of_name(model.path.stem)
    stem = part.stem if part else model.path.stem
    label, guessed = gguf_label(stem, model.path.parent.name, info, info.bits_per_weight)
    told = replace(info, quant=label, quant_guessed=guessed)
    return replace(model, info=told, quant=label, guessed=guessed)


def shown_name(stem: str) -> str:
    """A file's name as text that can be shown, stored and sent: file systems allow any bytes in it."""
    return printable(os.fsencode(stem).decode("utf-8", "replace"))


def _gguf_row(root: Path, variant: Variant, found: Mapping[str, Found], headers: Headers) -> Row:
    parts = tuple(found[file.path] for file in variant.files)
    answer = None if piece_of_name(parts[0].path.name) else headers.of(parts[0])
    info = None
    if isinstance(answer, ModelInfo):
        info = replace(answer, quant=variant.label, quant_guessed=variant.guessed)
    name = shown_name(variant.name)
    model = Model(
        id=name,
        title=name,
        path=parts[0].path,
        parts=tuple(file.path for file in parts),
        format=FORMAT,
        quant=variant.label,
        size_bytes=sum(file.size_bytes for file in parts),
        info=info,
        problem=variant.problem,
        companions=tuple(_helper(companion, found) for companion in variant.companions),
        guessed=variant.guessed,
    )
    return Row(model, variant.kind, root, parts)


def _helper(companion: Companion, found: Mapping[str, Found]) -> Helper:
    file = found[companion.file.path]
    return Helper(companion.role, file.path, file.size_bytes)
