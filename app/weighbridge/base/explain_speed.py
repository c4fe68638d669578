"""Why a speed is unknown, for a person, as in `explain`. Keep it alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

SPEED: Mapping[str, tuple[str, str]] = {
    "speed.brief_header": (
        mark("It has experts, and which of its bytes are theirs is told by the whole header, which is not read yet."),
        mark("It is read in the background; weighbridge fit reads it at once."),
    ),
    "speed.does_not_fit": (
        mark("What does not fit into memory has no speed here."),
        "",
    ),
    "speed.header": (
        mark("The header does not say enough to tell what a token makes this model read."),
        "",
    ),
    "speed.no_bandwidth": (
        mark("The bandwidth of {device} is not known."),
        mark(
            "Measure it with weighbridge hardware --measure, or on the page Machine; or name a card like it with --gpu."
        ),
    ),
    "speed.no_constants": (
        mark("How much of its bandwidth {device} reaches by {way} is not known."),
        mark("Run a model there: its speed is measured, and kept."),
    ),
    "speed.no_engine_constants": (
        mark("How fast {engine} is here is not known: nothing was measured of it on such devices."),
        "",
    ),
    "speed.no_ram_bandwidth": (
        mark("The bandwidth of the memory of this machine has not been measured."),
        mark(
            "Measure it, which takes three seconds: weighbridge hardware --measure, or on the page Machine. Of a"
            " machine that is described, give memory_gbs in its file (--machine)."
        ),
    ),
    "speed.not_weighed": (
        mark("What could not be weighed has no speed."),
        "",
    ),
}
