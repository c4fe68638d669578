"""Pictures as they stand in a message and beside what is being written: small, and named for who cannot see them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QPixmap
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from weighbridge.base.units import number
from weighbridge.base.words import text
from weighbridge.chat.conversation import Attached
from weighbridge.ui.widgets.parts import clear, row

IN_MESSAGE, IN_COMPOSER = 200, 48
"""Pixels of the longer side."""
ALL_IN_MESSAGE = 480
"""Pixels that the pictures of a message share: the smallest window has room for them beside the list of chats."""


def alt_text(picture: Attached) -> str:
    """What is said of a picture in its place."""
    size = {"width": number(picture.width), "height": number(picture.height)}
    if picture.name:
        return text("Picture {name}, {width} by {height} pixels", name=picture.name, **size)
    return text("Picture, {width} by {height} pixels", **size)


def thumbnail(picture: Attached, longest: int) -> QPixmap:
    """The picture, no side longer than `longest`; empty where it is damaged."""
    whole = QPixmap()
    whole.loadFromData(picture.data)
    if whole.isNull() or max(whole.width(), whole.height()) <= longest:
        return whole
    ratio, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    return whole.scaled(longest, longest, ratio, smooth)


class Thumbnails(QWidget):
    """The pictures of a message that was sent, at the right, each reached with Tab."""

    def __init__(self, pictures: Sequence[Attached]) -> None:
        super().__init__()
        longest = min(IN_MESSAGE, ALL_IN_MESSAGE // max(1, len(pictures)))
        self.shown = tuple(_Picture(one, longest) for one in pictures)
        row(None, *self.shown, owner=self, gap=2)
        self.setVisible(bool(pictures))


class _Picture(QLabel):
    def __init__(self, picture: Attached, longest: int) -> None:
        super().__init__()
        small = thumbnail(picture, longest)
        if small.isNull():
            self.setText(alt_text(picture))
        else:
            self.setPixmap(small)
        self.setAccessibleName(alt_text(picture))
        self.setToolTip(alt_text(picture))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)


class Tray(QWidget):
    """The pictures that go with the next message: pressed, or with Delete, one is taken away again."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._pictures: list[Attached] = []
        self._row = row(owner=self, gap=2)
        self.hide()

    @property
    def pictures(self) -> tuple[Attached, ...]:
        """In order."""
        return tuple(self._pictures)

    def show_pictures(self, pictures: Sequence[Attached]) -> None:
        """These in the place of those that are there."""
        self._pictures = list(pictures)
        clear(self._row)
        for place, picture in enumerate(self._pictures):
            self._row.addWidget(_Removable(self, picture, place))
        self._row.addStretch(1)
        self.setVisible(bool(self._pictures))
        self.changed.emit()

    def add(self, picture: Attached) -> None:
        """One more."""
        self.show_pictures((*self._pictures, picture))

    def remove(self, place: int) -> None:
        """Without the one at `place`; the focus goes to the one after it."""
        self.show_pictures([one for number, one in enumerate(self._pictures) if number != place])
        at = self._row.itemAt(min(place, len(self._pictures) - 1)) if self._pictures else None
        if at is not None and (beside := at.widget()) is not None:
            beside.setFocus()


class _Removable(QPushButton):
    def __init__(self, tray: Tray, picture: Attached, place: int) -> None:
        super().__init__()
        self._tray, self._place = tray, place
        self.setAutoDefault(False)
        self.setProperty("role", "quiet")
        self.setIcon(QIcon(thumbnail(picture, IN_COMPOSER)))
        self.setIconSize(QSize(IN_COMPOSER, IN_COMPOSER))
        self.setText("×")
        said = text("Remove: {picture}", picture=alt_text(picture))
        self.setAccessibleName(said)
        self.setToolTip(said)
        self.clicked.connect(lambda _checked: tray.remove(place))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._tray.remove(self._place)
        else:
            super().keyPressEvent(event)
