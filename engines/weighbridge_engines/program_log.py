"""What the log of a server program tells, by the patterns of its entry: stages, values, causes. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from weighbridge_engines.api import Cause
from weighbridge_engines.failure_words import without_source
from weighbridge_engines.program_table import Entry, Failing

_READ_OF_A_LINE = 4000
"""Characters: whoever prints more can not make this slow."""
_SHOWN = 300
_GIB, _MIB = 1 << 30, 1 << 20
_COUNT = re.compile(r"\d{1,9}", re.ASCII)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")

Read = Callable[[str], object]


def _whole(told: str) -> int:
    return int(told.replace(",", ""))


def _bytes(size: int) -> Read:
    return lambda told: int(float(told.replace(",", "")) * size)


_READ: Mapping[str, tuple[str, Read]] = {
    "_gib": ("_bytes", _bytes(_GIB)),
    "_gb": ("_bytes", _bytes(_GIB)),
    "_mib": ("_bytes", _bytes(_MIB)),
    "_n": ("", _whole),
    "_x": ("", float),
}
"""By the end of a group's name: how the name ends then, and how its text is read. Any other is text."""

COMMON: tuple[Failing, ...] = (
    Failing(re.compile(r"No module named '(?P<package>[\w.]+)'"), "program.no_module"),
    Failing(re.compile(r"No package metadata was found for (?P<package>[\w.-]+)"), "program.no_module"),
    Failing(re.compile(r"operator (?P<package>torch\w+)::\w+ does not exist"), "program.no_module"),
    Failing(re.compile(r"(?P<library>lib[\w.+-]+): cannot open shared object file"), "engine.missing_library"),
    Failing(re.compile(r"version [`'](?P<needs>GLIBC(?:XX)?_[\d.]+)' not found"), "engine.old_system"),
    Failing(re.compile(r"[Aa]ddress already in use|Errno 98|WinError 10048"), "engine.port_taken"),
    Failing(re.compile(r"no kernel image is available for execution on the device"), "engine.card_not_built_for"),
    Failing(
        re.compile(
            r"OutOfMemoryError: (?P<device>CUDA|HIP|XPU) out of memory\. Tried to allocate (?P<needed_gib>[\d.]+) GiB"
            r"(?:.{0,200}?of which (?P<free_gib>[\d.]+) GiB is free)?"
        ),
        "engine.out_of_memory",
    ),
    Failing(
        re.compile(
            r"OutOfMemoryError: (?P<device>CUDA|HIP|XPU) out of memory\. Tried to allocate (?P<needed_mib>[\d.]+) MiB"
            r"(?:.{0,200}?of which (?P<free_mib>[\d.]+) MiB is free)?"
        ),
        "engine.out_of_memory",
    ),
    Failing(re.compile(r"out of memory|OutOfMemoryError"), "engine.out_of_memory"),
    Failing(re.compile(r"[Cc](?:annot|an't) allocate memory|\bMemoryError\b"), "engine.out_of_memory"),
    Failing(re.compile(r"(?:CUDA|HIP) error: (?P<reason>.+)"), "engine.card_failed"),
    Failing(re.compile(r"error: unrecognized arguments: (?P<option>\S+)"), "engine.bad_option"),
    Failing(re.compile(r"No such option:? '?(?P<option>[^\s'.]+)"), "engine.bad_option"),
    Failing(re.compile(r"Error while deserializing header|SafetensorError"), "engine.bad_model_file"),
)
"""What programs made with Python and torch have in common; the entry's own come first."""


def report(entry: Entry, line: str) -> Mapping[str, int | float | str | bool]:
    """The stage and the values that `line` tells."""
    shown = plain(line)
    found: dict[str, int | float | str | bool] = {}
    for saying in entry.says:
        if match := saying.words.search(shown):
            found |= _stage(saying.stage, match) if saying.stage else dict([_told(saying.value, match[1])])
    return found


def _stage(stage: str, match: re.Match[str]) -> dict[str, int | float | str | bool]:
    """The stage, and how many of how many steps of it are done where the words hold that."""
    groups = match.groupdict()
    steps = {name: int(told) for name in ("done", "total") if _COUNT.fullmatch(told := groups.get(name) or "")}
    return {"stage": stage, **steps}


def diagnose(entry: Entry, log: Sequence[str], exit_code: int | None) -> Cause | None:
    """Why it ended, by its own words; None where they do not tell. "line" is the line that told."""
    del exit_code
    text = "\n".join(without_source(map(plain, log)))
    for failing in (*entry.fails, *(COMMON if not entry.yours or entry.package else COMMON[1:4])):
        if match := failing.words.search(text):
            return Cause(failing.code, {**failing.values, **_groups(match), "line": _line(text, match.start())})
    return None


def plain(line: str) -> str:
    """A line as it stands at its end: without colours, and of a bar that was drawn over itself the last state."""
    return _COLOURS.sub("", line).rstrip("\r").rpartition("\r")[2][:_READ_OF_A_LINE]


def _told(name: str, words: str) -> tuple[str, int | float | str]:
    """A value by its name; what ends in a unit of bytes is told in bytes."""
    if name.endswith("_gib"):
        return f"{name.removesuffix('_gib')}_bytes", int(float(words.replace(",", "")) * _GIB)
    return name, _value(words)


def _value(told: str) -> int | float | str:
    bare = told.replace(",", "")
    if re.fullmatch(r"-?\d{1,18}", bare):
        return int(bare)
    return float(bare) if re.fullmatch(r"-?\d{1,18}\.\d{1,9}", bare) else told[:_SHOWN]


def _groups(match: re.Match[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, told in match.groupdict().items():
        if told is not None:
            ending = next((end for end in _READ if name.endswith(end)), "")
            put, read = _READ.get(ending, ("", lambda words: words.strip()[:_SHOWN]))
            found[(name.removesuffix(ending) if ending else name) + put] = read(told)
    return found


def _line(text: str, place: int) -> str:
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    return text[start : end if end >= 0 else len(text)].strip()[:_SHOWN]
