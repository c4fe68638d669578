"""What a change of the settings does at once, whichever part of the window changed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.base.settings import Settings

if TYPE_CHECKING:
    from weighbridge.ui.services import Services


def _places(settings: Settings) -> tuple[object, ...]:
    """All that decides where models are looked for."""
    return settings.model_folders, settings.model_files, settings.download_target, settings.other_programs


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
    if _places(old) != _places(new):
        from weighbridge.library.places import library_roots  # the Library is there by now
        from weighbridge.library.shelves.program import this_computer

        services.library.use_roots(library_roots(services.paths, new, this_computer()))
        services.bus.scan_wanted.emit()
