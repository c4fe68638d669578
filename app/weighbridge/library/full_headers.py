"""Full headers: read once, then kept in memory and on disk for as long as the files stay as they are.

On disk each is a small file, named by what it was read from (paths, sizes, times of change), so that nothing in it need
be believed for another model. A damaged entry, or a folder that cannot be written to, costs time and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from weighbridge.base.errors import BadFile
from weighbridge.base.kept_files import KeptFiles
from weighbridge.formats.digest import MAX_BYTES, pack, unpack
from weighbridge.formats.folder_info import with_tensors
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.local import has_chat_template, local_tensors
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.parts import full_info
from weighbridge.library.model import Model

ENDING = ".header"
KEPT_FILES, KEPT_BYTES = 4_000, 256 << 20
_NO_TABLE = frozenset({"diffusers", "echo", "onnx", "openvino"})


def has_table(model: Model) -> bool:
    """Whether the model's files hold a table of tensors that can be read."""
    return model.format not in _NO_TABLE and bool(model.parts) and model.problem is None


class FullHeaders:
    """Full headers by the stamp of their files. Safe to use from any thread. `folder` None: kept in memory alone."""

    def __init__(self, folder: Path | None = None) -> None:
        self._kept = KeptFiles(folder, ENDING, KEPT_FILES, KEPT_BYTES)
        self._lock = threading.Lock()
        self._known: dict[str, ModelInfo | BadFile] = {}

    def known(self, stamp: str) -> ModelInfo | BadFile | None:
        """What was read before, in this run or an earlier one: a header, or why it cannot be read."""
        with self._lock:
            answer = self._known.get(stamp)
        if answer is None:
            answer = self._load(stamp)
            if answer is not None:
                self._remember(stamp, answer)
        return answer

    def read(self, model: Model, stamp: str | None, check: Callable[[], None]) -> ModelInfo:
        """The full header of `model`, read now, and kept where its files have a `stamp`.

        `check` is called between the files. Raises BadFile.
        """
        try:
            info = read_in_full(model, check)
        except BadFile as error:
            self._remember(stamp, error)
            raise
        self._remember(stamp, info)
        if stamp is not None:
            self._kept.store(stamp, pack(info))
        return info

    def keep_only(self, stamps: set[str]) -> None:
        """Forget, in memory, all others."""
        with self._lock:
            self._known = {stamp: known for stamp, known in self._known.items() if stamp in stamps}

    def tidy(self) -> None:
        """Delete from disk what was used longest ago, where there is more than enough."""
        self._kept.tidy()

    def _remember(self, stamp: str | None, answer: ModelInfo | BadFile) -> None:
        if stamp is not None:
            with self._lock:
                self._known[stamp] = answer

    def _load(self, stamp: str) -> ModelInfo | None:
        content = self._kept.load(stamp, MAX_BYTES)
        info = unpack(content) if content is not None else None
        if content is not None and info is None:
            self._kept.drop(stamp)
        return info


def read_in_full(model: Model, check: Callable[[], None] = lambda: None) -> ModelInfo:
    """What all files of `model` say, its table of tensors included. Raises BadFile, and what `check` raises."""
    if model.format == "gguf":
        return full_info(model.parts, check)
    assert model.info is not None
    tensors: list[Tensor] = []
    for part in model.parts:
        check()
        tensors += local_tensors(part).tensors
    return replace(with_tensors(model.info, tensors), has_chat_template=has_chat_template(model.path))
