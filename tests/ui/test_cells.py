"""A cell that is told at once is painted, and measured, as one that is told role by role."""

import pytest
from PySide6.QtCore import QAbstractTableModel, QRect, Qt
from PySide6.QtGui import QFont, QImage, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem, QTableView

from weighbridge.ui.memory_parts import Memory, Part
from weighbridge.ui.widgets.cells import (
    BADGE_ROLE,
    BAR_ROLE,
    BUTTON_ROLE,
    CELL_ROLE,
    CHIP_ROLE,
    MARK_ROLE,
    Cell,
    CellDelegate,
)

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
MEMORY = Memory("RAM", 100, (Part("weights", 40), Part("kv", 20)))
CELLS = {
    "text": Cell("Some text that is too long for its cell and is cut", LEFT),
    "number": Cell("4.1 GiB", RIGHT),
    "strong": Cell("Qwen3-8B", LEFT, strong=True),
    "badge": Cell("Fits", LEFT, badge=("fits", "Fits")),
    "chip": Cell("GGUF", LEFT, chip=True),
    "button": Cell("Get", LEFT, button=True),
    "mark": Cell("Q4_K_M", LEFT, mark=("star", "recommended")),
    "memory": Cell("60 GiB", RIGHT, memory=MEMORY),
    "nothing": Cell("", LEFT),
}


class One(QAbstractTableModel):
    """One cell, as a whole or by roles."""

    def __init__(self, cell, at_once, parent):
        super().__init__(parent)
        bold = QFont()
        bold.setWeight(QFont.Weight.DemiBold)
        by_role = {
            Qt.ItemDataRole.DisplayRole: cell.shown,
            Qt.ItemDataRole.TextAlignmentRole: cell.aligned,
            Qt.ItemDataRole.FontRole: bold if cell.strong else None,
            BADGE_ROLE: cell.badge,
            CHIP_ROLE: cell.chip,
            BUTTON_ROLE: cell.button,
            MARK_ROLE: cell.mark,
            BAR_ROLE: cell.memory,
        }
        self.told = {CELL_ROLE: cell} if at_once else by_role

    def rowCount(self, parent=None):
        return 1

    def columnCount(self, parent=None):
        return 1

    def data(self, index, role=Qt.ItemDataRole.DisplayRole):
        return self.told.get(role)


def painted(table, theme, model):
    """What is painted of the cell, and its size."""
    delegate = CellDelegate(theme, table)
    option = QStyleOptionViewItem()
    option.initFrom(table)
    option.widget, option.rect = table, QRect(0, 0, 160, 36)
    image = QImage(160, 36, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    delegate.paint(painter, option, model.index(0, 0))
    painter.end()
    return image, delegate.sizeHint(option, model.index(0, 0))


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_at_once_is_as_by_roles(qtbot, services, cell):
    table = QTableView()
    qtbot.addWidget(table)
    services.theme.dress(table)
    whole = painted(table, services.theme, One(cell, True, table))
    by_roles = painted(table, services.theme, One(cell, False, table))
    assert whole == by_roles
    blank = QImage(whole[0])
    blank.fill(Qt.GlobalColor.white)
    assert (whole[0] == blank) is False


def test_each_kind_of_cell_looks_different(qtbot, services):
    table = QTableView()
    qtbot.addWidget(table)
    same = [
        cell._replace(shown="Word") for name, cell in CELLS.items() if name in ("number", "badge", "chip", "button")
    ]
    images = [painted(table, services.theme, One(cell, True, table))[0] for cell in same]
    assert all(one != other for one in images for other in images if one is not other)


def test_the_chosen_row_shows_where_the_keyboard_is(qtbot, services):
    table = QTableView()
    qtbot.addWidget(table)
    table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    table.verticalHeader().hide()
    table.setModel(One(CELLS["strong"], True, table))
    table.setItemDelegate(CellDelegate(services.theme, table))
    with qtbot.waitActive(table):
        table.show()
        table.activateWindow()
    table.selectRow(0)

    def at_the_left():
        middle = table.rowViewportPosition(0) + table.rowHeight(0) // 2
        return table.viewport().grab().toImage().pixelColor(1, middle).name()

    table.clearFocus()
    assert at_the_left() != services.theme.tokens.accent
    table.setFocus()
    assert at_the_left() == services.theme.tokens.accent
