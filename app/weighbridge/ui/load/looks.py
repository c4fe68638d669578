"""What the sheet says of each setting: what the engine would take, what a change comes to, what hurts. No Qt here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weighbridge.base.units import number
from weighbridge.base.words import plural, text
from weighbridge.choices.choice import Choice
from weighbridge.choices.setting_words import setting_in_words
from weighbridge.choices.way_words import memory_change_in_words, speed_change_in_words
from weighbridge.hardware.machine import Cpu
from weighbridge.running.load_settings import Change, Control
from weighbridge.running.state import Running, State
from weighbridge.ui.load.reckoning import Effect, Reckoned, is_unweighed
from weighbridge_engines.api import Load

_PLANNED = ("context", "slots", "unified", "key_type", "value_type", "flash_attention", "whole_window", "batch",
            "micro_batch", "cpu_experts", "mapped", "device")  # fmt: skip
"""What a plan decides that a load leaves open, by the same names."""


def left_in_words(control: Control, load: Load, choice: Choice | None) -> str:
    """What stands where nothing is asked: "auto · 4,096", as the engine would choose; "auto" where that is unknown."""
    value = _left(control, load, choice)
    if value is None:
        return text("auto")
    return text("auto · {value}", value=setting_in_words(control.name, value, with_unit=False))


def _left(control: Control, load: Load, choice: Choice | None) -> Any:
    fit = choice.fit if choice is not None else None
    if control.name == "gpu_layers" and fit is not None and fit.gpu_layers is not None:
        return text("{count} of {all}", count=number(fit.gpu_layers), all=number(fit.all_layers or 0))
    if control.name == "batch_threads":
        return load.threads
    if control.name == "engine" and choice is not None and choice.runner is not None:
        return choice.runner.title
    if fit is not None and control.name in _PLANNED:
        return getattr(fit.plan, control.name)
    return control.default


def effect_in_words(effect: Effect | None) -> str:
    """ "+1.2 GiB, −3 tok/s"; "no change" where it makes none, "" where there is none to tell."""
    if effect is None:
        return ""
    said = [memory_change_in_words(effect.memory_bytes), speed_change_in_words(effect.tps)]
    if effect.memory_bytes is None:
        said[0] = text("memory unknown")
    return ", ".join(filter(None, said)) or text("no change")


def beside_in_words(control: Control, reckoned: Reckoned | None, *, changed: bool) -> str:
    """What stands beside a setting: what its change comes to, or that the estimate does not know that."""
    if not changed:
        return ""
    if is_unweighed(control):
        return text("not weighed")
    effect = reckoned.effects.get(control.name) if reckoned is not None else None
    if effect is not None and effect.tps is None and Change.MEMORY not in control.changes:
        return text("speed unknown")
    return effect_in_words(effect)


def option_in_words(control: Control, value: Any, reckoned: Reckoned | None) -> str:
    """One value in a list, with what choosing it would change."""
    shown = setting_in_words(control.name, value, with_unit=False)
    effect = reckoned.options.get((control.name, value)) if reckoned is not None else None
    if effect is None or effect == Effect(0, 0.0):
        return shown
    said = effect_in_words(effect)
    return shown if said == text("no change") else f"{shown}   {said}"


def threads_warning(load: Load, cpu: Cpu | None, running: Sequence[Running]) -> str:
    """What is wrong with so many threads; "" where nothing is."""
    cores = None if cpu is None else cpu.usable_cores
    threads = load.threads
    if cores is None or threads is None:
        return ""
    if threads > cores:
        return plural(
            "More threads than the {count} core there is: every token waits for the slowest.",
            "More threads than the {count} cores there are: every token waits for the slowest.",
            cores,
            count=number(cores),
        )
    others = [one for one in running if one.state is State.READY and one.load.model != load.model]
    together = threads + sum(one.load.threads or 0 for one in others)
    if others and together > cores:
        return text(
            "With {models} answering at the same time, {threads} threads share {cores} cores.",
            models=", ".join(one.title for one in others),
            threads=number(together),
            cores=number(cores),
        )
    if threads == cores and cores > 1:
        return text("No core is left for the rest of the machine.")
    return ""
