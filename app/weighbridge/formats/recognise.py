"""What there is to load in a place: a folder here, or a repository on the Hub. Pure, but for what the reader reads.

The order in which formats are looked for, and which of several claims is believed, comes from looking at real
repositories: a config is believed before a name, and what only a name tells is marked as guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weighbridge.base.errors import BadFile, NotFound
from weighbridge.formats.exl_names import exl_of_names
from weighbridge.formats.folder_variants import folder_variant
from weighbridge.formats.genai_config import GENAI
from weighbridge.formats.gguf_variants import gguf_variants, is_gguf
from weighbridge.formats.other_variants import (
    PIPELINE,
    diffusers_variant,
    onnx_variants,
    openvino_variant,
    pickle_variant,
)
from weighbridge.formats.place import CONFIG, Folder, folders_of, is_below
from weighbridge.formats.safe_names import refusals
from weighbridge.formats.variant import UNKNOWN_FORMAT, File, Hints, Reader, Variant

_WEIGHTS = {".gguf": "gguf", ".onnx": "onnx", ".safetensors": "safetensors"}
_EXL_TAGS = ("exl3", "exl2")


def recognise(files: Iterable[File], reader: Reader | None = None, hints: Hints | None = None) -> tuple[Variant, ...]:
    """The models among `files`, GGUF first, then by folder; never none: an empty place is told as such.

    `files` are all of a place, with paths below it. `reader` looks into the small ones, and `hints` tell what is known
    beside them. A file whose name is not safe to write is refused by itself, unless it is here already. Weights that
    belong to a model found in a folder above (another copy, a part for another engine) are left out.
    """
    reader, hints = reader or Reader(), hints or Hints()
    listed = list(files)
    refused = {} if hints.local else refusals(file.path for file in listed)
    safe = [file for file in listed if file.path not in refused]
    unsafe = [
        Variant(
            _WEIGHTS[file.name[file.name.rfind(".") :].lower()], file.stem, files=(file,), problem=refused[file.path]
        )
        for file in listed
        if file.path in refused and file.name[file.name.rfind(".") :].lower() in _WEIGHTS
    ]
    folders = folders_of(safe, reader, hints)
    found = [
        *gguf_variants((file for file in safe if is_gguf(file.path)), reader, hints),
        *_of_folders(folders),
        *unsafe,
    ]
    return tuple(found) or (pickle_variant(folders) or _nothing(folders, hints),)


def is_model_folder(names: Iterable[str]) -> bool:
    """Whether a folder with files of these `names` is a model as a whole, with all that lies below it."""
    known = set(names)
    if known & {PIPELINE, GENAI}:
        return True
    weights = any(name.endswith((".safetensors", ".safetensors.index.json")) for name in known)
    graphs = any(name.endswith(".xml") and f"{name[:-4]}.bin" in known for name in known)
    return (CONFIG in known and weights) or graphs


def _of_folders(folders: Sequence[Folder]) -> list[Variant]:
    found: list[Variant] = []
    taken: list[Folder] = []
    pipelines = [folder.path for folder in folders if PIPELINE in folder.names]
    for folder in folders:
        if PIPELINE in folder.names:
            found.append(diffusers_variant(folder, folders))
        elif not any(is_below(folder.path, top) for top in pipelines) and not _is_extra(folder, taken):
            variants = _of_folder(folder)
            found += variants
            taken += [folder] if variants else []
    return found


def _of_folder(folder: Folder) -> list[Variant]:
    made = [folder_variant(folder), openvino_variant(folder), *onnx_variants(folder)]
    return [variant for variant in made if variant is not None]


def _is_extra(folder: Folder, taken: Sequence[Folder]) -> bool:
    """Another copy of a model's weights, or a part of it: below a model, and without a model's config of its own."""
    if not any(is_below(folder.path, above.path) for above in taken) or folder.ending(".onnx", ".xml"):
        return False
    try:
        return not (folder.json(CONFIG) or {}).get("model_type")
    except BadFile:
        return True


def _nothing(folders: Sequence[Folder], hints: Hints) -> Variant:
    """What to say of a place without weights: those of EXL models lie on branches, one for each size."""
    tagged = next((tag for tag in _EXL_TAGS if tag in hints.tags), None)
    method = tagged or exl_of_names([hints.repository]).method
    measured = any(name.startswith("measurement") and name.endswith(".json") for top in folders for name in top.names)
    if not hints.local and (method or measured):
        return Variant(method or UNKNOWN_FORMAT, "", problem=NotFound("model.other_branches"), guessed=tagged is None)
    return Variant(UNKNOWN_FORMAT, "", problem=NotFound("model.nothing_here"))
