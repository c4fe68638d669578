"""Whether a package is installed, without importing it: asked for each of thousands of models that are weighed."""

from __future__ import annotations

import time
from functools import lru_cache
from importlib import util


def is_installed(package: str) -> bool:
    """Whether `package` can be imported here, as it was within the last second: each look asks the disk."""
    return _found(package, int(time.monotonic()))


@lru_cache(maxsize=64)
def _found(package: str, second: int) -> bool:
    del second
    return util.find_spec(package) is not None
