"""Which of several weighed choices of one model to take, and why. Pure.

The most bits that fit and are written fast enough: eight bits are near lossless, four a small loss, below that it falls
quickly. Between formats of much the same bits, the one whose engine suits the hardware that it would lie on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from weighbridge.choices.choice import NOT_RUN, Choice
from weighbridge.choices.runner import NOT_OURS
from weighbridge.estimates.fit import GOOD, Verdict
from weighbridge.formats.architectures import Kind
from weighbridge.formats.ggml_types import TYPES
from weighbridge.hardware.machine import Device

NEAR_LOSSLESS_BITS, FEW_BITS = 8.5, 4.0
"""More bits than the first are of no use to an answer; with fewer than the second it is worse."""

LEAST_BITS = 0.5
"""Of one weight; a file that seems to have fewer is not all of what its config tells of."""

ALIKE_BITS = 0.5
"""Formats that differ by less are chosen between by their engines."""

USABLE_TPS = 8.0
"""About as fast as one reads."""

PREFERRED: Mapping[str, tuple[str, ...]] = {
    "nvidia": ("exl3", "gguf", "exl2", "mlx"),
    "apple": ("mlx", "gguf"),
}
"""Formats in the order of their engines for one user, by who made the card; on all else GGUF comes first."""

_ON_OTHERS = ("gguf", "openvino", "onnx", "mlx")


_INSTALLED, _TO_INSTALL, _OF_OTHERS = range(3)
_FAST, _UNTOLD, _SLOW = range(3)
_TOLD = re.compile(r"(\d{1,2}(?:\.\d{1,3})?) ?(?:bpw|bit)\b")
"""Labels that are the bits themselves: "4.0 bpw h6", "4bit g64"."""


class Why(StrEnum):
    """What decided; the words are in `recommended_words`."""

    MOST_BITS = "most_bits"
    NEAR_LOSSLESS = "near_lossless"
    FASTER = "faster"
    FEW_BITS = "few_bits"
    TIGHT = "tight"
    PARTIAL = "partial"
    SLOW = "slow"
    ONLY_ONE = "only_one"


@dataclass(frozen=True)
class Recommended:
    """The place of the choice among those that were given, and why: it is of `bits` a weight (None: unknown).

    `engine` is the title of what has to be installed for it, None where what is installed runs it; `is_ours`: it can be
    installed by this program.
    """

    place: int
    why: Why
    bits: float | None = None
    engine: str | None = None
    is_ours: bool = True


def recommended(choices: Sequence[Choice], devices: Sequence[Device] = ()) -> Recommended | None:
    """The one of `choices`, all of one model, to take; None where none is known to fit, or to be run by anything.

    `devices` are those of the machine that they were weighed for. Each has its speeds where these are known.
    """
    able = [(place, choice) for place, choice in enumerate(choices) if _is_able(choice)]
    if not able:
        return None
    vendors = {device.id: device.vendor for device in devices}
    place, best = min(able, key=lambda each: _rank(each[1], vendors))
    rivals = [choice for _, choice in able if choice is not best]
    needs = _needs(best)
    engine = best.runner.title if best.runner is not None and needs else None
    return Recommended(place, _why(best, rivals), bits_of(best), engine, needs != _OF_OTHERS)


def bits_of(choice: Choice) -> float | None:
    """Bits of one weight: as they are counted, else what the label stands for; None where neither is known."""
    info, label = choice.model.info, choice.model.quant or ""
    if info is not None and info.bits_per_weight is not None and info.bits_per_weight >= LEAST_BITS:
        return info.bits_per_weight
    told = _TOLD.match(label)
    if told is not None:
        return float(told[1])
    named = [kind for kind in TYPES.values() if label.removeprefix("UD-").startswith(kind.name)]
    return max(named, key=lambda kind: len(kind.name)).bits_per_weight if named else None


def _is_able(choice: Choice) -> bool:
    """Whether it is a model that fits, at least in part, and that some engine runs."""
    sound = choice.model.problem is None and choice.model.kind not in (*NOT_RUN, Kind.DRAFT)
    run = choice.runner is not None and choice.runner.suits and not choice.runner.lacks_card
    return sound and run and choice.fit is not None and choice.fit.verdict in GOOD


def _rank(choice: Choice, vendors: Mapping[str, str]) -> tuple[float, ...]:
    """The least is the best."""
    bits = bits_of(choice)
    useful = min(bits or 0.0, NEAR_LOSSLESS_BITS)
    pace = _pace(choice)
    step = -round(useful / ALIKE_BITS)
    # Of those that are all too slow, the one with the fewest bits is the least slow.
    wanted = step if pace < _SLOW else -step
    return (
        float(_needs(choice)),
        float(_standing(choice)),
        float(pace),
        float(bits is None),
        float(wanted),
        float(_preference(choice, vendors)),
        -useful,
        float(choice.model.size_bytes),
    )


def _needs(choice: Choice) -> int:
    """What is installed before what can be, and that before engines that are no part of this program."""
    runner = choice.runner
    if runner is None or runner.missing is None:
        return _INSTALLED
    return _OF_OTHERS if runner.missing.code == NOT_OURS else _TO_INSTALL


def _standing(choice: Choice) -> int:
    """What fits with room to spare first, but few bits only where no more of them fit whole."""
    verdict = choice.fit.verdict if choice.fit else Verdict.UNKNOWN
    order = {Verdict.FITS: 0, Verdict.TIGHT: 1}
    few = (bits_of(choice) or FEW_BITS) < FEW_BITS
    if verdict in order:
        return order[verdict] + (2 if few else 0)
    return 5 if few else 4


def _pace(choice: Choice) -> int:
    """Fast enough before unknown, and that before slow."""
    writing = choice.speeds.decode if choice.speeds else None
    if writing is None:
        return _UNTOLD
    return _FAST if writing.mid_tps >= USABLE_TPS else _SLOW


def _preference(choice: Choice, vendors: Mapping[str, str]) -> int:
    """How well its format suits where it lies: the card that holds of it, else the processor."""
    fit = choice.fit
    used = [share.place for share in fit.estimate.shares if share.known_bytes] if fit else []
    vendor = next((vendors[place] for place in used if place in vendors), "")
    order = PREFERRED.get(vendor, _ON_OTHERS)
    return order.index(choice.model.format) if choice.model.format in order else len(order)


def _why(best: Choice, rivals: Sequence[Choice]) -> Why:
    """The first thing that a person would ask about it."""
    standing, bits = _standing(best), bits_of(best) or 0.0
    by_standing = {1: Why.TIGHT, 2: Why.FEW_BITS, 3: Why.FEW_BITS, 4: Why.PARTIAL, 5: Why.PARTIAL}
    if standing in by_standing:
        return by_standing[standing]
    if _pace(best) == _SLOW:
        return Why.SLOW
    if bits >= NEAR_LOSSLESS_BITS - ALIKE_BITS:
        return Why.NEAR_LOSSLESS
    better = [one for one in rivals if (bits_of(one) or 0.0) > bits + ALIKE_BITS]
    if any(_pace(one) == _SLOW for one in better):
        return Why.FASTER
    return Why.MOST_BITS if rivals else Why.ONLY_ONE
