"""The Advisor: ten questions, prefilled from the machine and the library; the answer beside them as they change."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.choices.advice.answers import as_answer
from weighbridge.hardware.machine import Machine
from weighbridge.ui.advisor.advice_view import AdviceView
from weighbridge.ui.advisor.doing import Doing
from weighbridge.ui.advisor.questions_view import QuestionsView
from weighbridge.ui.advisor.reckoning import Asked, Reckoned, has_moved, reckon
from weighbridge.ui.pages.page import Page
from weighbridge.ui.services import Services
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.machine_chooser import MachineChooser
from weighbridge.ui.widgets.parts import action, button, column, label, panel, row

_PATIENCE_MS = 60
"""What changes at once is reckoned together."""

_QUESTIONS_EMS, _WIDE_EMS = 21, 46
"""How wide the questions are, and from where on they stand beside the advice."""


class AdvisorPage(Page):
    """Reckons only while it is in sight. Answers that the user gave stay until they are put back."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._given: dict[str, Any] = {}
        self._task: Task | None = None
        self._for: Machine | None = None
        self._questions = QuestionsView()
        self._advice = AdviceView(services.theme)
        self._doing = Doing(services, self)
        self._errors = ErrorPanel(services.theme)
        self._machine = MachineChooser(services, self)
        self._again = button(text("Reset all answers"), self.forget)
        self._waiting = label(text("Looking at this machine…"), "dim")
        self._soon = QTimer(self, interval=_PATIENCE_MS, singleShot=True)
        self._soon.timeout.connect(self._reckon)
        self._lay_out()
        services.theme.dress(self)
        action(self, text("Reset all answers"), self.forget, "Ctrl+Shift+R")
        action(self, text("What if: another card, other memory"), self._machine.open, "Ctrl+Shift+W")
        action(self, text("Do what is advised first"), self._do_first, "Ctrl+Return")
        self._connect()

    @property
    def questions(self) -> QuestionsView:
        """The questions."""
        return self._questions

    @property
    def advice(self) -> AdviceView:
        """What follows."""
        return self._advice

    @property
    def advice_area(self) -> QScrollArea:
        """What the advice is scrolled in."""
        return self._right

    @property
    def errors(self) -> ErrorPanel:
        """What went wrong."""
        return self._errors

    @property
    def machine(self) -> MachineChooser:
        """Which machine is meant."""
        return self._machine

    def entered(self) -> None:
        self._machine.take_over()
        self._ask()
        self._questions.fields["hardware"].setFocus()

    def left(self) -> None:
        self._soon.stop()
        self._quiet()

    def shut(self) -> None:
        self.left()
        self._leave()

    def escape(self) -> bool:
        if not self._errors.isHidden():
            self._errors.hide()
        elif self._machine.is_open:
            self._machine.strip.leave()
        else:
            return False
        return True

    def answer(self, name: str, value: object) -> None:
        """Take an answer; None: as the machine and the library say."""
        if value is None:
            self._given.pop(name, None)
        else:
            self._given[name] = as_answer(name, value)
        self._ask()

    def forget(self) -> None:
        """All answers as the machine and the library say."""
        self._given.clear()
        self._ask()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def _lay_out(self) -> None:
        head = row(label(text("Advisor"), "title"), None, self._again, self._machine.opener, gap=2)
        self._left = _scrolled(self._questions, text("Questions"))
        self._right = _scrolled(self._advice, text("Advice"))
        self._left_panel = panel(self._left, margin=0)
        self._body = row(self._left_panel, self._right, gap=3)
        whole = column(head, self._machine.strip, self._errors, self._waiting, self._body, owner=self, margin=4, gap=3)
        whole.setStretch(4, 1)
        self._turn()

    def _turn(self) -> None:
        """Where there is little width, the advice stands below the questions."""
        em = self.fontMetrics().height()
        wide = self.width() >= em * _WIDE_EMS
        self._body.setDirection(self._body.Direction.LeftToRight if wide else self._body.Direction.TopToBottom)
        self._left_panel.setMinimumWidth(em * _QUESTIONS_EMS if wide else 0)
        self._left_panel.setMaximumWidth(em * _QUESTIONS_EMS if wide else 1 << 20)
        self._body.setStretch(0, 0 if wide else 2)
        self._body.setStretch(1, 1 if wide else 3)

    def _connect(self) -> None:
        services = self._services
        self._questions.answered.connect(self.answer)
        self._advice.wanted.connect(self._doing.do)
        self._doing.failed.connect(self._errors.show_error)
        self._machine.changed.connect(self._ask)
        services.memories.changed.connect(self._sampled)
        services.facts.changed.connect(self._ask)
        services.bus.library_changed.connect(self._ask)
        services.bus.running_changed.connect(self._ask)
        services.builds.changed.connect(self._ask)
        services.endpoints.changed.connect(self._ask)
        services.weighing.sources.speeds.changed.connect(self._ask)
        self._leave = services.settings.subscribe(lambda _value: self._ask())

    def _ask(self) -> None:
        if self.isVisible() and not self._soon.isActive():  # started anew by each sample, it might wait for ever
            self._soon.start()

    def _sampled(self) -> None:
        if has_moved(self._for, self._services.memories.machine):
            self._ask()

    def _quiet(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _reckon(self) -> None:
        services = self._services
        meant = services.weighing.meant()
        self._waiting.setVisible(meant is None)
        if meant is None:
            machine = services.memories.machine
            if machine is not None:
                services.facts.ask_engines(machine)
            return
        self._quiet()
        around, meter = meant
        self._for = services.memories.machine
        elsewhere = services.weighing.other is not None
        models, context = tuple(services.library.models), services.settings.value.context
        attached = {one.preset_id: one.title for one in services.endpoints.endpoints.all}
        asked = Asked(around, meter, models, context, elsewhere, dict(self._given), attached)
        work = partial(reckon, asked, services.weighing.sources)
        self._task = services.background.run(lambda _task: work(), self._show, self._failed)

    def _show(self, found: Reckoned) -> None:
        self._task = None
        self._questions.show_answers(found.prefilled, self._given)
        self._advice.show_advice(found.advice)
        self._again.setEnabled(bool(self._given))

    def _failed(self, error: BaseException) -> None:
        if not isinstance(error, Cancelled):
            self._errors.show_error(error)

    def _do_first(self) -> None:
        buttons = sorted(self._advice.buttons, key=lambda each: each.property("role") != "primary")
        for each in buttons[:1]:
            each.click()


def _scrolled(inner: QWidget, name: str) -> QScrollArea:
    made = QScrollArea(widgetResizable=True)
    made.setAccessibleName(name)
    made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    inner.setObjectName("scrolled")
    inner.setContentsMargins(0, 0, STEP, 0)
    made.setWidget(inner)
    return made
