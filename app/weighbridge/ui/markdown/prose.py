"""A stretch of Markdown without code fences: what is closed stays, the open end is rendered again."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QSize, QSizeF, Qt, QUrl, Signal
from PySide6.QtGui import (
    QImage,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextDocumentFragment,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from weighbridge.base.words import text
from weighbridge.ui.markdown.render import Style, rendered, spacer_format
from weighbridge.ui.theme import STEP

MOST_BLOCKS = 300
"""Paragraphs, items of lists and cells of tables."""


class ProseView(QTextBrowser):
    """As high as its text. Loads nothing, opens nothing: a click on a link emits `link_wanted` with its address."""

    link_wanted = Signal(str)

    def __init__(self, style: Style, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._style = style
        self._closed_end: int | None = None
        self._closed_is_empty = True
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "plain")
        for widget in (self, self.viewport()):
            widget.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setUndoRedoEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text("Text of the answer"))
        self.document().setDocumentMargin(0)
        self.document().setIndentWidth(6 * STEP)
        self.document().setDefaultFont(style.body)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self.anchorClicked.connect(self._clicked)

    @property
    def is_long(self) -> bool:
        """Whether more would be slow: all that is here is laid out anew with each change."""
        return self.document().blockCount() > MOST_BLOCKS

    def write(self, closed: Sequence[str], end: str) -> None:
        """Add closed Markdown for good, and show `end` as the open end in place of the one before."""
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        self._drop_end(cursor)
        for part in closed:
            self._insert(cursor, part)
            self._closed_is_empty = False
        if end.strip():
            self._closed_end = self.document().characterCount() - 1
            self._insert(cursor, end)
        cursor.endEditBlock()

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Nothing is loaded: an empty picture keeps Qt from looking for one itself."""
        del kind, name
        return QImage(1, 1, QImage.Format.Format_ARGB32)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.height())

    def _insert(self, cursor: QTextCursor, markdown: str) -> None:
        """Put `markdown` at the end of the document."""
        piece = rendered(markdown, self._style)
        first = piece.begin()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if cursor.block().length() > 1 or cursor.block().textList() is not None:
            cursor.insertBlock(spacer_format(), QTextCharFormat())
        own_block = first.textList() is not None or _begins_with_table(piece)
        cursor.setBlockFormat(spacer_format() if own_block else first.blockFormat())
        cursor.insertFragment(QTextDocumentFragment(piece))

    def _drop_end(self, cursor: QTextCursor) -> None:
        if self._closed_end is None:
            return
        cursor.setPosition(0 if self._closed_is_empty else self._closed_end)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        if cursor.block().length() == 1:
            cursor.setBlockFormat(spacer_format())
            cursor.setBlockCharFormat(QTextCharFormat())
        self._closed_end = None

    def _fit(self, size: QSizeF) -> None:
        height = math.ceil(size.height())
        if height != self.height():
            self.setFixedHeight(height)

    def _clicked(self, url: QUrl) -> None:
        self.link_wanted.emit(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))


def _begins_with_table(piece: QTextDocument) -> bool:
    return piece.begin().length() == 1 and QTextCursor(piece.begin().next()).currentTable() is not None
