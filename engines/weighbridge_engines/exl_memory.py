"""What a load takes of each card's memory, told in the log once it is there."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from weighbridge_engines.exl_log import say


def say_memory(cache_tensors: Iterable[Any]) -> None:
    """Of each card, what PyTorch holds of it: the cache's tensors, and all else, which are weights and buffers."""
    torch: Any = import_module("torch")
    held: dict[int, int] = {}
    for tensor in cache_tensors:
        if tensor is not None and tensor.device.type == "cuda":
            held[tensor.device.index] = held.get(tensor.device.index, 0) + tensor.nbytes
    for card in range(torch.cuda.device_count()):
        allocated, cache = torch.cuda.memory_allocated(card), held.get(card, 0)
        if allocated:
            say("memory", f"cuda:{card} weights {max(0, allocated - cache)} cache {cache}")
