"""How fast the memory of NVIDIA's cards is, by copying within it: CUDA's driver, called without a toolkit.

Every machine with a card that CUDA can use has the driver's library. A block is copied onto another one some times,
timed by the card's own events; each byte copied is read once and written once. Source of the calls: the CUDA Driver API
reference. Written against it and tested on a stand-in; no card was at hand.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

BLOCK_BYTES, LEAST_BYTES = 256 << 20, 32 << 20
COPIES = 12
"""Of 256 MiB: 6 GiB of traffic, 6 ms on the fastest card and 60 ms on the slowest that is worth measuring."""

_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


def bandwidth() -> Mapping[str, float]:
    """Bytes per second by llama.cpp's names ("CUDA0"), which number cards as the driver does. A card that is full, or
    that fails, is left out; without a driver there are none.
    """
    try:
        driver = ctypes.CDLL(_LIBRARY)
    except OSError:
        return {}
    return dict(measured(driver))


def measured(driver: Any) -> Iterator[tuple[str, float]]:
    """Name and bytes per second of each card that `driver`, the loaded library, can measure."""
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return
    for number in range(count.value):
        device, context = ctypes.c_int(), ctypes.c_void_p()
        if driver.cuDeviceGet(ctypes.byref(device), number):
            continue
        if driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device):
            continue
        try:
            speed = None if driver.cuCtxSetCurrent(context) else _copied(driver)
        finally:
            driver.cuDevicePrimaryCtxRelease_v2(device)
        if speed is not None:
            yield f"CUDA{number}", speed


def _copied(driver: Any) -> float | None:
    """Bytes per second in the current context; None where there is no room for two blocks, or a call fails."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    if driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)):
        return None
    size = min(BLOCK_BYTES, free.value // 4)
    if size < LEAST_BYTES:
        return None
    source, target = ctypes.c_uint64(), ctypes.c_uint64()
    if driver.cuMemAlloc_v2(ctypes.byref(source), ctypes.c_size_t(size)):
        return None
    try:
        if driver.cuMemAlloc_v2(ctypes.byref(target), ctypes.c_size_t(size)):
            return None
        try:
            return _timed(driver, source, target, size)
        finally:
            driver.cuMemFree_v2(target)
    finally:
        driver.cuMemFree_v2(source)


def _timed(driver: Any, source: ctypes.c_uint64, target: ctypes.c_uint64, size: int) -> float | None:
    """Copy once to wake the card, then `COPIES` times between two events."""
    begun, ended = ctypes.c_void_p(), ctypes.c_void_p()
    if driver.cuEventCreate(ctypes.byref(begun), 0) or driver.cuEventCreate(ctypes.byref(ended), 0):
        return None
    stream, amount, taken_ms = ctypes.c_void_p(), ctypes.c_size_t(size), ctypes.c_float()
    steps: list[Callable[[], int]] = [lambda: driver.cuMemcpyDtoDAsync_v2(target, source, amount, stream)]
    steps += [lambda: driver.cuEventRecord(begun, stream)]
    steps += [lambda: driver.cuMemcpyDtoDAsync_v2(target, source, amount, stream)] * COPIES
    steps += [lambda: driver.cuEventRecord(ended, stream), lambda: driver.cuEventSynchronize(ended)]
    steps += [lambda: driver.cuEventElapsedTime(ctypes.byref(taken_ms), begun, ended)]
    if any(step() for step in steps) or taken_ms.value <= 0:
        return None
    return 2 * COPIES * size / (taken_ms.value / 1000)
