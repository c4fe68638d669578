"""The services of a window over a library of made files, a fake supervisor and a fake port."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QDir, QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget
from tests.ui.fakes import FakeJobs, FakePort, FakeSupervisor, machine
from tests.ui.made_library import fill

from weighbridge.base.database import Database
from weighbridge.base.paths import default_paths
from weighbridge.base.settings import SettingsStore
from weighbridge.base.words import use_language
from weighbridge.chat.speeds import AnswerSpeeds
from weighbridge.chat.store import ChatStore
from weighbridge.choices.blueprints import Blueprints
from weighbridge.hardware.measured import Measurements
from weighbridge.hub.access import access_of
from weighbridge.hub.client import Hub
from weighbridge.hub.kept import Kept
from weighbridge.hub.looking import Looker
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.searches import Searches
from weighbridge.hub.token import TokenStore
from weighbridge.library.hashes import Hashes
from weighbridge.library.index import Library
from weighbridge.library.marks import Marks
from weighbridge.library.remembered import Remembered
from weighbridge.running.devices import EngineDevices
from weighbridge.running.endpoints.endpoints import Endpoints
from weighbridge.running.endpoints.keys import Keys
from weighbridge.running.engines import Engines
from weighbridge.running.installation import Installer
from weighbridge.running.paces import speed_tables
from weighbridge.running.presets import Presets
from weighbridge.running.speed_observations import SpeedObservations
from weighbridge.running.speed_recording import Calculated, SpeedRecorder
from weighbridge.server.requests import RequestRecords
from weighbridge.ui.background import Background
from weighbridge.ui.bus import Bus
from weighbridge.ui.downloads import Downloads
from weighbridge.ui.endpoints.driving import EndpointsDriving
from weighbridge.ui.engines.driving import EngineBuilds
from weighbridge.ui.hub_parts import TokenUse
from weighbridge.ui.machine_facts import MachineFacts
from weighbridge.ui.memory_watch import MemoryWatch, Sampler
from weighbridge.ui.pages.library import LibraryPage
from weighbridge.ui.port_control import PortControl
from weighbridge.ui.services import Services
from weighbridge.ui.single import name_of
from weighbridge.ui.speedometers import Speedometers
from weighbridge.ui.theme import Theme
from weighbridge.ui.weighing import Weighing
from weighbridge.ui.weighing_sources import Sources
from weighbridge.ui.widgets.parts import scaled

PATIENCE_MS = 30_000
"""How long tests wait for what must come. On a busy machine it comes late, and that is no fault."""


@pytest.fixture
def qtbot(qtbot, monkeypatch):
    """Waits as long as `PATIENCE_MS` where a test does not say how long."""
    monkeypatch.setattr(qtbot, "waitUntil", partial(qtbot.waitUntil, timeout=PATIENCE_MS))
    return qtbot


@pytest.fixture(autouse=True)
def no_socket_left(home):
    """A window that a test kills cannot take its socket away."""
    yield
    (Path(QDir.tempPath()) / name_of(home / "data")).unlink(missing_ok=True)


@pytest.fixture
def ports():
    """The ports that were opened; a test may put one with a fault at the front of `next`."""

    class Ports(list):
        next: FakePort | None = None

        def make(self):
            made, self.next = self.next or FakePort(), None
            self.append(made)
            return made

    return Ports()


@pytest.fixture
def jobs():
    """The queue of downloads: it holds what a test puts there."""
    return FakeJobs()


@pytest.fixture
def services(qapp, home, ports, jobs):
    """Real library, store, settings and background; fake supervisor, port and machine."""
    use_language("en")
    paths = default_paths()
    settings = SettingsStore(paths.settings)
    background = Background()
    database = Database(paths.database)
    supervisor = FakeSupervisor()
    marks, hashes = Marks(database), Hashes(database)
    recorder = SpeedRecorder(
        SpeedObservations(database), lambda *_: Calculated(), lambda _: ("1", ("Test CPU",)), cores=64
    )
    memory = machine().memory
    devices = EngineDevices({}, paths.data)
    facts = MachineFacts(devices, Measurements.within(paths.data), background)
    sampler = Sampler(machine, lambda known, cards: replace(known, memory=memory))
    watch = MemoryWatch(sampler, supervisor.running, background, None, lambda: 0.25, facts.complete)
    weighing = Weighing(
        Sources(
            blueprints=Blueprints(),
            engines={},
            machine=lambda: watch.machine,
            told=lambda: facts.told,
            running=supervisor.running,
            default_load=supervisor.default_load,
            context=lambda: settings.value.context,
            past=tuple,
            speeds=Speedometers(speed_tables(), SpeedObservations(database).all, background),
        ),
        background,
    )
    tokens = TokenStore(paths.config, {}, lambda: None)
    token = TokenUse(tokens)
    access = access_of(lambda: settings.value, token, {})
    network = NetworkLog()
    hub = Hub(access, network)
    engines = Engines({}, paths.data, {})
    builds = EngineBuilds(
        engines,
        Installer(engines, network, access.offline),
        devices,
        facts,
        lambda: watch.machine,
        tuple,
        background,
    )
    downloads = Downloads(jobs, background)
    served = Endpoints(database, Keys(paths.config, lambda: None), network, access.offline)
    endpoints = EndpointsDriving(served, background)
    library = Library([paths.models], None, marks, hashes, Remembered(paths.listing), elsewhere=served.models)
    made = Services(
        paths=paths,
        settings=settings,
        library=library,
        marks=marks,
        presets=Presets(database),
        hashes=hashes,
        supervisor=supervisor,
        store=ChatStore(database),
        answer_speeds=AnswerSpeeds(supervisor, recorder),
        port=PortControl(ports.make, RequestRecords(), settings, background),
        memories=watch,
        facts=facts,
        weighing=weighing,
        builds=builds,
        endpoints=endpoints,
        access=access,
        tokens=tokens,
        token=token,
        network=network,
        hub=hub,
        searches=Searches(hub, asker=access.asker),
        looker=Looker(hub, Kept(paths.data / "hub", access.endpoint), asker=access.asker),
        downloads=downloads,
        background=background,
        theme=Theme(qapp, settings),
        bus=Bus(),
    )
    yield made
    watch.stop()
    builds.close()
    endpoints.close()
    weighing.quiet()
    made.port.shut()
    downloads.close()
    hub.close()
    background.close()
    recorder.close()
    database.close()


@pytest.fixture
def full(services):
    """`services` with seven models, one of them damaged, listed."""
    fill(services.paths.models)
    services.library.scan()
    return services


@pytest.fixture
def library_page(qtbot, full):
    """The Library over seven models, all weighed."""
    made = LibraryPage(full)
    qtbot.addWidget(made)
    made.resize(1100, 700)
    made.show()
    qtbot.waitUntil(made._rescan.isEnabled)
    full.memories.start()
    qtbot.waitUntil(lambda: all(full.weighing.choice(model) for model in full.library.models))
    yield made
    made.shut()


class _Shown(QObject):
    """Notes each window that is shown, but for what is one by its kind: a menu, a dialog, a tip."""

    def __init__(self, parent):
        super().__init__(parent)
        self.found = []

    def eventFilter(self, watched, event):
        is_window = event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow()
        if is_window and watched.windowType() in (Qt.WindowType.Window, Qt.WindowType.Widget):
            self.found.append(f"{type(watched).__name__} {watched.objectName()}")
        return False


@pytest.fixture
def scale_fonts(qapp):
    """Has the fonts of what is made from now on be so many times as large, until the test is over."""
    before = qapp.font()
    yield lambda times: qapp.setFont(scaled(before, times))
    qapp.setFont(before)


@pytest.fixture
def windows_shown(qapp):
    """What was shown as a window of its own since the test began: no part of a page should be, it takes the focus."""
    shown = _Shown(qapp)
    qapp.installEventFilter(shown)
    yield shown.found
    qapp.removeEventFilter(shown)
