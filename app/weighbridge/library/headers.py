"""Headers already read, so that a second listing costs nothing for files that did not change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weighbridge.base.errors import BadFile
from weighbridge.formats.gguf import read_header
from weighbridge.formats.model import ModelInfo, model_info
from weighbridge.formats.source import FileSource
from weighbridge.library.files import Found, stamp_of
from weighbridge.library.folders import FolderModel, models_of


class Headers:
    """Brief reads of GGUF headers, and of folders of weights, remembered by path, size and time of change. A scan that
    was given up may read on beside the next one.
    """

    def __init__(self) -> None:
        self._known: dict[Path, tuple[int, int, ModelInfo | BadFile]] = {}
        self._folders: dict[Path, tuple[str, list[FolderModel]]] = {}

    def of(self, file: Found) -> ModelInfo | BadFile:
        """What the header of `file` says, or why it could not be read."""
        known = self._known.get(file.path)
        if known is not None and known[:2] == (file.size_bytes, file.modified_ns):
            return known[2]
        answer = _read(file.path)
        self._known[file.path] = (file.size_bytes, file.modified_ns, answer)
        return answer

    def in_folder(self, top: Path, files: Sequence[Found]) -> list[FolderModel]:
        """The models that the folder `top` with all its `files` is."""
        stamp = stamp_of(files)
        known = self._folders.get(top)
        if known is None or known[0] != stamp:
            known = self._folders[top] = stamp, models_of(top, files)
        return known[1]

    def keep_only(self, paths: set[Path]) -> None:
        """Forget the files that are gone, and the folders that hold none of `paths` any more."""
        folders = {folder for path in paths for folder in path.parents}
        self._known = {path: known for path, known in list(self._known.items()) if path in paths}
        self._folders = {path: known for path, known in list(self._folders.items()) if path in folders}


def header_at(path: Path) -> ModelInfo | None:
    """A brief read of the header of a GGUF file; None where that is none."""
    answer = _read(path)
    return answer if isinstance(answer, ModelInfo) else None


def _read(path: Path) -> ModelInfo | BadFile:
    try:
        with FileSource(path) as source:
            return model_info(read_header(source), path.stem)
    except BadFile as error:
        return error
