"""What this machine gives to a load."""

from __future__ import annotations

import platform

from weighbridge.hardware.cpu import detect_cpu
from weighbridge.running.choose import Defaults


def machine_defaults(context: int) -> Defaults:
    """The defaults of loads on this machine, for a context length of `context` tokens.

    The default engine's wheel computes on the GPU only on Apple's own chips.
    """
    metal = platform.system() == "Darwin" and platform.machine() == "arm64"
    return Defaults(cores=detect_cpu().usable_cores or 1, context=context, accelerated=metal)
