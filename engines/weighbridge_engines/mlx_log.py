"""What a load by mlx-lm tells, line by line. Pure.

The library prints nothing of a load: what is told of one is said here, in lines that `report` reads again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

Say = Callable[[str], None]
Value = int | float | str | bool

_MARK = "mlx: "
_LINE = re.compile(rf"{_MARK}(?P<name>\w+) = (?P<value>.+)")
_WEIGHTS = re.compile(r"(?P<device>\S+) (?P<bytes>\d+)")


def _switch(words: str) -> bool:
    return words == "True"


_READ: Mapping[str, Callable[[str], Value]] = {
    "adapters": str,
    "adapter_scales": float,
    "batch": int,
    "cache_group": str,
    "cache_quantised_from": int,
    "compute_type": str,
    "context": int,
    "context_shift": _switch,
    "draft": str,
    "draft_tokens": int,
    "gpu_layers": int,
    "layers": int,
    "key_type": str,
    "slots": int,
    "stage": str,
    "trained_context": int,
    "value_type": str,
}


def tell(say: Say, name: str, value: object) -> None:
    """Say one line that `report` reads: an effective value, or a stage of the load."""
    say(f"{_MARK}{name} = {value}")


def tell_weights(say: Say, device: str, size_bytes: int) -> None:
    """Say how much of the memory of `device` weights take."""
    tell(say, "weights", f"{device} {size_bytes}")


def report(line: str) -> Mapping[str, Value]:
    """Effective values, the size of weights and the stage of the load, out of one line of the log.

    What a text takes is not among them: MLX asks for it as the text grows.
    """
    match = _LINE.fullmatch(line.rstrip())
    if match is None:
        return {}
    name, value = match["name"], match["value"]
    if name == "weights" and (weights := _WEIGHTS.fullmatch(value)):
        return {"weights_bytes": int(weights["bytes"]), "device": weights["device"]}
    try:
        return {name: _READ[name](value)} if name in _READ else {}
    except ValueError:
        return {}
