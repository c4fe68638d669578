"""OpenVINO's packages, imported so that they tell nobody of it: importing them would send an event to Google Analytics
and write an id for that into the user's home.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

_TELEMETRY = "openvino_telemetry"


def imported(name: str) -> Any:
    """The module `name`. Its telemetry counts as not installed, for which it has a way of its own."""
    sys.modules[_TELEMETRY] = None  # type: ignore[assignment]
    return import_module(name)
