"""NVIDIA's own library as it is asked here: each call answers, or tells why not, and never raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

NOT_SUPPORTED, NO_PERMISSION, DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, MISMATCH = 3, 4, 9, 12, 18
LIBRARY_MISSING = "nvidia.library_missing"

_START_CODES: Mapping[int, str] = {
    NO_PERMISSION: "nvidia.no_permission",
    DRIVER_NOT_LOADED: "nvidia.driver_not_loaded",
    LIBRARY_NOT_FOUND: LIBRARY_MISSING,
    MISMATCH: "nvidia.driver_mismatch",
}

Fault = dict[str, Any]
"""A code and the values of its sentence, as JSON."""


class Nvml(Protocol):
    """The library `pynvml`, or recorded answers. Its calls go by name, as older versions lack some."""

    NVMLError: type[Exception]


def say(nvml: Nvml, what: str, call: str, *arguments: Any) -> tuple[Any, Fault | None]:
    """The answer of the library's function `call`, or None and why there is none. `what` is what was asked for."""
    try:
        return getattr(nvml, call)(*arguments), None
    except nvml.NVMLError as error:
        code = "nvidia.no_permission" if _number(error) == NO_PERMISSION else "nvidia.no_answer"
        return None, {"code": code, "values": {"what": what, "reason": str(error)}}
    except (ValueError, AttributeError, UnicodeDecodeError) as error:
        return None, {"code": "nvidia.no_answer", "values": {"what": what, "reason": str(error)}}


def start(nvml: Nvml) -> Fault | None:
    """Start the library; why it does not start, or None."""
    try:
        nvml.nvmlInit()  # type: ignore[attr-defined]
    except nvml.NVMLError as error:
        return {"code": _START_CODES.get(_number(error), "nvidia.no_start"), "values": {"reason": str(error)}}
    return None


def text(value: object) -> str | None:
    """A text that the library gave; some versions answer bytes."""
    shown = value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value
    return shown if isinstance(shown, str) and shown else None


def whole(value: object) -> int | None:
    """A number that the library gave; it answers with words where a card has none to give."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _number(error: Exception) -> int:
    number = getattr(error, "value", None)
    return number if isinstance(number, int) else -1
