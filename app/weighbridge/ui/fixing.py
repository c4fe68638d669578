"""What was found of a failed load, looked for off the GUI thread; and doing what a person chooses of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.choices.choice import Choice, Surroundings, weigh
from weighbridge.choices.corrections import after_loads, planned_load
from weighbridge.choices.family import siblings
from weighbridge.choices.finding import Finding, Ground, before_load, of_failure, will_not_fit
from weighbridge.choices.finding_report import here, report
from weighbridge.choices.fixes import Fix, FixKind
from weighbridge.library.model import Model
from weighbridge.running.state import Running
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.finding_panel import FindingPanel
from weighbridge_engines.api import Load

Go = Callable[[Model, Load], object]
"""Makes a load of a model, in the way of whoever asked for it."""


class Fixing:
    """Shows in a panel what can be done about a failed load, and does it. Of the GUI thread."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._looking: WeighbridgeError | None = None

    def serve(self, panel: FindingPanel, verify: Callable[[], object] | None = None) -> None:
        """Do what is chosen in `panel`. `verify` reads the file of the model that it is about."""

        def do(fix: Fix) -> None:
            if fix.kind is FixKind.VERIFY and verify is not None:
                verify()
            else:
                self.do(fix)

        panel.fix_wanted.connect(do)

    def look(self, panel: FindingPanel, model: Model, running: Running | None) -> None:
        """Say in `panel`, which shows the error of `running`, what can be done about it. Once for each error."""
        error, around = running.error if running else None, self._services.weighing.here()
        if running is None or error is None or around is None or error is self._looking or not panel.isVisible():
            return
        self._looking = error
        work = partial(self._found, error, model, running, around.if_unused(model.id))
        self._services.background.run(work, lambda found: panel.show_finding(error, *found), _ignore)

    def is_unmet(self, model: Model, load: Load) -> bool:
        """Whether `load` will not fit here by a first look. It weighs once: a millisecond or two."""
        around = self._services.weighing.here()
        return around is not None and will_not_fit(self._weighed(model, load, around.if_unused(model.id)))

    def unmet(self, model: Model, load: Load, task: Task) -> Finding | None:
        """What to choose between where `load` will not fit here, also after what loads like it really took; None where
        it may. It reads: not in the GUI thread.
        """
        around = self._services.weighing.here()
        if around is None:
            return None
        around = around.if_unused(model.id)
        choice = after_loads(self._weighed(model, load, around), around, self._services.weighing.sources.past())
        task.check()
        return before_load(choice, self._ground(model, around))

    def do(self, fix: Fix, go: Go | None = None) -> None:
        """Do it; loads are made by `go` where there is one. How a load goes is seen where running models are shown."""
        services = self._services
        load = fix.load if fix.way is None else planned_load(fix.way.choice)
        if fix.kind is FixKind.END:
            ended = services.supervisor.stop(fix.other_id)
            make = partial(self._load, fix.model_id, load, go)
            services.background.follow(ended, lambda _: make(), services.bus.failed.emit)
        elif fix.kind in (FixKind.AGAIN, FixKind.LOAD, FixKind.OTHER_ENGINE):
            self._load(fix.model_id, load, go)
        elif fix.kind is FixKind.OTHER_MODEL:
            self._load(fix.other_id, load, go)
        elif fix.kind is FixKind.USE_BUILD:
            services.builds.use(fix.build_id)
            services.bus.build_wanted.emit(fix.build_id)
        elif fix.kind is FixKind.INSTALL_BUILD:
            services.bus.build_wanted.emit(fix.build_id)
        else:
            self._of_file(fix)

    def _of_file(self, fix: Fix) -> None:
        model = self._model(fix.model_id)
        if fix.kind is FixKind.SCAN:
            self._services.bus.scan_wanted.emit()
        elif fix.kind is FixKind.FETCH:
            self._services.bus.page_wanted.emit("discover")
        elif model is not None:
            self._services.bus.place_wanted.emit(model.path)

    def _load(self, model_id: str, load: Load | None, go: Go | None) -> None:
        model = self._model(model_id)
        if model is not None and load is not None:
            (go or self._make)(model, load)

    def _make(self, model: Model, load: Load) -> None:
        self._services.background.follow(self._services.supervisor.load(model, load), _ignore, _ignore)
        self._services.bus.load_made.emit(model.id, load)

    def _model(self, model_id: str) -> Model | None:
        return next((model for model in self._services.library.models if model.id == model_id), None)

    def _found(
        self, error: WeighbridgeError, model: Model, running: Running, around: Surroundings, task: Task
    ) -> tuple[Finding, str]:
        del task
        finding = of_failure(error, self._weighed(model, running.load, around), self._ground(model, around))
        token = self._services.token()
        secrets = [token.value] if token is not None else []
        engine = around.engines.get(running.engine_id)
        return finding, report(finding, around.machine, engine, running.log, here(), secrets)

    def _weighed(self, model: Model, load: Load, around: Surroundings) -> Choice:
        """As it was asked for; a load that nobody can weigh is weighed as nothing."""
        sources = self._services.weighing.sources
        beside, by = sources.parts.beside(load), load.engine or None
        try:
            return weigh(model, sources.blueprints.of(model), load, around, engine_id=by, beside=beside)
        except WeighbridgeError:
            return Choice(model, None, None, None, load)

    def _ground(self, model: Model, around: Surroundings) -> Ground:
        sources = self._services.weighing.sources
        smaller = tuple((one, sources.blueprints.of(one)) for one in siblings(model, self._services.library.models))
        models = self._services.paths.models
        return Ground(around, sources.speeds.tables, sources.speeds.runs, smaller, models)


def _ignore(told: object) -> None:
    """What came of it is shown elsewhere."""
    del told
