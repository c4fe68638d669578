"""Doing what is advised: one button each."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtWidgets import QToolTip, QWidget

from weighbridge.base.errors import Cancelled
from weighbridge.base.words import text
from weighbridge.choices.advice.advice import Action, ActionKind
from weighbridge.choices.advice.words import command_of
from weighbridge.library.model import Model
from weighbridge.ui.asking import Asking
from weighbridge.ui.clipboard import copy
from weighbridge.ui.measuring import Measuring
from weighbridge.ui.services import Services
from weighbridge_engines.api import Load


class Doing(QObject):
    """`failed` tells what went wrong. What a terminal has to do is copied, and said so."""

    failed = Signal(object)

    def __init__(self, services: Services, parent: QWidget) -> None:
        super().__init__(parent)
        self._services = services
        self._asking = Asking(services, parent)
        self._measuring = Measuring(services, self)
        self._measuring.failed.connect(self.failed)

    def do(self, action: Action, beside: QWidget) -> None:
        """Do it; `beside` is the button that was pressed."""
        services = self._services
        match action.kind:
            case ActionKind.INSTALL_BUILD:
                services.builds.install(action.build_id)
                services.bus.build_wanted.emit(action.build_id)
            case ActionKind.USE_BUILD:
                services.builds.use(action.build_id)
                services.bus.build_wanted.emit(action.build_id)
            case ActionKind.FIND:
                services.bus.find_wanted.emit(action.query)
            case ActionKind.LOAD:
                self._load(action)
            case ActionKind.CHANGE:
                self._change(action)
            case ActionKind.ATTACH:
                services.bus.endpoint_wanted.emit(action.preset)
            case ActionKind.MEASURE:
                self._measure(beside)
            case ActionKind.INSTALL | ActionKind.RUN:
                copy(command_of(action), beside)

    def _measure(self, beside: QWidget) -> None:
        if self._measuring.measure():
            QToolTip.showText(beside.mapToGlobal(QPoint(0, beside.height())), text("Measuring…"), beside)

    def _load(self, action: Action) -> None:
        model = self._model(action.model_id)
        if model is not None and action.load is not None:
            self._asking.before(model, action.load, self._make)

    def _make(self, model: Model, load: Load) -> None:
        services = self._services
        services.background.follow(self._asking.make(model, load), lambda _running: None, self._not_made)
        services.bus.place_wanted.emit(model.path)

    def _not_made(self, error: BaseException) -> None:
        """What the engine itself failed with stands beside the model in the Library."""
        running = {one.model_id for one in self._services.supervisor.running()}
        if not isinstance(error, Cancelled) and not running:
            self.failed.emit(error)

    def _change(self, action: Action) -> None:
        """Settings of one model are shown where they are set, with what they come to; the program's own are changed."""
        services, model = self._services, self._model(action.model_id)
        if model is not None:
            services.bus.load_wanted.emit(model.id, action.load)
        elif "context" in action.changes:
            services.settings.change(context=action.changes["context"])
            services.supervisor.use_context(action.changes["context"])

    def _model(self, model_id: str) -> Model | None:
        return next((one for one in self._services.library.models if one.id == model_id), None)
