"""Folders that are models as a whole: which there are among the files found, and what their configs say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.errors import BadFile
from weighbridge.formats.folder_info import brief_folder_info, whole_config
from weighbridge.formats.genai_config import GENAI
from weighbridge.formats.gguf_variants import is_gguf
from weighbridge.formats.local import local_json, local_tensors
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.quantisation import Config
from weighbridge.formats.recognise import is_model_folder, recognise
from weighbridge.formats.safetensors import SafetensorsHeader
from weighbridge.formats.variant import UNKNOWN_FORMAT, File, Hints, Reader, Variant
from weighbridge.library.files import Found

_SNAPSHOTS = "snapshots"
_REPOSITORY = re.compile(r"models--(?:(?P<owner>.+)--)?(?P<name>.+)")
_SIZE_ALONE = re.compile(r"[\d._]+(?:[-_ ]?bpw)?(?:[-_ ]?h\d+)?(?:[-_]\w+)?", re.IGNORECASE)


@dataclass(frozen=True)
class FolderModel:
    """A model in a folder: what it is, what its config says, its weights, and all files that tell of it."""

    path: Path
    title: str
    variant: Variant
    info: ModelInfo
    parts: tuple[Path, ...]
    files: tuple[Found, ...]


def model_folders(files: Sequence[Found]) -> Iterator[tuple[Path, tuple[Found, ...]]]:
    """The folders among those of `files` that are models as a whole, each with all files in and below it."""
    by_folder: dict[Path, list[Found]] = {}
    for file in files:
        by_folder.setdefault(file.path.parent, []).append(file)
    tops: dict[Path, list[Found]] = {}
    for folder, found in sorted(by_folder.items()):
        top = next((above for above in (folder, *folder.parents) if above in tops), None)
        if top is not None:
            tops[top] += found
        elif is_model_folder(file.path.name for file in found):
            tops[folder] = list(found)
    yield from ((top, tuple(found)) for top, found in tops.items())


def models_of(top: Path, files: Sequence[Found]) -> list[FolderModel]:
    """The models in the folder `top`, most often one; GGUF files in it are told elsewhere."""
    rest = [file for file in files if not is_gguf(file.path.name)]
    wanted = [variant for variant in recognise_folder(top, rest) if _is_row(variant, top)]
    return [_model(top, variant, rest) for variant in wanted]


def recognise_folder(top: Path, files: Sequence[Found]) -> tuple[Variant, ...]:
    """What the files in and below the folder `top` are."""
    listed = [File(file.path.relative_to(top).as_posix(), file.size_bytes) for file in files]
    return recognise(listed, reader_of(top), Hints(repository=folder_title(top), local=True))


def reader_of(top: Path) -> Reader:
    """Looks into the files below `top`, but for those that cost more than they tell a listing."""

    def json(path: str) -> Mapping[str, object] | None:
        return local_json(top / path)

    def tensors(path: str) -> SafetensorsHeader | None:
        return local_tensors(top / path)

    return Reader(json=json, tensors=tensors)


def folder_title(folder: Path) -> str:
    """What a folder's model is called: by the folder, or by those above where its own name says little.

    "8.00bpw" below "My-Model" is "My-Model-8.00bpw"; a snapshot in the Hub's cache bears its repository's name.
    """
    repository = _REPOSITORY.fullmatch(folder.parent.parent.name)
    if folder.parent.name == _SNAPSHOTS and repository:
        return repository["name"]
    if _SIZE_ALONE.fullmatch(folder.name) and folder.parent.name:
        return f"{folder_title(folder.parent)}-{folder.name}"
    return folder.name


def repository_of(path: Path) -> str | None:
    """OWNER/NAME of the repository in whose snapshot, in the Hub's cache, `path` lies; None elsewhere."""
    for folder in path.parents:
        found = _REPOSITORY.fullmatch(folder.parent.name) if folder.name == _SNAPSHOTS else None
        if found:
            return "/".join(part for part in (found["owner"], found["name"]) if part)
    return None


def _is_row(variant: Variant, top: Path) -> bool:
    """Graphs of ONNX are models only with the files of onnxruntime-genai; pickles and nothing are none."""
    if variant.format == "onnx":
        return (top / variant.folder / GENAI).exists()
    return variant.format not in (UNKNOWN_FORMAT, "pickle", "gguf")


def _model(top: Path, variant: Variant, files: Sequence[Found]) -> FolderModel:
    path = top / variant.name if variant.name else top
    title = folder_title(top) + (f"-{variant.name.replace('/', '-')}" if variant.name else "")
    parts = tuple(top / file.path for file in variant.files)
    mine = tuple(file for file in files if file.path in parts or file.path.parent == path)
    return FolderModel(path, title, variant, brief_folder_info(variant, _config(path)), parts, mine)


def _config(path: Path) -> Config:
    def read(name: str) -> Config | None:
        return local_json(path / name)

    try:
        return whole_config(read)
    except BadFile:
        return {}
