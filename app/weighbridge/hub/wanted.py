"""Which files of a repository a pull takes: pure, but for what the reader reads.

A model is taken whole or not at all: all parts of a set, and of a folder what tells how to run it. What else lies in
the repository is left there: code is never fetched, nor is any file whose kind is not on the list below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weighbridge.base.errors import BadFile, Refused
from weighbridge.formats.architectures import Kind
from weighbridge.formats.place import CONFIG
from weighbridge.formats.recognise import recognise
from weighbridge.formats.safe_names import refusals
from weighbridge.formats.variant import UNKNOWN_FORMAT, File, Hints, Reader, Role, Variant
from weighbridge.hub.reference import Reference
from weighbridge.hub.remote import RemoteFile, Repository

DEFAULT_QUANTS = ("Q4_K_M", "Q8_0")
"""What llama.cpp takes of a repository where nothing is told (`common/download.cpp`); after these, the first."""

WEIGHTS = (".gguf", ".safetensors", ".xml")
BESIDE = (".json", ".jsonl", ".jinja", ".txt", ".model", ".tiktoken")
"""The kinds of files that are fetched. `.bin` is a pickle, but for OpenVINO's, beside its `.xml`."""

_ONNX = re.compile(r"\.onnx(?:[._]data(?:[._-]?\d+)?)?$", re.IGNORECASE)
"""A graph, or the file beside it that holds its weights."""

_LEFT = ("measurement", "trainer_state", "training_args")
"""Beginnings of names beside weights that only their maker needed."""

_HELPERS = frozenset({Kind.ADAPTER, Kind.DRAFT, Kind.IMATRIX, Kind.PROJECTION})
_NOT_FETCHED = frozenset({UNKNOWN_FORMAT, "diffusers", "pickle"})
MAX_NAMED = 60


@dataclass(frozen=True)
class Wanted:
    """The files of one model, and of what helps it, in the order in which they are fetched."""

    repository: Repository
    variant: Variant
    files: tuple[RemoteFile, ...]

    @property
    def size_bytes(self) -> int:
        """The sum of all files."""
        return sum(file.size_bytes for file in self.files)

    @property
    def label(self) -> str:
        """What tells it from the others of its repository: its quantisation, else its name."""
        return self.variant.label or self.variant.name


def variants_of(repository: Repository, reader: Reader | None = None) -> tuple[Variant, ...]:
    """What there is to fetch in `repository`, with what is wrong with each."""
    files = [File(file.path, file.size_bytes) for file in repository.files]
    hints = Hints(repository.id, repository.revision, frozenset(repository.tags))
    return recognise(files, reader, hints)


def wanted(
    repository: Repository, reference: Reference, reader: Reader | None = None, with_projector: bool = False
) -> Wanted:
    """The files that `reference` means. `with_projector`: the file by which the model sees pictures, too.

    Raises what is wrong with the variant that is meant (parts missing, a pickle, an unsafe name); and
    Refused("hub.nothing_to_fetch"), Refused("hub.no_quant"), Refused("hub.several"), Refused("hub.no_file_there") or
    Refused("hub.no_projector") with what there is; Refused("hub.kind_refused").
    """
    variant = chosen(variants_of(repository, reader), reference)
    return files_of(variant, repository, refusals(file.path for file in repository.files), with_projector)


def files_of(
    variant: Variant, repository: Repository, refused: Mapping[str, BadFile], with_projector: bool = False
) -> Wanted:
    """The files of `variant`. `refused` are the names that are not safe to write. Raises what `wanted` does."""
    if variant.problem is not None:
        raise variant.problem
    if variant.format in _NOT_FETCHED:
        raise Refused("hub.nothing_to_fetch", repo_id=repository.id)
    paths = [*(file.path for file in variant.files), *_beside(variant, repository)]
    paths.sort(key=_is_known_by)
    if with_projector:
        paths.append(_projector(variant, repository.id).path)
    return Wanted(repository, variant, _checked(paths, repository, refused))


def chosen(variants: Sequence[Variant], reference: Reference) -> Variant:
    """The one of `variants` that `reference` means."""
    if all(variant.format in _NOT_FETCHED for variant in variants):
        problem = next((variant.problem for variant in variants if variant.problem is not None), None)
        if problem is not None and problem.code != "model.nothing_here":
            raise problem
        raise Refused("hub.nothing_to_fetch", repo_id=reference.repo_id)
    offered = [variant for variant in variants if variant.format not in _NOT_FETCHED]
    if reference.file is not None:
        return _by_file(offered, reference)
    if reference.quant is not None:
        return _by_quant(offered, reference)
    return _by_default(offered, reference)


