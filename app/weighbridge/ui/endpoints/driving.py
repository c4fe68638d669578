"""What the window does with endpoints: each act off the GUI thread, its fault beside what it was about."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.running.endpoints.endpoint import Endpoint, Reached
from weighbridge.running.endpoints.endpoints import Endpoints
from weighbridge.ui.background import Background


@dataclass(frozen=True)
class Wanted:
    """A server that is to be added, or to be like this from now on, as it was typed; `key` None: without one."""

    preset: str
    address: str
    title: str = ""
    key: str | None = None
    plain_key: bool = False


class EndpointsDriving(QObject):
    """`told`: there is another endpoint, or one serves other models; `changed`: also how one is asked. `added` tells
    the Endpoint that was, `kept` that a key or a change was, `failed` why neither was. Asks a server only when told to.
    """

    changed = Signal()
    added = Signal(object)
    kept = Signal()
    failed = Signal(object)
    told = Signal()

    def __init__(self, endpoints: Endpoints, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.endpoints = endpoints
        self._background = background
        self._asking: dict[str, Task] = {}
        self._errors: dict[str, BaseException] = {}
        self.told.connect(self.changed)
        self._leave = endpoints.subscribe(self.told.emit)  # from whichever thread

    def close(self) -> None:
        """Hear nothing more, and give up what is asked."""
        self._leave()
        self.quiet()

    def quiet(self) -> None:
        """Give up what is asked."""
        for task in tuple(self._asking.values()):
            task.cancel()

    def refresh(self) -> None:
        """Take over what another process has changed."""
        self._background.run(lambda _task: self.endpoints.refresh(), lambda _none: None, lambda _error: None)

    def asks(self, endpoint_id: str) -> bool:
        """Whether a server is being asked."""
        return endpoint_id in self._asking

    def error(self, endpoint_id: str) -> BaseException | None:
        """What went wrong with it last, beside what its server said."""
        return self._errors.get(endpoint_id)

    def add(self, wanted: Wanted) -> None:
        """Add a server, then ask what it serves: it was the user who named it. `failed` tells why it was not added."""

        def work(_task: Task) -> Endpoint:
            return self.endpoints.add(
                wanted.address,
                preset=wanted.preset or None,
                title=wanted.title,
                key=wanted.key,
                plain_key=wanted.plain_key,
            )

        self._background.run(work, self._added, self._refused)

    def change(self, endpoint_id: str, wanted: Wanted) -> None:
        """Have it be as `wanted`, but for the key, then ask what it serves. `failed` tells why it stays as it was."""

        def work(_task: Task) -> Endpoint:
            return self.endpoints.change(endpoint_id, title=wanted.title, address=wanted.address, preset=wanted.preset)

        def done(endpoint: Endpoint) -> None:
            self.kept.emit()
            self.look(endpoint.id)

        self._background.run(work, done, self._refused)

    def use_path(self, endpoint_id: str, base_path: str) -> None:
        """Have its routes begin there, then ask what it serves."""
        self._background.run(
            lambda _task: self.endpoints.change(endpoint_id, base_path=base_path),
            lambda _endpoint: self.look(endpoint_id),
            lambda error: self._over(endpoint_id, error),
        )

    def look(self, endpoint_id: str) -> None:
        """Ask a server what it serves."""
        if endpoint_id in self._asking:
            return
        self._errors.pop(endpoint_id, None)

        def work(task: Task) -> Reached:
            return self.endpoints.reach(endpoint_id, task)

        self._asking[endpoint_id] = self._background.stream(
            work, lambda _reached: self._over(endpoint_id), lambda error: self._over(endpoint_id, error), "endpoint"
        )
        self.changed.emit()

    def use_key(self, endpoint_id: str, key: str | None, *, plain_key: bool = False) -> None:
        """Keep another key for it; None: none. Keyrings may take their time."""

        def work(_task: Task) -> Endpoint:
            return self.endpoints.use_key(endpoint_id, key, plain_key=plain_key)

        self._background.run(work, lambda _endpoint: self.kept.emit(), self._refused)

    def remove(self, endpoint_id: str) -> None:
        """Forget it, its models and its key."""
        self._background.run(
            lambda _task: self.endpoints.remove(endpoint_id),
            lambda _endpoint: self.changed.emit(),
            lambda error: self._over(endpoint_id, error),
        )

    def _added(self, endpoint: Endpoint) -> None:
        self.added.emit(endpoint)
        self.look(endpoint.id)

    def _refused(self, error: BaseException) -> None:
        if not isinstance(error, Cancelled):
            self.failed.emit(error)

    def _over(self, endpoint_id: str, error: BaseException | None = None) -> None:
        self._asking.pop(endpoint_id, None)
        if error is not None and not isinstance(error, Cancelled):
            self._errors[endpoint_id] = error
        self.changed.emit()
