"""Markdown to a styled piece of a document.

It is parsed into a document of its own that has no layout, so that nothing it names can be loaded before images are
turned into plain links. HTML stays text. Colours come from the theme, so a change of theme means to render again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)

from weighbridge.base.words import text
from weighbridge.ui.tokens import Tokens

FEATURES = QTextDocument.MarkdownFeature.MarkdownNoHTML | QTextDocument.MarkdownFeature.MarkdownDialectGitHub
LINE_HEIGHT_PERCENT = 125
_LABEL_LENGTH = 60
_HEADING_SIZES = {1: 2, 2: 1}
"""Steps of Qt's scale of font sizes for a heading's level; smaller headings are bold body text."""


@dataclass(frozen=True)
class Style:
    """What a text is drawn with."""

    tokens: Tokens
    body: QFont
    fixed: QFont


def rendered(markdown: str, style: Style) -> QTextDocument:
    """`markdown` as a document without layout, images told as links, styled."""
    document = QTextDocument()
    document.setUndoRedoEnabled(False)
    document.setDefaultFont(style.body)
    document.setMarkdown(markdown, FEATURES)
    if "![" in markdown:
        _tell_images(document)
    for block in _blocks(document):
        _style_block(block, style)
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            _style_table(frame, style)
    return document


def spacer_format() -> QTextBlockFormat:
    """An empty line that takes no room: Qt needs one before and after a table."""
    made = QTextBlockFormat()
    made.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return made


def _blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def _fragments(block: QTextBlock) -> list[QTextFragment]:
    found = []
    place = block.begin()
    while not place.atEnd():
        found.append(place.fragment())
        place += 1
    return found


def _tell_images(document: QTextDocument) -> None:
    images = [
        (fragment.position(), fragment.charFormat())
        for block in _blocks(document)
        for fragment in _fragments(block)
        if fragment.charFormat().isImageFormat()
    ]
    for position, image in reversed(images):
        address = image.toImageFormat().name()
        name = str(image.property(QTextFormat.Property.ImageAltText.value) or "")
        cursor = QTextCursor(document)
        cursor.setPosition(position)
        cursor.setPosition(position + 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(_image_label(name, address), _link_format(address))


def _image_label(name: str, address: str) -> str:
    shown = name or ("" if address.startswith("data:") else address)
    cut = shown if len(shown) <= _LABEL_LENGTH else shown[: _LABEL_LENGTH - 1] + "…"
    return text("[image: {name}]", name=cut) if cut else text("[image]")


def _link_format(address: str) -> QTextCharFormat:
    made = QTextCharFormat()
    if not address.startswith("data:"):
        made.setAnchor(True)
        made.setAnchorHref(address)
    return made


def _style_block(block: QTextBlock, style: Style) -> None:
    cursor = QTextCursor(block)
    cursor.setBlockFormat(_block_format(block, style, in_table=cursor.currentTable() is not None))
    level = block.blockFormat().headingLevel()
    quoted = bool(block.blockFormat().property(QTextFormat.Property.BlockQuoteLevel.value))
    for fragment in _fragments(block):
        made = fragment.charFormat()
        if _style_text(made, style, level, quoted=quoted):
            cursor.setPosition(fragment.position())
            cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(made)


def _style_text(made: QTextCharFormat, style: Style, level: int, *, quoted: bool) -> bool:
    """Style the format of a stretch of text; False where it stays as it is."""
    if level:
        made.setProperty(QTextFormat.Property.FontSizeAdjustment.value, _HEADING_SIZES.get(level, 0))
    if made.isAnchor():
        made.setForeground(QBrush(QColor(style.tokens.accent)))
    elif made.fontFixedPitch():
        made.setFontFamilies(style.fixed.families())
        made.setBackground(QBrush(QColor(style.tokens.track)))
    elif quoted:
        made.setForeground(QBrush(QColor(style.tokens.dim)))
    else:
        return level > 0
    return True


def _block_format(block: QTextBlock, style: Style, *, in_table: bool) -> QTextBlockFormat:
    made = block.blockFormat()
    ruler = made.hasProperty(QTextFormat.Property.BlockTrailingHorizontalRulerWidth.value)
    if block.length() == 1 and not in_table and not ruler and block.textList() is None:
        return spacer_format()
    if ruler:
        made.setBackground(QBrush(QColor(style.tokens.line)))
    if block.textList() is None:
        made.setMarker(QTextBlockFormat.MarkerType.NoMarker)  # Qt leaves a task's mark on what follows the list
    above, below = _margins(made.headingLevel(), in_list=block.textList() is not None, in_table=in_table)
    made.setTopMargin(above)
    made.setBottomMargin(below)
    made.setLineHeight(LINE_HEIGHT_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    return made


def _margins(heading: int, *, in_list: bool, in_table: bool) -> tuple[int, int]:
    if in_table:
        return 0, 0
    if heading:
        return 8, 4
    return (0, 3) if in_list else (0, 8)


def _style_table(table: QTextTable, style: Style) -> None:
    line = QBrush(QColor(style.tokens.line))
    made = table.format()
    made.setBorder(1)
    made.setBorderBrush(line)
    made.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    made.setBorderCollapse(True)
    made.setCellSpacing(0)
    made.setCellPadding(6)
    made.setTopMargin(2)
    made.setBottomMargin(10)
    made.setWidth(QTextLength())
    made.setAlignment(Qt.AlignmentFlag.AlignLeft)
    table.setFormat(made)
    for place in range(table.columns()):
        cell = table.cellAt(0, place)
        head = cell.format()
        head.setBackground(QBrush(QColor(style.tokens.track)))
        cell.setFormat(head)