def name_of(variant: Variant) -> str:
    """What a person says to mean `variant` and no other of its repository."""
    return variant.label or variant.name or variant.format


def _by_file(offered: Sequence[Variant], reference: Reference) -> Variant:
    """The variant that a file belongs to, or that lies in a folder of that name."""
    meant = reference.file or ""
    found = [variant for variant in offered if any(file.path == meant for file in variant.files)]
    found = found or [variant for variant in offered if variant.folder == meant.rstrip("/")]
    if not found:
        there = [file.path for variant in offered for file in variant.files]
        raise Refused("hub.no_file_there", repo_id=reference.repo_id, file=meant, there=there[:MAX_NAMED])
    return _only(found, reference)


def _by_quant(offered: Sequence[Variant], reference: Reference) -> Variant:
    meant = _folded(reference.quant or "")
    ways = (
        [variant for variant in offered if _folded(variant.label or "") == meant],
        [
            variant
            for variant in offered
            if meant in (_folded(variant.name), _folded(variant.folder.rpartition("/")[2]))
        ],
        [variant for variant in offered if _folded(variant.label or "").startswith(meant)],
    )
    found = next((way for way in ways if way), None)
    if found is None:
        there = list(dict.fromkeys(map(name_of, offered)))[:MAX_NAMED]
        raise Refused("hub.no_quant", repo_id=reference.repo_id, quant=reference.quant, there=there)
    models = [variant for variant in found if variant.kind not in _HELPERS]
    return _only(models or found, reference)


def _by_default(offered: Sequence[Variant], reference: Reference) -> Variant:
    """As llama.cpp picks among GGUF files; of folders, the one at the top, or the only one."""
    sound = [variant for variant in offered if variant.problem is None] or list(offered)
    models = [variant for variant in sound if variant.kind not in _HELPERS] or sound
    ggufs = [variant for variant in models if variant.format == "gguf"]
    if ggufs:
        tagged = (variant for quant in DEFAULT_QUANTS for variant in ggufs if variant.label == quant)
        return next(tagged, ggufs[0])
    top = [variant for variant in models if not variant.folder]
    return _only(top or models, reference)


def _only(found: Sequence[Variant], reference: Reference) -> Variant:
    if len(found) == 1:
        return found[0]
    there = [variant.files[0].path if variant.format in ("gguf", "onnx") else variant.folder for variant in found]
    raise Refused("hub.several", repo_id=reference.repo_id, there=there[:MAX_NAMED])


def _folded(text: str) -> str:
    return "".join(text.casefold().split())


def _beside(variant: Variant, repository: Repository) -> list[str]:
    """Of a folder's model what tells how to run it; a GGUF file tells that itself."""
    if variant.format == "gguf":
        return []
    weights = {file.path for file in variant.files}
    there = (File(file.path) for file in repository.by_folder.get(variant.folder, ()))
    return sorted(file.path for file in there if file.path not in weights and tells_of_weights(file.name))


def tells_of_weights(name: str) -> bool:
    """Whether a file of this name, beside the weights of a folder, is of use to who runs them."""
    return name.lower().endswith(BESIDE) and not name.startswith(_LEFT)


def _is_known_by(path: str) -> int:
    """What comes last: a folder without it is no model to anyone."""
    return int(path.endswith((".onnx", ".xml"))) + 2 * int(path.rpartition("/")[2] == CONFIG)


def _projector(variant: Variant, repo_id: str) -> File:
    found = [companion.file for companion in variant.companions if companion.role is Role.PROJECTOR]
    if not found:
        raise Refused("hub.no_projector", repo_id=repo_id, name=name_of(variant))
    return found[0]


def _checked(paths: Sequence[str], repository: Repository, refused: Mapping[str, BadFile]) -> tuple[RemoteFile, ...]:
    """The files at `paths`: each of a kind that is fetched, and of a name that is safe to write."""
    for path in paths:
        if path in refused:
            raise refused[path]
        if not is_fetched(path, paths):
            raise Refused("hub.kind_refused", repo_id=repository.id, name=path)
    return tuple(repository.by_path[path] for path in paths)


def is_fetched(path: str, together: Iterable[str]) -> bool:
    """Whether a file is of a kind that is written here, given what is fetched `together` with it."""
    lowered = path.lower()
    if lowered.endswith(".bin"):
        return f"{path[:-4]}.xml" in together
    return lowered.endswith((*WEIGHTS, *BESIDE)) or _ONNX.search(path) is not None
