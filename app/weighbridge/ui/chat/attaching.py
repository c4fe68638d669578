"""Pictures on their way into a message: chosen, dropped or pasted, made small off the GUI thread."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QColor, QImage, QImageReader, QImageWriter, QPainter
from PySide6.QtWidgets import QFileDialog, QWidget

from weighbridge.base.errors import Cancelled, Refused
from weighbridge.base.pictures import MOST_BYTES
from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.chat.conversation import Attached
from weighbridge.chat.picture_files import picture_file
from weighbridge.ui.background import Background
from weighbridge.ui.dropping import local_paths

LONGEST_SIDE = 2048
"""Pixels: no model that runs here looks at more."""
MOST_KEPT_BYTES = 8 << 20
MOST_PNG_BYTES = 1 << 20
"""What is larger as a PNG is a photograph: it is kept as a JPEG."""
ENDINGS = (".png", ".jpg", ".jpeg")
_QUALITY = 90

Offered = Path | QImage


def offered_in(data: QMimeData) -> list[Offered]:
    """The pictures among what is dropped or pasted; empty where there are none."""
    files = [path for path in local_paths(data) if path.suffix.lower() in ENDINGS]
    if files:
        return list(files)
    image = data.imageData() if data.hasImage() else None
    return [image] if isinstance(image, QImage) and not image.isNull() else []


def attached(offered: Offered) -> Attached:
    """What is kept of it: upright, without what a camera wrote beside it, no side longer than LONGEST_SIDE.

    Raises Refused with a "picture." code.
    """
    name, image = (offered.name, _decoded(offered)) if isinstance(offered, Path) else ("", offered)
    if max(image.width(), image.height()) > LONGEST_SIDE:
        ratio, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        image = image.scaled(LONGEST_SIDE, LONGEST_SIDE, ratio, smooth)
    kind, data = "png", _encoded(image, "PNG", -1)
    if len(data) > MOST_PNG_BYTES:
        kind, data = "jpeg", _encoded(_on_white(image), "JPEG", _QUALITY)
    if not 0 < len(data) <= MOST_KEPT_BYTES:
        raise Refused("picture.too_large", path=name, limit_bytes=MOST_KEPT_BYTES)
    return Attached(data, kind, image.width(), image.height(), name)


def _decoded(path: Path) -> QImage:
    data, _ = picture_file(path, MOST_BYTES)
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    image = reader.read()
    if image.isNull():
        raise Refused("picture.unreadable", path=str(path), reason=reader.errorString())
    return image


def _on_white(image: QImage) -> QImage:
    """A JPEG has nothing that could be seen through."""
    made = QImage(image.size(), QImage.Format.Format_RGB32)
    made.fill(QColor("white"))
    painter = QPainter(made)
    painter.drawImage(0, 0, image)
    painter.end()
    return made


def _encoded(image: QImage, kind: str, quality: int) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, kind.encode())
    writer.setQuality(quality)
    writer.write(image)
    return bytes(buffer.data().data())


class Attaching(QObject):
    """Makes pictures ready; `ready` tells an Attached, `refused` why there is none."""

    ready = Signal(object)
    refused = Signal(object)

    def __init__(self, background: Background, parent: QWidget) -> None:
        super().__init__(parent)
        self._background = background
        self._owner = parent

    def choose(self) -> None:
        """Ask for files."""
        patterns = " ".join(f"*{ending}" for ending in ENDINGS)
        title = text("Attach a picture")
        chosen, _ = QFileDialog.getOpenFileNames(self._owner, title, "", text("Pictures ({endings})", endings=patterns))
        self.take([Path(name) for name in chosen])

    def take(self, offered: Sequence[Offered]) -> None:
        """Make them ready, one by one."""
        for one in offered:
            self._background.run(partial(_work, one), self.ready.emit, self._fail)

    def _fail(self, error: BaseException) -> None:
        if not isinstance(error, Cancelled):
            self.refused.emit(error)


def _work(offered: Offered, task: Task) -> Attached:
    task.check()
    return attached(offered)
