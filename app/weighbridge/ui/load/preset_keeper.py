"""Does what is asked of presets, for the model that is to be loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.words import text
from weighbridge.choices.setting_words import refusal_in_words
from weighbridge.library.model import Model
from weighbridge.running.presets import Preset, Presets
from weighbridge.ui.load.preset_bar import PresetBar
from weighbridge_engines.api import Cause


class PresetKeeper(QObject):
    """Between `bar` and `presets`. `asked` gives what a preset would keep, `left_out` what of one cannot be used.

    `failed` tells an error, `told` what is to be said ("" for nothing), `changed` that another preset is in use, `kept`
    the model whose presets are others now.
    """

    failed = Signal(object)
    kept = Signal(object)
    told = Signal(str)
    changed = Signal()

    def __init__(
        self,
        presets: Presets,
        bar: PresetBar,
        asked: Callable[[], Mapping[str, Any]],
        left_out: Callable[[Preset], Sequence[Cause]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._presets = presets
        self._bar = bar
        self._asked = asked
        self._left_out = left_out
        self._model: Model | None = None
        self.taken = ""
        """The name of the preset that was taken or saved last, "" for none."""
        bar.saved.connect(self._save)
        bar.renamed.connect(self._rename)
        bar.removed.connect(self._remove)
        bar.made_default.connect(self._make_default)

    def show_model(self, model: Model) -> None:
        """Offer the presets of `model`; none is taken."""
        self._model = model
        self._use("")

    def take(self, preset: Preset) -> None:
        """Say which preset is in use, and what of it is not."""
        left_out = self._left_out(preset)
        said = [text("Not all of the preset {preset} is used.", preset=preset.name)] if left_out else []
        self._use(preset.name)
        self.told.emit(" ".join([*said, *(str(refusal_in_words(each)) for each in left_out)]))

    def _use(self, name: str) -> None:
        self.taken = name
        if self._model is not None:
            self._bar.show_presets(self._presets.of(self._model), name)
        self.changed.emit()

    def _save(self, name: str) -> None:
        self._do(lambda model: self._presets.save(model, name, self._asked()).name)

    def _rename(self, old: str, new: str) -> None:
        def do(model: Model) -> str:
            self._presets.rename(model, old, new)
            return " ".join(new.split())

        self._do(do)

    def _remove(self, name: str) -> None:
        def do(model: Model) -> str:
            self._presets.remove(model, name)
            return ""

        self._do(do)

    def _make_default(self, name: str | None) -> None:
        def do(model: Model) -> str:
            self._presets.make_default(model, name)
            return self.taken

        self._do(do)

    def _do(self, act: Callable[[Model], str]) -> None:
        """Do it; it gives the name of the preset that is then in use."""
        if self._model is None:
            return
        try:
            name = act(self._model)
        except WeighbridgeError as error:
            self.failed.emit(error)
            return
        self.told.emit("")
        self._use(name)
        self.kept.emit(self._model)
