"""What every page is given: built once, in `ui.app`, and passed by constructor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.base.paths import Paths
from weighbridge.base.settings import SettingsStore
from weighbridge.ui.background import Background
from weighbridge.ui.bus import Bus
from weighbridge.ui.theme import Theme

if TYPE_CHECKING:  # imported where they are built: the window shows before they are
    from weighbridge.chat.speeds import AnswerSpeeds
    from weighbridge.chat.store import ChatStore
    from weighbridge.hub.access import Access
    from weighbridge.hub.client import Hub
    from weighbridge.hub.looking import Looker
    from weighbridge.hub.network import NetworkLog
    from weighbridge.hub.searches import Searches
    from weighbridge.hub.token import TokenStore
    from weighbridge.library.hashes import Hashes
    from weighbridge.library.index import Library
    from weighbridge.library.marks import Marks
    from weighbridge.running.presets import Presets
    from weighbridge.running.supervisor import Supervisor
    from weighbridge.ui.downloads import Downloads
    from weighbridge.ui.endpoints.driving import EndpointsDriving
    from weighbridge.ui.engines.driving import EngineBuilds
    from weighbridge.ui.hub_parts import TokenUse
    from weighbridge.ui.machine_facts import MachineFacts
    from weighbridge.ui.memory_watch import MemoryWatch
    from weighbridge.ui.port_control import PortControl
    from weighbridge.ui.weighing import Weighing


@dataclass(frozen=True)
class Services:
    """The parts of the program that pages use. All live as long as the window.

    `supervisor` listeners are called from any thread: pages listen to `bus.running_changed` instead. `access` is what
    is set about the Hub, with the `token` in use, out of `tokens`.
    """

    paths: Paths
    settings: SettingsStore
    library: Library
    marks: Marks
    presets: Presets
    hashes: Hashes
    supervisor: Supervisor
    store: ChatStore
    answer_speeds: AnswerSpeeds
    port: PortControl
    memories: MemoryWatch
    facts: MachineFacts
    weighing: Weighing
    builds: EngineBuilds
    endpoints: EndpointsDriving
    access: Access
    tokens: TokenStore
    token: TokenUse
    network: NetworkLog
    hub: Hub
    searches: Searches
    looker: Looker
    downloads: Downloads
    background: Background
    theme: Theme
    bus: Bus
