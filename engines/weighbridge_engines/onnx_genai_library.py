"""ONNX Runtime GenAI's package, imported so that it tells nobody of it: it would write an id into the user's home and
send events to Microsoft as soon as it is there.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

SILENT = {"ORT_DISABLE_TELEMETRY": "1"}
"""Looked at while the library is loaded, and not later."""


def imported(name: str) -> Any:
    """The module `name`, of ONNX Runtime or of its GenAI."""
    os.environ.update(SILENT)
    return import_module(name)
