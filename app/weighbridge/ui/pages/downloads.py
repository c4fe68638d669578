"""The downloads: a field to name a model, what is offered, and the queue with what can be done about each job."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeySequence
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QStackedWidget, QVBoxLayout

from weighbridge.base.units import size
from weighbridge.base.words import text
from weighbridge.hub.jobs import Job, State
from weighbridge.hub.snapshot import JobView
from weighbridge.ui.download_commands import Command, commands_of, title_of
from weighbridge.ui.download_words import name_of, total_in_words
from weighbridge.ui.pages.downloads_find import FindPanel
from weighbridge.ui.pages.page import Page
from weighbridge.ui.remedies import remedies
from weighbridge.ui.services import Services
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.download_list import DownloadList
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.empty_state import EmptyState
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.parts import action, button, column, give_role, label, panel, row
from weighbridge.ui.widgets.question import Question


class DownloadsPage(Page):
    """Drives `services.downloads`; draws only while it is in sight."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._downloads = services.downloads
        self._told: tuple[int, str] | None = None
        self._finder = FindPanel(services)
        self._list = DownloadList(services.theme)
        self._errors = ErrorPanel(services.theme)
        self._question = Question()
        self._total = ElidedLabel(at_left=True)
        self._other = label("", "dim", wrap=True)
        self._pause_all = button("", self._turn_all)
        self._clear = button(text("Clear what is done"), self._downloads.forget_ended)
        self._buttons = {command: self._button(command) for command in Command}
        self._body = QStackedWidget()
        self._lay_out()
        services.theme.dress(self)
        self._add_actions()
        self._connect()
        self._show_all()

    @property
    def finder(self) -> FindPanel:
        """Where a model is named and chosen."""
        return self._finder

    @property
    def list(self) -> DownloadList:
        """The jobs."""
        return self._list

    @property
    def errors(self) -> ErrorPanel:
        """What is wrong with the chosen job."""
        return self._errors

    @property
    def question(self) -> Question:
        """What is asked before bytes are removed."""
        return self._question

    def button(self, command: Command) -> QPushButton:
        """The button of a command for the chosen job."""
        return self._buttons[command]

    def entered(self) -> None:
        self._show_all()
        (self._list if self._downloads.snapshot.jobs else self._finder.field).setFocus()

    def escape(self) -> bool:
        if not self._question.isHidden():
            self._question.hide()
            return True
        return self._finder.escape()

    def shut(self) -> None:
        self._leave()
        self._finder.shut()

    def do(self, command: Command) -> None:
        """Do what is asked with the chosen job, where that can be done now."""
        job = self._list.chosen
        if job is not None and command in commands_of(job):
            self._acts()[command](job)

    def _acts(self) -> dict[Command, Callable[[JobView], object]]:
        downloads = self._downloads
        return {
            Command.PAUSE: downloads.pause,
            Command.RESUME: downloads.resume,
            Command.RETRY: downloads.retry,
            Command.UP: lambda job: downloads.move(job, -1),
            Command.DOWN: lambda job: downloads.move(job, 1),
            Command.CANCEL: self._cancel,
            Command.SHOW: lambda job: self._services.bus.place_wanted.emit(_first_file(job)),
            Command.REVEAL: _reveal,
            Command.FORGET: self._forget,
        }

    def _button(self, command: Command) -> QPushButton:
        return button(title_of(command), partial(self.do, command))

    def _lay_out(self) -> None:
        self._total.setAccessibleName(text("All downloads"))
        head = row(label(text("Downloads"), "title"), self._total, self._pause_all, self._clear, gap=3)
        head.setStretch(1, 1)
        sentence = text("Nothing is being fetched: name a model above, and see what there is of it first.")
        empty = EmptyState(sentence, text("Look for models in Discover"), self._discover)
        give_role(empty.button, "")  # what stands out is to find what is named
        self._body.addWidget(empty)
        self._body.addWidget(self._queue_panel())
        whole = column(head, self._finder, self._question, self._body, self._errors, owner=self, margin=4, gap=3)
        whole.setStretch(3, 1)

    def _discover(self) -> None:
        self._services.bus.page_wanted.emit("discover")

    def _queue_panel(self) -> QFrame:
        foot = column(Flow(*self._buttons.values()))
        foot.setContentsMargins(3 * STEP, 0, 3 * STEP, 2 * STEP)
        self._other.setContentsMargins(4 * STEP, 0, 4 * STEP, 0)
        made = panel(self._list, self._other, foot, margin=0)
        made.setContentsMargins(1, 1, 1, 1)
        inner = made.layout()
        assert isinstance(inner, QVBoxLayout)
        inner.setStretch(0, 1)
        return made

    def _add_actions(self) -> None:
        self._actions = {
            command: action(self, title_of(command), partial(self.do, command), keys, enabled=False)
            for command, keys in _KEYS.items()
        }
        both = [QKeySequence(_KEYS[command]) for command in (Command.FORGET, Command.CANCEL)]
        self._actions[Command.FORGET].setShortcuts(both)  # no job can be cancelled and be removed
        action(self, text("Name a model to fetch"), self._finder.field.setFocus, "Ctrl+F")
        action(self, text("Pause all downloads"), self._downloads.pause_all)
        action(self, text("Let all downloads go on"), self._downloads.resume_all)
        action(self, text("Clear what is done"), self._downloads.forget_ended)

    def _connect(self) -> None:
        self._finder.job_wanted.connect(self._add)
        self._list.chosen_changed.connect(self._show_chosen)
        self._list.entered.connect(lambda: self.do(Command.SHOW))
        self._list.menu_wanted.connect(self._show_menu)
        self._downloads.changed.connect(self._changed)
        self._leave = self._services.settings.subscribe(lambda _value: self._changed())
        self._downloads.failed.connect(self._errors.show_error)
        self._downloads.added.connect(self._added)

    def _add(self, job: Job) -> None:
        self._downloads.add(job)

    def _added(self, job_id: int) -> None:
        self._list.choose_when_there(job_id)
        self._list.setFocus()

    def _changed(self) -> None:
        if self.isVisible():
            self._show_all()

    def _show_all(self) -> None:
        snapshot = self._downloads.snapshot
        self._body.setCurrentIndex(1 if snapshot.jobs else 0)
        self._list.show_snapshot(snapshot)
        self._total.setText(total_in_words(snapshot))
        on_the_way = bool(snapshot.open)
        paused = any(job.state is State.PAUSED for job in snapshot.jobs)
        self._pause_all.setText(text("Pause all") if on_the_way else text("Resume all"))
        self._pause_all.setAccessibleName(self._pause_all.text())
        self._pause_all.setVisible(on_the_way or paused)
        self._clear.setVisible(self._downloads.can_clear)
        self._show_note(snapshot.owner)

    def _show_note(self, owner: bool) -> None:
        """Why nothing is fetched here, where that is not for the jobs to say."""
        said = "" if owner else text("Another Weighbridge fetches these now.")
        if self._services.access.offline():
            said = text("Weighbridge is set to stay offline: downloads wait until it is online again.")
        self._other.setText(said)
        self._other.setVisible(bool(said))

    def _show_chosen(self) -> None:
        job = self._list.chosen
        possible = commands_of(job) if job is not None else ()
        for command, made in self._buttons.items():
            made.setVisible(command in possible)
        for command, act in self._actions.items():
            act.setEnabled(command in possible)
        self._show_fault(job)

    def _show_fault(self, job: JobView | None) -> None:
        """Why the chosen job has stopped, told once, so that who has closed it is left alone."""
        stopped = job is not None and job.state in (State.FAILED, State.PAUSED)
        error = job.error if job is not None and stopped else None
        told = (job.id, str(error)) if job is not None and error is not None else None
        if told == self._told:
            return
        self._told = told
        if error is None or job is None:
            self._errors.hide()
        else:
            again = self._downloads.retry if job.state is State.FAILED else self._downloads.resume
            self._errors.show_error(error, remedies(error, self._services, partial(again, job)))

    def _turn_all(self) -> None:
        (self._downloads.pause_all if self._downloads.snapshot.open else self._downloads.resume_all)()

    def _cancel(self, job: JobView) -> None:
        """Bytes that came are removed, so it asks; where none came, it does not."""
        if not job.done_bytes:
            self._downloads.cancel(job)
            return
        what = text("Cancel {name} and remove the {size} that came?", name=name_of(job), size=size(job.done_bytes))
        remove = (text("Cancel and remove"), partial(self._downloads.cancel, job))
        keep = (text("Pause and keep"), partial(self._downloads.pause, job))
        self._question.ask(what, (keep, remove))

    def _forget(self, job: JobView) -> None:
        """Of one that has failed, the bytes that came go too, so it asks; where none came, it does not."""
        if job.state is not State.FAILED or not job.done_bytes:
            self._downloads.forget(job)
            return
        what = text(
            "Remove {name} from the list, and the {size} that came?", name=name_of(job), size=size(job.done_bytes)
        )
        self._question.ask(what, ((text("Remove both"), partial(self._downloads.forget, job)),))

    def _show_menu(self, place: QPoint) -> None:
        job = self._list.chosen
        if job is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for command in commands_of(job):
            menu.addAction(title_of(command)).triggered.connect(partial(self._from_menu, command))
        menu.popup(place)

    def _from_menu(self, command: Command, _checked: bool) -> None:
        self.do(command)


_KEYS = {
    Command.PAUSE: "Ctrl+P",
    Command.RESUME: "Ctrl+Shift+P",
    Command.RETRY: "Ctrl+R",
    Command.UP: "Alt+Up",
    Command.DOWN: "Alt+Down",
    Command.CANCEL: "Del",
    Command.SHOW: "Ctrl+Return",
    Command.REVEAL: "Ctrl+Shift+R",
    Command.FORGET: "Shift+Del",
}


def _first_file(job: JobView) -> Path:
    """Where the first file of `job` lies: of one with several, its place is their folder."""
    return job.place if len(job.files) == 1 else job.place / PurePosixPath(job.files[0].path).name


def _reveal(job: JobView) -> None:
    folder = job.place if job.place.is_dir() else job.place.parent
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
