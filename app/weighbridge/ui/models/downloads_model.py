"""The downloads as a tree: jobs in their order, and below each its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from weighbridge.base.words import text
from weighbridge.hub.snapshot import FileView, JobView, Snapshot
from weighbridge.ui import download_words as words

DETAIL_ROLE = Qt.ItemDataRole.UserRole + 1
"""The second line of a job's name."""
STATE_ROLE = Qt.ItemDataRole.UserRole + 2
"""A StateBadge."""
FRACTION_ROLE = Qt.ItemDataRole.UserRole + 3
"""How full the bar is, from 0 to 1."""

NAME, STATE, AMOUNT, SPEED, LEFT = range(5)
_NUMBERS = (SPEED, LEFT)
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_NONE = QModelIndex()
_Index = QModelIndex | QPersistentModelIndex
_TOP = 0


class DownloadsModel(QAbstractItemModel):
    """A job's own index carries _TOP, that of a file the id of its job: rows move, ids stay."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: list[JobView] = []

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show how all stands now, and tell views what has come, gone, moved or changed."""
        wanted = {job.id for job in snapshot.jobs}
        for row in reversed(range(len(self._jobs))):
            if self._jobs[row].id not in wanted:
                self.beginRemoveRows(_NONE, row, row)
                del self._jobs[row]
                self.endRemoveRows()
        for row, job in enumerate(snapshot.jobs):
            self._bring(row, job)
            self._change(row, job)

    def job(self, index: _Index) -> JobView | None:
        """The job that `index` is, or is below."""
        if not index.isValid():
            return None
        return self._jobs[index.row() if index.internalId() == _TOP else self._row_of(index.internalId())]

    def index_of(self, job_id: int) -> QModelIndex:
        """The first cell of a job; an invalid one where it is not here."""
        row = self._row_of(job_id)
        return self.index(row, NAME) if row >= 0 else QModelIndex()

    def index(self, row: int, column: int, parent: _Index = _NONE) -> QModelIndex:
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, self._jobs[parent.row()].id if parent.isValid() else _TOP)

    def parent(self, index: _Index = _NONE) -> QModelIndex:  # type: ignore[override]
        if not index.isValid() or index.internalId() == _TOP:
            return QModelIndex()
        return self.createIndex(self._row_of(index.internalId()), NAME, _TOP)

    def rowCount(self, parent: _Index = _NONE) -> int:
        if not parent.isValid():
            return len(self._jobs)
        is_job = parent.internalId() == _TOP and parent.column() == NAME
        return len(self._jobs[parent.row()].files) if is_job else 0

    def columnCount(self, parent: _Index = _NONE) -> int:
        del parent
        return len(_JOB)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and section in _NUMBERS:
            return _RIGHT
        return _titles()[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        job = self.job(index)
        if job is None:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in _NUMBERS:
            return _RIGHT
        if index.internalId() != _TOP:
            return _of_file(job.files[index.row()], index.column(), role)
        return _of_job(job, index.column(), role)

    def _row_of(self, job_id: int) -> int:
        return next((row for row, job in enumerate(self._jobs) if job.id == job_id), -1)

    def _bring(self, row: int, job: JobView) -> None:
        """Have `job` stand at `row`, where all before it stand right."""
        at = self._row_of(job.id)
        if at == row:
            return
        if at < 0:
            self.beginInsertRows(_NONE, row, row)
            self._jobs.insert(row, job)
            self.endInsertRows()
            return
        self.beginMoveRows(_NONE, at, at, _NONE, row)
        self._jobs.insert(row, self._jobs.pop(at))
        self.endMoveRows()

    def _change(self, row: int, job: JobView) -> None:
        before = self._jobs[row]
        if before == job:
            return
        if len(before.files) != len(job.files):  # it was listed anew
            self.beginRemoveRows(_NONE, row, row)
            del self._jobs[row]
            self.endRemoveRows()
            self._bring(row, job)
            return
        self._jobs[row] = job
        top = self.index(row, NAME)
        self.dataChanged.emit(top, self.index(row, LEFT))
        changed = [at for at, (old, new) in enumerate(zip(before.files, job.files, strict=True)) if old != new]
        if changed:
            self.dataChanged.emit(self.index(changed[0], NAME, top), self.index(changed[-1], LEFT, top))


def _of_job(job: JobView, column: int, role: int) -> object:
    match role:
        case Qt.ItemDataRole.DisplayRole:
            return _JOB[column](job)
        case Qt.ItemDataRole.AccessibleTextRole if column == NAME:
            return words.spoken(job, Path.home())
        case Qt.ItemDataRole.ToolTipRole if column == NAME:
            return "\n".join(part for part in (words.name_of(job), words.detail_of(job, Path.home())) if part)
    if role == DETAIL_ROLE and column == NAME:
        return words.detail_of(job, Path.home())
    if role == STATE_ROLE and column == STATE:
        return words.badge_of(job)
    return words.fraction_of(job) if role == FRACTION_ROLE and column == AMOUNT else None


def _of_file(file: FileView, column: int, role: int) -> object:
    if role == Qt.ItemDataRole.DisplayRole:
        return _FILE[column](file)
    return file.path if role == Qt.ItemDataRole.ToolTipRole and column == NAME else None


_JOB: Mapping[int, Callable[[JobView], str]] = {
    NAME: words.name_of,
    STATE: lambda job: words.badge_of(job).words,
    AMOUNT: words.amount_of,
    SPEED: lambda job: words.rate(job.bytes_s),
    LEFT: words.left_of,
}
_FILE: Mapping[int, Callable[[FileView], str]] = {
    NAME: lambda file: file.path,
    STATE: lambda file: words.state_in_words(file.state),
    AMOUNT: words.amount_of,
    SPEED: lambda file: words.rate(file.bytes_s),
    LEFT: lambda file: "",
}


def _titles() -> Mapping[int, str]:
    return {
        NAME: text("Download"),
        STATE: text("State"),
        AMOUNT: text("Here"),
        SPEED: text("Speed"),
        LEFT: text("Time left"),
    }
