"""A speed and what it rests on, in words. For window and terminal."""

from __future__ import annotations

from dataclasses import replace

from weighbridge.base.explain import explain_code
from weighbridge.base.units import THIN, bandwidth, number, seconds, speed, tokens
from weighbridge.base.words import plural, text
from weighbridge.choices.speeds import bandwidth_of, first_token_range_s
from weighbridge.estimates.speed.decode import seconds as working_s
from weighbridge.estimates.speed.pace import Pace
from weighbridge.estimates.speed.speed import Leg, Speed, SpeedBasis
from weighbridge.estimates.speed.speeds import Speeds
from weighbridge.estimates.speed.work import Work
from weighbridge.hardware.described import GIVEN
from weighbridge.hardware.machine import Machine
from weighbridge_engines.api import Cause

PROCESSOR = "cpu"
"""How the processor is called among the ways to reach a device."""


def speed_in_words(known: Speed | None) -> str:
    """ "58 – 66 tok/s"; "61.4 tok/s measured" where this very model ran here; "unknown"."""
    if known is None:
        return text("unknown")
    if known.basis is SpeedBasis.MEASURED:
        return text("{speed} measured", speed=speed(known.mid_tps))
    return f"{_range(known)}{THIN}tok/s"


def figures_in_words(known: Speed) -> str:
    """ "58 – 66", "61.4 measured": for a column that bears the unit."""
    if known.basis is SpeedBasis.MEASURED:
        return text("{figure} measured", figure=number(known.mid_tps, max(1, _digits(known.mid_tps))))
    return _range(known)


def first_token_in_words(known: Speeds, prompt: int) -> str:
    """ "0.6 – 0.9 s", until an answer to a prompt of that length begins, the model being loaded; "unknown"."""
    ends = first_token_range_s(known, prompt)
    if ends is None:
        return text("unknown")
    digits = 0 if ends[0] >= 10 else 1 if ends[0] >= 1 else 2
    soon, late = (number(each, digits) for each in ends)
    return f"{soon if soon == late else f'{soon} – {late}'}{THIN}s"


def why_unknown_in_words(cause: Cause) -> str:
    """ "Speed unknown. The bandwidth of Foo 9000 is not known. Measure it with ..." """
    return text("Speed unknown. {reason}", reason=str(explain_code(cause.code, cause.values)))


def basis_of_decode_in_words(known: Speed, machine: Machine) -> tuple[str, ...]:
    """What the speed of writing rests on: some sentences for each place that works for it, with their figures."""
    said = [text("Writing with {tokens} in the cache: {basis}.", tokens=tokens(known.depth), basis=_basis(known))]
    for leg in known.legs:
        said += [_bandwidth(leg.pace, machine), _reading(leg), *_starting(leg), _constants(leg.pace, prefill=False)]
    return (*said, *_summed(known), text("Two of three times it is {range} tok/s.", range=_range(known)))


def basis_of_prefill_in_words(known: Speed, prompt: int) -> tuple[str, ...]:
    """What the speed of reading a prompt of `prompt` tokens rests on."""
    said = [text("Reading a prompt of {tokens}: {basis}.", tokens=tokens(prompt), basis=_basis(known))]
    said += [_computing(leg) for leg in known.legs]
    said += dict.fromkeys(_constants(leg.pace, prefill=True) for leg in known.legs)
    return (*said, *_summed(known), text("Two of three times it is {range} tok/s.", range=_range(known)))


def _basis(known: Speed) -> str:
    """What it is, with the runs that stand behind it."""
    if known.basis is SpeedBasis.MEASURED:
        return plural("measured in {count} run here", "measured in {count} runs here", known.runs)
    if known.basis is SpeedBasis.CORRECTED:
        return plural(
            "calculated, and put right by {count} run on this machine",
            "calculated, and put right by {count} runs on this machine",
            known.runs,
        )
    return text("calculated")


def _range(known: Speed) -> str:
    """ "58 – 66"; one figure where both ends read alike."""
    digits = _digits(known.low_tps)
    low, high = number(known.low_tps, digits), number(known.high_tps, digits)
    return low if low == high else f"{low} – {high}"


def _digits(tps: float) -> int:
    """Two figures that count, for a slow speed too: none is shown as 0."""
    return 0 if tps >= 10 else 1 if tps >= 1 else 2 if tps >= 0.1 else 4


def _bandwidth(pace: Pace, machine: Machine) -> str:
    """Of a memory: how fast, and who says so."""
    known = bandwidth_of(machine, pace.place, pace.name)
    if known is None:
        return text("{device}: {speed} of bandwidth.", device=_name(pace), speed=bandwidth(pace.mid_gbs))
    shown = _gbs(known.low_gbs, known.high_gbs)
    if known.measured_on is not None:
        return text("{device}: {speed} of bandwidth, measured here on {day}.", device=_name(pace), speed=shown,
                    day=known.measured_on)  # fmt: skip
    if known.source == GIVEN:
        return text("{device}: {speed} of bandwidth, as described.", device=_name(pace), speed=shown)
    return text("{device}: {speed} of bandwidth, published ({by}).", device=_name(pace), speed=shown, by=known.source)


def _gbs(low: float, high: float) -> str:
    return bandwidth(low) if low == high else text("{low} to {high}", low=number(low), high=bandwidth(high))


