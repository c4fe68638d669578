"""How models were loaded before they were ended, to tell where one comes back otherwise."""

from __future__ import annotations

from weighbridge.base.words import text
from weighbridge.choices.setting_words import setting_in_words, setting_name
from weighbridge.running.load_settings import differing, settings_of
from weighbridge.running.state import Running, State
from weighbridge.ui.running_words import running_of
from weighbridge.ui.services import Services
from weighbridge_engines.api import Load


class HeldLoads:
    """Remembers the last load of each model, for as long as the window lives."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._last: dict[str, Load] = {}
        self._back: dict[str, tuple[Load, Load]] = {}

    def see(self) -> None:
        """Remember what is loaded now."""
        for one in self._services.supervisor.running():
            if one.state is State.READY:
                self._last[one.model_id] = one.load

    def bring_back(self, model_id: str, load: Load) -> None:
        """A message wants the model so: where it was ended meanwhile, it comes back so."""
        running = running_of(model_id, self._services.supervisor.running())
        last = self._last.get(model_id)
        if last is not None and (running is None or running.state is State.STOPPED):
            self._back[model_id] = (last, load)

    def words(self, running: Running | None) -> str:
        """ "loaded anew, otherwise than before: Context 4,096"; "" where nothing is other than before it was ended."""
        before, load = self._back.get(running.model_id, (None, None)) if running is not None else (None, None)
        engine = self._services.weighing.sources.engines.get(running.engine_id) if running is not None else None
        if running is None or before is None or load != running.load or engine is None:
            return ""
        other = differing(running.load, before, settings_of(engine))
        said = [
            f"{setting_name(name)} {text('auto') if value is None else setting_in_words(name, value)}"
            for name, value in other.items()
        ]
        return text("loaded anew, otherwise than before: {settings}", settings=", ".join(said)) if said else ""
