"""The parts of the program below the window, built once, off the GUI thread while the window already stands."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weighbridge.base.paths import Paths
from weighbridge.base.settings import Settings

if TYPE_CHECKING:
    from weighbridge.base.database import Database
    from weighbridge.chat.store import ChatStore
    from weighbridge.choices.blueprints import Blueprints
    from weighbridge.hub.token import TokenStore
    from weighbridge.library.hashes import Hashes
    from weighbridge.library.index import Library
    from weighbridge.library.marks import Marks
    from weighbridge.running.devices import EngineDevices
    from weighbridge.running.endpoints.endpoints import Endpoints
    from weighbridge.running.engines import Engines
    from weighbridge.running.installation import Installer
    from weighbridge.running.paces import SpeedTables
    from weighbridge.running.parts import Parts
    from weighbridge.running.presets import Presets
    from weighbridge.running.recording import Recorders
    from weighbridge.running.supervisor import Supervisor
    from weighbridge.ui.hub_parts import HubParts
    from weighbridge_engines.api import Cause, Engine


@dataclass(frozen=True)
class Core:
    """What a window needs from below; `close` ends all of it. `absent()`: that no engine is installed, where none is.

    `engines` are the builds in use; `installer` brings others.
    """

    database: Database
    store: ChatStore
    library: Library
    marks: Marks
    presets: Presets
    parts: Parts
    hashes: Hashes
    supervisor: Supervisor
    engine_devices: EngineDevices
    absent: Callable[[], Cause | None]
    engines: Engines
    endpoints: Endpoints
    installer: Installer
    blueprints: Blueprints
    recorders: Recorders
    speed_tables: SpeedTables
    tokens: TokenStore
    hub: HubParts

    def close(self) -> None:
        """Stop the downloads, end the engines, keep what they took and how fast they were, let the database go."""
        self.hub.close()
        self.supervisor.close()
        self.recorders.close()
        self.database.close()


def build_core(
    paths: Paths, settings: Callable[[], Settings], engines: Callable[[], Mapping[str, Engine]], mark: str | None = None
) -> Core:
    """Open the database and make the rest. Raises a WeighbridgeError where the database cannot be used.

    `settings` gives those in force. `mark` is that of the data folder's lock, where we hold it.
    """
    from weighbridge.base.database import Database
    from weighbridge.chat.store import ChatStore
    from weighbridge.choices.blueprints import Blueprints
    from weighbridge.hardware.measured import Measurements
    from weighbridge.hub.token import TokenStore
    from weighbridge.library.hashes import Hashes
    from weighbridge.library.marks import Marks
    from weighbridge.running.devices import EngineDevices
    from weighbridge.running.endpoints.endpoints import Endpoints
    from weighbridge.running.endpoints.keys import Keys
    from weighbridge.running.engines import live
    from weighbridge.running.paces import speed_tables
    from weighbridge.running.parts import Parts
    from weighbridge.running.presets import Presets
    from weighbridge.running.recording import machine_recorders
    from weighbridge.ui.hub_parts import build_hub

    now = settings()
    database = Database(paths.database)
    store = ChatStore(database)
    store.recover()
    marks, hashes = Marks(database), Hashes(database)
    tokens = TokenStore(paths.config, os.environ)
    hub = build_hub(paths, settings, tokens, database, os.environ)
    endpoints = Endpoints(database, Keys(paths.config), hub.network, hub.access.offline)
    library = _recalled(paths, now, marks, hashes, endpoints)
    blueprints = Blueprints()
    library.subscribe(blueprints.of)  # made where the header was read, not where it is shown
    known = live(engines(), paths.data, paths.described_programs)
    environment = _environment(mark)
    parts, presets = Parts(marks.of), Presets(database)
    devices = EngineDevices(known, paths.data)
    recorders = machine_recorders(database, marks, blueprints.of, devices, Measurements.within(paths.data))
    return Core(
        database=database,
        store=store,
        library=library,
        marks=marks,
        presets=presets,
        parts=parts,
        hashes=hashes,
        supervisor=_supervisor(now, known, environment, parts, presets, blueprints, recorders, endpoints),
        engine_devices=devices,
        absent=lambda: _absent(known),
        engines=known,
        endpoints=endpoints,
        installer=_installer(known, hub),
        blueprints=blueprints,
        recorders=recorders,
        speed_tables=speed_tables(),
        tokens=tokens,
        hub=hub,
    )


def _environment(mark: str | None) -> dict[str, str]:
    """What engines inherit; whatever the last owner of the data folder has left behind is ended."""
    from weighbridge.running.leftovers import end_leftovers, marked

    end_leftovers(mark)
    return marked(os.environ, mark)


def _supervisor(
    settings: Settings,
    engines: Engines,
    environment: Mapping[str, str],
    parts: Parts,
    presets: Presets,
    blueprints: Blueprints,
    recorders: Recorders,
    endpoints: Endpoints,
) -> Supervisor:
    """The owner of all engine processes."""
    from weighbridge.running.defaults import machine_defaults
    from weighbridge.running.presets import PresetLoads
    from weighbridge.running.prompt_room import checkpoints_of
    from weighbridge.running.scales import machine_scales
    from weighbridge.running.supervisor import Supervisor

    room = checkpoints_of(blueprints.of)
    defaults = replace(
        machine_defaults(settings.context),
        name_parts=parts.named_in,
        in_preset=PresetLoads(presets, engines).in_load,
        checkpoints=room,
    )
    scales = machine_scales(blueprints.of, engines, parts.beside)
    loaded, used = recorders.loads.loaded, recorders.uses.used
    return Supervisor(engines, defaults, scales, settings.idle_s, environment, loaded, used, endpoints)


def _installer(engines: Engines, hub: HubParts) -> Installer:
    """Who brings builds; what an interrupted installation has left is removed."""
    from weighbridge.running.installation import Installer

    installer = Installer(engines, hub.network, hub.access.offline)
    installer.clean()
    return installer


def _absent(engines: Engines) -> Cause | None:
    from weighbridge.running.choose import PREFERRED
    from weighbridge.running.installing import none_installed

    return none_installed(engines.values(), PREFERRED)


def _recalled(paths: Paths, settings: Settings, marks: Marks, hashes: Hashes, endpoints: Endpoints) -> Library:
    """The library, which lists what was there at the last start until it has looked itself."""
    from weighbridge.library.index import Library
    from weighbridge.library.places import library_roots
    from weighbridge.library.remembered import Remembered
    from weighbridge.library.shelves.program import this_computer

    roots = library_roots(paths, settings, this_computer())
    listing = Remembered(paths.listing)
    library = Library(roots, paths.headers, marks, hashes, listing, elsewhere=endpoints.models)
    library.recall()
    endpoints.subscribe(library.relist)
    return library
