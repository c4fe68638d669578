"""What a change of the settings does at once, whichever part of the window changed them."""

from __future__ import annotations

import os

from weighbridge.base.settings import Settings
from weighbridge.ui.services import Services


def act(old: Settings, new: Settings, services: Services) -> None:
    """Bring the running parts from `old` to `new`. Appearance and language are followed by their owners."""
    if (old.port, old.port_on) != (new.port, new.port_on):
        services.port.follow_settings()
    if old.context != new.context:
        services.supervisor.use_context(new.context)
    if old.idle_minutes != new.idle_minutes:
        services.supervisor.use_idle_limit(new.idle_s)
    if old.offline != new.offline:
        if not new.offline:
            services.downloads.take_up()
        services.bus.network_changed.emit()
    if (old.model_folders, old.download_target) != (new.model_folders, new.download_target):
        from weighbridge.library.places import library_folders  # the Library is there by now

        services.library.use_folders(library_folders(services.paths, new, os.environ))
        services.bus.scan_wanted.emit()