def _reading(leg: Leg) -> str:
    """What is read for a token, at which share of the bandwidth, and how long that takes."""
    nothing = Work(leg.work.place, 0, 0, 0, 0, leg.work.latent, leg.work.flash, leg.work.type_name)
    weights = replace(nothing, weight_bytes=leg.work.weight_bytes)
    said = [
        text("For each token {amount} of weights are read at {share} of it ({time}).", **_read(weights, leg.pace)),
        *_computed(weights, replace(weights, parameters=leg.work.parameters), leg.pace),
    ]
    if leg.work.cache_bytes:
        cache = replace(nothing, cache_bytes=leg.work.cache_bytes)
        said += [
            text("Of the cache {amount} are read at {share} of it ({time}).", **_read(cache, leg.pace)),
            *_computed(cache, replace(cache, scores=leg.work.scores), leg.pace),
        ]
    return " ".join(said)


def _read(part: Work, pace: Pace) -> dict[str, str]:
    """Of one part of the work, which is one kind of bytes."""
    taken_s, amount_bytes = working_s(part, pace, pace.mid_gbs), part.weight_bytes + part.cache_bytes
    share = amount_bytes / (pace.mid_gbs * 1e9 * taken_s) if taken_s else 0.0
    return {"amount": _amount(amount_bytes), "share": _percent(share), "time": _ms(taken_s)}


def _computed(read: Work, computed: Work, pace: Pace) -> list[str]:
    """Where computing with what is read takes longer than reading it."""
    reading_s, both_s = (working_s(part, pace, pace.mid_gbs) for part in (read, computed))
    return (
        [text("Its threads take longer to compute with them: {time}.", time=_ms(both_s))] if both_s > reading_s else []
    )


def _starting(leg: Leg) -> list[str]:
    """What each layer costs, whatever its size."""
    row, said = leg.pace.constants, []
    for count, each_us in ((leg.work.layers, row.layer_us), (leg.work.mixed_layers, row.mixed_layer_us)):
        if count and each_us:
            said.append(
                plural(
                    "Starting {count} layer takes {each} µs ({time}).",
                    "Starting {count} layers takes {each} µs each ({time}).",
                    count,
                    each=number(each_us),
                    time=_ms(count * each_us * 1e-6),
                )
            )
    return said


def _computing(leg: Leg) -> str:
    """How fast a place computes, and how long a token of a prompt takes there."""
    row, rate = leg.pace.constants, leg.pace.tflops or 0.0
    values = {"device": _name(leg.pace), "rate": number(rate, 2 if rate < 10 else 0), "time": _ms(leg.seconds)}
    if row.api == PROCESSOR:
        return text("{device}: its threads reach {rate} TFLOPS in a prompt; {time} for each token.", **values)
    if leg.work.place != leg.pace.place:
        return text("{device} computes what lies in RAM too, copied for each batch: {time} for each token.", **values)
    values["share"] = number(row.prefill_share, 2)
    return text(
        "{device}: {rate} TFLOPS in half precision, published; a prompt reaches {share} times that; {time} for each"
        " token.",
        **values,
    )


def _constants(pace: Pace, *, prefill: bool) -> str:
    """Where the shares are from, and how far they hold."""
    row = pace.constants
    kind = ", ".join(filter(None, (row.api, row.generation)))
    spread = _percent(row.prefill_spread if prefill else row.spread)
    if not row.rows:
        return text("Constants of {kind}: {by}; within {spread}.", kind=kind, by=row.source, spread=spread)
    return plural(
        "Constants of {kind}: {count} measurement ({by}); within {spread}.",
        "Constants of {kind}: {count} measurements ({by}); within {spread}.",
        row.rows,
        count=number(row.rows),
        kind=kind,
        by=row.source,
        spread=spread,
    )


def _summed(known: Speed) -> list[str]:
    """The calculated speed, and what runs here made of it."""
    if not known.legs:
        return []
    whole_s = sum(leg.seconds for leg in known.legs)
    said = [text("That is {time} a token, {speed}.", time=_ms(whole_s), speed=_tps(1 / whole_s))]
    if known.basis is not SpeedBasis.CALCULATED:
        said.append(text("Runs on this machine make it {speed}.", speed=_tps(known.mid_tps)))
    return said


def _name(pace: Pace) -> str:
    return pace.name or text("Processor")


def _tps(value_tps: float) -> str:
    return f"{number(value_tps, _digits(value_tps))}{THIN}tok/s"


def _amount(amount_bytes: int) -> str:
    """ "4.7 GB", "92 MB": in the units of bandwidth."""
    if amount_bytes >= 1e9:
        return f"{number(amount_bytes / 1e9, 1)}{THIN}GB"
    return f"{number(amount_bytes / 1e6, 0 if amount_bytes >= 1e7 else 1)}{THIN}MB"


def _percent(share: float) -> str:
    return f"{number(share * 100)}{THIN}%"


def _ms(value_s: float) -> str:
    """ "5.4 ms", "323 µs", "2.00 s"."""
    if value_s >= 1:
        return seconds(value_s * 1e3)
    return f"{number(value_s * 1e3, 1)}{THIN}ms" if value_s >= 1e-3 else f"{number(value_s * 1e6)}{THIN}µs"
