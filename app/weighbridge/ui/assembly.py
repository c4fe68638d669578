"""Making what pages are given, out of the core. Import it off the GUI thread: it brings most of the program with it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.paths import Paths
from weighbridge.base.settings import SettingsStore
from weighbridge.chat.speeds import AnswerSpeeds
from weighbridge.hardware.again import look_again
from weighbridge.hardware.detect import detect
from weighbridge.hardware.load import ProcessorLoad
from weighbridge.hardware.measured import Measurements
from weighbridge.running.observations import Observations
from weighbridge.running.scales import available_bytes
from weighbridge.running.sizing import Sizing
from weighbridge.running.speed_observations import SpeedObservations
from weighbridge.running.whole import cards_of
from weighbridge.server.requests import RequestRecords
from weighbridge.ui.background import Background
from weighbridge.ui.bus import Bus
from weighbridge.ui.core import Core
from weighbridge.ui.downloads import Downloads
from weighbridge.ui.endpoints.driving import EndpointsDriving
from weighbridge.ui.engines.driving import EngineBuilds
from weighbridge.ui.machine_facts import MachineFacts
from weighbridge.ui.memory_watch import MemoryWatch, Sampler
from weighbridge.ui.port_control import OpenPort, PortControl
from weighbridge.ui.services import Services
from weighbridge.ui.speedometers import Speedometers
from weighbridge.ui.theme import Theme
from weighbridge.ui.weighing import Weighing
from weighbridge.ui.weighing_sources import Sources


@dataclass(frozen=True)
class Frame:
    """What stands before the core does. `owner` is the parent of all that is made."""

    paths: Paths
    settings: SettingsStore
    background: Background
    theme: Theme
    bus: Bus
    owner: QObject


def make_services(core: Core, frame: Frame) -> Services:
    """What every page is given. Nothing is read for it, so that the window does not stand still. GUI thread."""
    records, measurements = RequestRecords(), Measurements.within(frame.paths.data)
    sampler = Sampler(
        lambda: measurements.apply(detect()), lambda machine, cards: look_again(machine, with_cards=cards)
    )
    facts = MachineFacts(core.engine_devices, measurements, frame.background, frame.owner, absent=core.absent)
    memories = MemoryWatch(
        sampler, core.supervisor.running, frame.background, frame.owner, ProcessorLoad().now, facts.complete
    )
    core.supervisor.use_cards(cards_of(lambda: memories.machine, core.engines, core.blueprints.of))
    return Services(
        paths=frame.paths,
        settings=frame.settings,
        library=core.library,
        marks=core.marks,
        presets=core.presets,
        hashes=core.hashes,
        supervisor=core.supervisor,
        store=core.store,
        answer_speeds=AnswerSpeeds(core.supervisor, core.recorders.speeds),
        port=_port(core, frame, records),
        memories=memories,
        facts=facts,
        weighing=_weighing(core, frame, memories, facts),
        builds=_builds(core, frame, memories, facts),
        endpoints=_endpoints(core, frame, memories),
        access=core.hub.access,
        tokens=core.tokens,
        token=core.hub.token,
        network=core.hub.network,
        hub=core.hub.hub,
        searches=core.hub.searches,
        looker=core.hub.looker,
        downloads=_downloads(core, frame),
        background=frame.background,
        theme=frame.theme,
        bus=frame.bus,
    )


def _port(core: Core, frame: Frame, records: RequestRecords) -> PortControl:
    def make_port() -> OpenPort:
        from weighbridge.running.endpoints.current import Current
        from weighbridge.server.gateway import gateway
        from weighbridge.server.serving import Port

        current, house = Current(core.library, core.endpoints), core.endpoints.house
        return Port(gateway(current, core.supervisor, records, house=house))

    return PortControl(make_port, records, frame.settings, frame.background, frame.owner)


def _builds(core: Core, frame: Frame, memories: MemoryWatch, facts: MachineFacts) -> EngineBuilds:
    return EngineBuilds(
        core.engines,
        core.installer,
        core.engine_devices,
        facts,
        lambda: memories.machine,
        lambda: core.library.models,
        frame.background,
        frame.owner,
    )


def _endpoints(core: Core, frame: Frame, memories: MemoryWatch) -> EndpointsDriving:
    """What they serve stands in the Library. While somebody looks, what other processes change is noticed."""
    made = EndpointsDriving(core.endpoints, frame.background, frame.owner)
    made.told.connect(frame.bus.scan_wanted)
    memories.changed.connect(made.refresh)
    return made


def _downloads(core: Core, frame: Frame) -> Downloads:
    def came(place: Path) -> None:
        """A model has been fetched: it is shown, though it was once taken off the list."""
        with suppress(WeighbridgeError):
            core.marks.put_back_below(place)
        frame.bus.scan_wanted.emit()

    made = Downloads(core.hub.queue, frame.background, frame.owner)
    made.changed.connect(frame.bus.downloads_changed)
    made.done.connect(lambda job: came(job.place))
    return made


def _weighing(core: Core, frame: Frame, memories: MemoryWatch, facts: MachineFacts) -> Weighing:
    past_speeds = SpeedObservations(core.database).all
    speeds = Speedometers(core.speed_tables, past_speeds, frame.background, frame.owner)
    speeds.reread()
    sources = Sources(
        blueprints=core.blueprints,
        engines=core.engines,
        machine=lambda: memories.machine,
        told=lambda: facts.told if facts.answered else None,
        running=core.supervisor.running,
        default_load=core.supervisor.default_load,
        context=lambda: frame.settings.value.context,
        past=Observations(core.database).all,
        speeds=speeds,
        sizing=Sizing(core.engines, frame.paths.data / "sizing", available_bytes),
        parts=core.parts,
    )
    return Weighing(sources, frame.background, frame.owner)
