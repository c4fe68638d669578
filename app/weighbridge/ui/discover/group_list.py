"""The base models that were found: title, what there is of each, and how much of it fits."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from weighbridge.base.words import text
from weighbridge.ui.discover.group_row import GroupRow, fitting, same_keys
from weighbridge.ui.icons import pixmap
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.badge import GLYPHS

_Index = QModelIndex | QPersistentModelIndex
_NONE = QModelIndex()
_ROW = Qt.ItemDataRole.UserRole + 1
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_PAD = 3 * STEP


class GroupModel(QAbstractListModel):
    """Rows of the same keys are updated where they stand."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[GroupRow] = ()

    @property
    def rows(self) -> Sequence[GroupRow]:
        """What is shown."""
        return self._rows

    def show_rows(self, rows: Sequence[GroupRow]) -> None:
        """Show `rows`."""
        if same_keys(rows, self._rows):
            changed = [place for place, row in enumerate(rows) if row != self._rows[place]]
            self._rows = rows
            if changed:
                self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], 0))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: _Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.spoken
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.tip
        return row if role == _ROW else None


class _Painter(QStyledItemDelegate):
    """Two lines, or three where there is a reason."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        row: GroupRow = index.data(_ROW)
        lines = 3 if row.reason else 2
        return QSize(option.fontMetrics.height() * 10, option.fontMetrics.height() * lines + (lines + 3) * STEP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row: GroupRow = index.data(_ROW)
        tokens, high = self._theme.tokens, option.fontMetrics.height()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.accent_surface))
            painter.drawRoundedRect(option.rect.adjusted(STEP, STEP // 2, -STEP, -STEP // 2), 6, 6)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(tokens.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(option.rect.adjusted(STEP, STEP // 2, -STEP, -STEP // 2), 6, 6)
        place = option.rect.adjusted(_PAD, 2 * STEP, -_PAD, 0)
        place.setHeight(high)
        bold = QFont(option.font)
        bold.setWeight(QFont.Weight.DemiBold)
        painter.setFont(bold)
        _draw(painter, place, row.title, tokens.text, _LEFT)
        painter.setFont(option.font)
        place.translate(0, high + STEP)
        taken = self._paint_badge(painter, place, row)
        _draw(painter, place.adjusted(0, 0, -taken, 0), row.detail, tokens.dim, _LEFT)
        if row.reason:
            place.translate(0, high + STEP)
            _draw(painter, place, row.reason, tokens.dim, _LEFT)
        painter.restore()

    def _paint_badge(self, painter: QPainter, place: QRect, row: GroupRow) -> int:
        """What fits, at the right; returns the room that it takes."""
        if row.badge is None:
            shown = text("looking…") if row.is_looked_at else ""
            _draw(painter, place, shown, self._theme.tokens.dim, _RIGHT)
            return painter.fontMetrics().horizontalAdvance(shown) + 2 * STEP
        kind, shown = row.badge
        colour = getattr(self._theme.tokens, kind)
        _draw(painter, place, shown, colour, _RIGHT)
        side = round(painter.fontMetrics().height() * 0.8)
        left = place.right() - painter.fontMetrics().horizontalAdvance(shown) - side - STEP
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(left, place.center().y() - side // 2, pixmap(GLYPHS[kind], colour, side, ratio))
        return place.right() - left + 2 * STEP


class GroupList(QListView):
    """`chosen_changed` tells that another base model is selected, by the user or by `choose`; `entered` that Enter was
    pressed on it. `seen_changed`: others are in sight.
    """

    chosen_changed = Signal()
    entered = Signal()
    seen_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._model = GroupModel(self)
        self._chosen = ""
        self.setModel(self._model)
        self.setItemDelegate(_Painter(theme, self))
        self.setAccessibleName(text("Base models"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.selectionModel().currentChanged.connect(self._current_changed)
        self.clicked.connect(lambda _index: self.entered.emit())
        self.verticalScrollBar().valueChanged.connect(self.seen_changed)

    @property
    def rows(self) -> Sequence[GroupRow]:
        """What is shown."""
        return self._model.rows

    @property
    def chosen(self) -> str:
        """The key of the one that is selected; "" where none is."""
        index = self.currentIndex()
        return self._model.rows[index.row()].key if index.isValid() else ""

    @property
    def seen(self) -> list[str]:
        """The keys of those in sight, from the top."""
        if not self._model.rows:
            return []
        area = self.viewport().rect()
        rects = ((row.key, self.visualRect(self._model.index(place, 0))) for place, row in enumerate(self.rows))
        return [key for key, rect in rects if rect.intersects(area)]

    def show_rows(self, rows: Sequence[GroupRow]) -> None:
        """Show `rows`; the one that is chosen stays so while it is there. Nothing is chosen by itself."""
        self._model.show_rows(rows)
        if not self.currentIndex().isValid() and self._chosen:
            self.choose(self._chosen)

    def choose(self, key: str) -> None:
        """Select a base model; where it is not there, none."""
        self._chosen = key
        place = next((at for at, row in enumerate(self.rows) if row.key == key), None)
        if place is None:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
        else:
            self.setCurrentIndex(self._model.index(place, 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.seen_changed.emit()

    def _current_changed(self, current: QModelIndex) -> None:
        if current.isValid():
            self._chosen = self._model.rows[current.row()].key
            self.chosen_changed.emit()


def _draw(painter: QPainter, place: QRect, shown: str, colour: str, side: Qt.AlignmentFlag) -> None:
    """What has no room goes by parts, and only the last one by letters."""
    metrics = painter.fontMetrics()
    told = fitting(shown, lambda part: metrics.horizontalAdvance(part) <= place.width())
    cut = metrics.elidedText(told, Qt.TextElideMode.ElideRight, place.width())
    painter.setPen(QColor(colour))
    painter.drawText(place, side, cut)
