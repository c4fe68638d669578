"""How columns get their widths: only what has changed is measured, and what has no room is left out."""

import pytest
from PySide6.QtCore import QAbstractTableModel, Qt
from PySide6.QtWidgets import QStyledItemDelegate

from weighbridge.ui.widgets.tables import Table

NAME, SIZE, NOTE = range(3)


class Cells(QAbstractTableModel):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows
        self.titles = ["Name", "Size", "Note"]

    def rowCount(self, parent=None):
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def columnCount(self, parent=None):
        return 3

    def data(self, index, role=Qt.ItemDataRole.DisplayRole):
        return self.rows[index.row()][index.column()] if role == Qt.ItemDataRole.DisplayRole else None

    def headerData(self, section, way, role=Qt.ItemDataRole.DisplayRole):
        is_title = way == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole
        return self.titles[section] if is_title else None

    def put(self, column, text):
        self.rows[0][column] = text
        self.dataChanged.emit(self.index(0, column), self.index(0, column))


class Measured(QStyledItemDelegate):
    def __init__(self, parent):
        super().__init__(parent)
        self.columns = set()

    def sizeHint(self, option, index):
        self.columns.add(index.column())
        return super().sizeHint(option, index)


@pytest.fixture
def table(qtbot):
    model = Cells([[f"row {number}", "1 GiB", "a note"] for number in range(500)])
    table = Table(model, "Things", NAME, ((), (NOTE,)))
    model.setParent(table)
    table.setItemDelegate(Measured(table))
    qtbot.addWidget(table)
    table.resize(600, 300)
    table.show()
    table.itemDelegate().columns.clear()
    return table


def test_a_column_follows_its_texts_and_no_other_is_measured(table, qtbot):
    before = table.columnWidth(SIZE)
    table.model().put(SIZE, "1,000,000,000 GiB")
    qtbot.waitUntil(lambda: table.columnWidth(SIZE) > before)
    assert table.itemDelegate().columns == {SIZE}
    table.model().put(SIZE, "1 GiB")
    qtbot.waitUntil(lambda: table.columnWidth(SIZE) == before)


def test_fitting_again_measures_nothing(table):
    table.fit()
    assert table.itemDelegate().columns == set()


def test_a_column_follows_its_title(table, qtbot):
    before = table.columnWidth(SIZE)
    table.model().titles[SIZE] = "Memory at 131,072 tokens"
    table.model().headerDataChanged.emit(Qt.Orientation.Horizontal, SIZE, SIZE)
    qtbot.waitUntil(lambda: table.columnWidth(SIZE) > before)
    assert table.itemDelegate().columns == set()


def test_rows_that_are_replaced_are_measured(table):
    model = table.model()
    model.beginResetModel()
    model.rows = [["row", "1,000,000,000 GiB", "a note"]]
    model.endResetModel()
    assert table.itemDelegate().columns == {NAME, SIZE, NOTE}


def test_what_has_no_room_is_left_out_and_comes_back(table):
    table.resize(table.fontMetrics().height() * 14 + table.columnWidth(SIZE), 300)
    assert table.isColumnHidden(NOTE)
    table.model().titles[NOTE] = "A longer title of notes"
    table.model().headerDataChanged.emit(Qt.Orientation.Horizontal, NOTE, NOTE)
    table.resize(900, 300)
    assert not table.isColumnHidden(NOTE)
    assert table.columnWidth(NOTE) > table.columnWidth(SIZE)


def test_a_larger_font_is_measured_anew(table):
    before = table.columnWidth(SIZE)
    font = table.font()
    font.setPointSizeF(font.pointSizeF() * 2)
    table.setFont(font)
    table.fit()
    assert table.columnWidth(SIZE) > before
