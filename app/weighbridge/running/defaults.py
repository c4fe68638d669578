"""What this machine gives to a load."""

from __future__ import annotations

import platform

from weighbridge.hardware.cpu import detect_cpu
from weighbridge.hardware.memory import detect_memory
from weighbridge.running.choose import Defaults, HoldWhole, no_cards
from weighbridge.running.prompt_room import prompt_cache_mib


def machine_defaults(context: int, on_cards: HoldWhole = no_cards) -> Defaults:
    """The defaults of loads on this machine, for a context length of `context` tokens.

    The default engine's wheel computes on the GPU only on Apple's own chips; other builds do on cards.
    """
    metal = platform.system() == "Darwin" and platform.machine() == "arm64"
    return Defaults(
        cores=detect_cpu().usable_cores or 1,
        context=context,
        accelerated=metal,
        on_cards=on_cards,
        prompt_cache_mib=prompt_cache_mib(detect_memory().total_bytes),
    )
