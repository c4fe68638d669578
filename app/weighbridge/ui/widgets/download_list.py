"""The list of downloads: a row a job, its files below it, one job chosen."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTreeView

from weighbridge.base.units import GIB, duration, transfer
from weighbridge.base.words import text
from weighbridge.hub.jobs import State
from weighbridge.hub.snapshot import JobView, Snapshot
from weighbridge.ui.download_words import amount, state_in_words
from weighbridge.ui.models.downloads_model import AMOUNT, LEFT, NAME, SPEED, STATE, DownloadsModel
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.badge import badge_size
from weighbridge.ui.widgets.download_cells import DownloadDelegate

_LEAST_EMS = 15
"""The width that the names get before columns are left out."""

_LEAST_LINES = 6
"""As high as the head and a job, whatever else is on the page."""

_PADDING = 22


class DownloadList(QTreeView):
    """Keeps its choice while rows come and go; the first job is chosen where none is. Widths are those of the longest
    figures there can be, so that nothing moves while figures change.
    """

    chosen_changed = Signal()
    """Another job is chosen, or more is known of it."""
    entered = Signal()
    """Enter on the chosen job."""
    menu_wanted = Signal(QPoint)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._model = DownloadsModel(self)
        self._cells = DownloadDelegate(theme, self)
        self._chosen_id: int | None = None
        self._wished_id: int | None = None
        self.setModel(self._model)
        self.setItemDelegate(self._cells)
        self.setAccessibleName(text("Downloads"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setExpandsOnDoubleClick(True)
        self.setIndentation(self.fontMetrics().height() + STEP)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask_menu)
        self.setMinimumHeight(self.fontMetrics().height() * _LEAST_LINES)
        self.header().setStretchLastSection(False)
        self.header().setHighlightSections(False)
        self.header().setSectionsMovable(False)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.header().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.selectionModel().currentChanged.connect(self._current_changed)

    @property
    def chosen(self) -> JobView | None:
        """The chosen job, also where one of its files is."""
        return self._model.job(self.currentIndex())

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show how all stands now."""
        self._model.show_snapshot(snapshot)
        if self._wished_id is not None and self._model.index_of(self._wished_id).isValid():
            self.choose(self._wished_id)
        elif snapshot.jobs and not self.currentIndex().isValid():
            self.choose(self._chosen_id)
        self.chosen_changed.emit()

    def choose(self, job_id: int | None) -> None:
        """Choose a job; the first one where it is not here."""
        self._wished_id = None
        index = QModelIndex() if job_id is None else self._model.index_of(job_id)
        self.setCurrentIndex(index if index.isValid() else self._model.index(0, NAME))

    def choose_when_there(self, job_id: int) -> None:
        """Choose a job as soon as it is in the list."""
        if self._model.index_of(job_id).isValid():
            self.choose(job_id)
        else:
            self._wished_id = job_id

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        elif event.key() == Qt.Key.Key_Menu:
            self._ask_menu(self.visualRect(self.currentIndex()).center())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
        self.scrollTo(self.currentIndex())

    def fit(self) -> None:
        """Give the columns their widths; without room for all, the time left goes first, then the speed."""
        widths = self._widths()
        room = self.viewport().width() - self.fontMetrics().height() * _LEAST_EMS
        shown: tuple[int, ...] = (STATE, AMOUNT)
        for shown in ((STATE, AMOUNT, SPEED, LEFT), (STATE, AMOUNT, SPEED), (STATE, AMOUNT)):
            if sum(widths[column] for column in shown) <= room:
                break
        for column, width in widths.items():
            self.setColumnHidden(column, column not in shown)
            self.setColumnWidth(column, width)
        self.setColumnWidth(NAME, self.viewport().width() - sum(widths[column] for column in shown))

    def _widths(self) -> dict[int, int]:
        """As wide as the longest that there can be."""
        metrics = self.fontMetrics()
        figures = amount(round(888.8 * GIB), round(888.8 * GIB))
        wanted = {
            STATE: max(badge_size(metrics, state_in_words(state)).width() for state in State),
            AMOUNT: metrics.horizontalAdvance(figures),
            SPEED: metrics.horizontalAdvance(transfer(888.8e6)),
            LEFT: metrics.horizontalAdvance(duration(28 * 60 + 28)),
        }
        heads = {column: self.header().sectionSizeHint(column) for column in wanted}
        return {column: max(width + _PADDING, heads[column]) for column, width in wanted.items()}

    def _current_changed(self, current: QModelIndex) -> None:
        job = self._model.job(current)
        self._chosen_id = job.id if job is not None else self._chosen_id
        self.chosen_changed.emit()

    def _ask_menu(self, place: QPoint) -> None:
        if self.chosen is not None:
            self.menu_wanted.emit(self.viewport().mapToGlobal(place))
