"""Files and folders dragged onto the window: taken wherever they fall, but for fields that take text."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget


class Dropping(QObject):
    """Watches `window`; `dropped` tells a list of Paths."""

    dropped = Signal(object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What is dragged is looked at as it comes in, and taken as it falls. It is never moved."""
        kind = event.type()
        if kind in (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop) and isinstance(event, QDropEvent):
            paths = local_paths(event.mimeData())
            if paths:
                event.setDropAction(Qt.DropAction.CopyAction)
                event.accept()
                if kind == QEvent.Type.Drop:
                    self.dropped.emit(paths)
                return True
        return super().eventFilter(watched, event)


def local_paths(data: QMimeData) -> list[Path]:
    """The files and folders on this machine that are dragged; addresses of others are left out."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile() and url.toLocalFile()]
