"""Speeds, and changes that lead to them, as plain values, for programs. Unknown is null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from weighbridge.choices.change_words import change_in_words
from weighbridge.choices.changes import Change
from weighbridge.choices.choice import Choice
from weighbridge.choices.speeds import bandwidth_of, first_token_range_s
from weighbridge.choices.words import verdict_in_words
from weighbridge.estimates.speed.speed import Leg, Speed
from weighbridge.estimates.speed.speeds import Speeds
from weighbridge.hardware.machine import Machine


def speeds_as_json(known: Speeds, machine: Machine, prompt: int) -> dict[str, Any]:
    """Both speeds in tokens a second, and the seconds until an answer to `prompt` tokens begins."""
    ends = first_token_range_s(known, prompt)
    return {
        "decode_tps": _speed(known.decode, machine),
        "prefill_tps": _speed(known.prefill, machine),
        "prompt": prompt,
        "ttft_s": known.first_token_s(prompt),
        "ttft_range_s": None if ends is None else {"low": ends[0], "high": ends[1]},
    }


def changes_as_json(found: Sequence[Change], before: Choice) -> list[dict[str, Any]]:
    """The cheapest first."""
    return [_change(change, before) for change in found]


def _speed(known: Speed | None, machine: Machine) -> dict[str, Any] | None:
    """The range and all that it rests on."""
    if known is None:
        return None
    basis = {
        "kind": known.basis,
        "runs": known.runs,
        "depth": known.depth,
        "places": [_leg(leg, machine) for leg in known.legs],
    }
    return {"low": known.low_tps, "mid": known.mid_tps, "high": known.high_tps, "basis": basis}


def _leg(leg: Leg, machine: Machine) -> dict[str, Any]:
    work, pace = leg.work, leg.pace
    known = bandwidth_of(machine, pace.place, pace.name)
    return {
        "place": work.place,
        "device": pace.name,
        "seconds": leg.seconds,
        "bandwidth_gbs": None if known is None else asdict(known),
        "used_gbs": {"low": pace.low_gbs, "mid": pace.mid_gbs, "high": pace.high_gbs},
        "weight_bytes": work.weight_bytes,
        "weight_type": work.type_name,
        "weight_type_factor": pace.type_factor(work.type_name),
        "cache_bytes": work.cache_bytes,
        "layers": work.layers,
        "mixed_layers": work.mixed_layers,
        "tflops": pace.tflops,
        "constants": asdict(pace.constants),
    }


def _change(change: Change, before: Choice) -> dict[str, Any]:
    after = change.choice
    speeds = after.speeds or Speeds()
    return {
        "kind": change.kind,
        "words": change_in_words(change, before),
        "model": after.model.id,
        "load": _different(before.load.as_json(), after.load.as_json()),
        "device": change.device.name if change.device else None,
        **_added(change),
        "verdict": after.fit.verdict if after.fit else "unknown",
        "verdict_words": verdict_in_words(after.fit),
        "decode_tps": _range(speeds.decode),
        "prefill_tps": _range(speeds.prefill),
    }


def _added(change: Change) -> dict[str, Any]:
    upgrade = change.upgrade
    kind = upgrade.memory_type if upgrade else None
    return {
        "card": upgrade.device.name if upgrade and upgrade.device else None,
        "memory_bytes": upgrade.memory_bytes if upgrade else None,
        "memory_type": kind.name if kind else None,
    }


def _range(known: Speed | None) -> dict[str, float] | None:
    return None if known is None else {"low": known.low_tps, "mid": known.mid_tps, "high": known.high_tps}


def _different(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What of a load is another."""
    return {name: value for name, value in after.items() if value != before[name] and name not in ("model", "alias")}
