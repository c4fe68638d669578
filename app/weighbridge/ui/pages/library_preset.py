"""Which preset a model of the Library is loaded by, and what of it cannot be used."""

from __future__ import annotations

from weighbridge.base.words import text
from weighbridge.choices.setting_words import refusal_in_words, setting_in_words, setting_name
from weighbridge.library.model import Model
from weighbridge.running.load_settings import Applied
from weighbridge.running.presets import Preset, PresetLoads
from weighbridge.ui.services import Services


def preset_in_words(services: Services, model: Model) -> str:
    """ "Loaded by its preset small: Context 2,048, KV cache: keys q8_0."; "" where nothing but the program decides."""
    preset = services.presets.default(model)
    if preset is None or model.problem is not None:
        return ""
    loads = PresetLoads(services.presets, services.weighing.sources.engines)
    made = loads.with_preset(services.supervisor.plain_load(model), model, preset)
    return _said(preset, made)


def _said(preset: Preset, made: Applied) -> str:
    left_out = {str(cause.values.get("name", "")) for cause in made.left_out}
    used = [
        f"{setting_name(name)} {setting_in_words(name, value)}"
        for name, value in preset.values.items()
        if name not in left_out
    ]
    values = ", ".join(used) or text("nothing of it")
    said = [text("Loaded by its preset {preset}: {values}.", preset=preset.name, values=values)]
    return " ".join([*said, *(str(refusal_in_words(cause)) for cause in made.left_out)])
