"""Figures as a person reads them: grouped, with a unit after a thin space, in the language in use.

Memory is in GiB (2^30); bandwidth is in GB/s (1e9). None is "unknown", never 0.
"""

from __future__ import annotations

from weighbridge.base.words import language, plural, text

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
THIN = "\u202f"
_UNITS = {"KiB": KIB, "MiB": MIB, "GiB": GIB}
_LONG = 1000
"""A figure from here on is as short in the next unit."""


def number(value: float, digits: int = 0) -> str:
    """8192 -> "8,192"; (61.44, 1) -> "61.4"; with "." and "," exchanged in Spanish."""
    shown = f"{value:,.{digits}f}"
    return shown.translate(str.maketrans(",.", ".,")) if language() == "es" else shown


def size(value_bytes: int | None) -> str:
    """Bytes in the unit that keeps the figure under 1,000, as rounded: "49 B", "93.8 MiB", "1.0 GiB" for 1,002 MiB."""
    if value_bytes is None:
        return text("unknown")
    if value_bytes < _LONG:
        return f"{number(value_bytes)}{THIN}B"
    figures = ((round(value_bytes / unit, 1), name) for name, unit in _UNITS.items())
    figure, name = next((each for each in figures if each[0] < _LONG), (value_bytes / GIB, "GiB"))
    return f"{number(figure, 1)}{THIN}{name}"


def tokens(count: int | None) -> str:
    """ "8,192 tokens"."""
    return text("unknown") if count is None else plural("{count} token", "{count} tokens", count, count=number(count))


def speed(tps: float | None) -> str:
    """Tokens per second: "61.4 tok/s"."""
    return text("unknown") if tps is None else f"{number(tps, 1)}{THIN}tok/s"


def seconds(value_ms: float | None) -> str:
    """Milliseconds as seconds: "0.21 s"."""
    return text("unknown") if value_ms is None else f"{number(value_ms / 1000, 2)}{THIN}s"


def bandwidth(gbs: float | None) -> str:
    """Bandwidth in GB/s (1e9 bytes): "504 GB/s"."""
    return text("unknown") if gbs is None else f"{number(gbs)}{THIN}GB/s"


def transfer(bytes_s: float | None) -> str:
    """The speed of a download, in MB/s (1e6 bytes): "12.3 MB/s"."""
    return text("unknown") if bytes_s is None else f"{number(bytes_s / 1e6, 1)}{THIN}MB/s"


def duration(value_s: float | None) -> str:
    """A time to wait in its two greatest units: "45 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"."""
    if value_s is None:
        return text("unknown")
    left = round(value_s)
    for unit_s, unit, below_s, below in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if left >= unit_s:
            rest = left % unit_s // below_s
            return f"{left // unit_s}{THIN}{unit}" + (f" {rest}{THIN}{below}" if rest else "")
    return f"{left}{THIN}s"
