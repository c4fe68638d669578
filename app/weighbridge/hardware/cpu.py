"""The processor: its name, its cores, and the vector instructions that engines are built for."""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from weighbridge.hardware import cgroup
from weighbridge.hardware.child import run_text
from weighbridge.hardware.machine import Cpu
from weighbridge.hardware.read import read_files, read_text

_GROUP_FILES = ("cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us")
_SYSCTL_NAMES = ("machdep.cpu", "hw.physicalcpu", "hw.logicalcpu", "hw.optional")
_SYSCTL_LIMIT_S = 3.0

EXTENSIONS: Mapping[str, str] = {
    "sse4_2": "SSE4.2",
    "avx": "AVX",
    "f16c": "F16C",
    "fma": "FMA",
    "bmi2": "BMI2",
    "avx2": "AVX2",
    "avx_vnni": "AVX-VNNI",
    "avx512f": "AVX-512F",
    "avx512bw": "AVX-512BW",
    "avx512_vbmi": "AVX-512VBMI",
    "avx512vbmi": "AVX-512VBMI",
    "avx512_vnni": "AVX-512VNNI",
    "avx512_bf16": "AVX-512BF16",
    "amx_tile": "AMX",
    "asimd": "NEON",
    "fphp": "FP16",
    "asimddp": "DotProd",
    "i8mm": "I8MM",
    "bf16": "BF16",
    "sve": "SVE",
    "sve2": "SVE2",
    "sme": "SME",
}
"""Names of the Linux kernel, and how they are shown, in the order in which they are shown."""

_APPLE: Mapping[str, str] = {
    "hw.optional.neon": "NEON",
    "hw.optional.AdvSIMD": "NEON",
    "hw.optional.arm.FEAT_FP16": "FP16",
    "hw.optional.arm.FEAT_DotProd": "DotProd",
    "hw.optional.arm.FEAT_I8MM": "I8MM",
    "hw.optional.arm.FEAT_BF16": "BF16",
    "hw.optional.arm.FEAT_SME": "SME",
    "hw.optional.avx1_0": "AVX",
    "hw.optional.avx2_0": "AVX2",
    "hw.optional.avx512f": "AVX-512F",
}
_WINDOWS: Mapping[int, str] = {38: "SSE4.2", 39: "AVX", 40: "AVX2", 41: "AVX-512F", 43: "DotProd"}
"""Numbers of IsProcessorFeaturePresent (winnt.h)."""


def detect_cpu() -> Cpu:
    """The processor of this machine, and what this process may use of it."""
    if sys.platform.startswith("linux"):
        return _linux_cpu()
    if sys.platform == "darwin":
        cpu = parse_sysctl(run_text(["/usr/sbin/sysctl", *_SYSCTL_NAMES], _SYSCTL_LIMIT_S))
    else:
        cpu = _windows_cpu()
    return replace(cpu, usable_cores=cpu.logical_cores)


def _linux_cpu() -> Cpu:
    cpu = parse_cpuinfo(read_text(Path("/proc/cpuinfo")))
    name = cpu.name or read_text(Path("/proc/device-tree/model")).strip("\0 \n") or platform.machine() or None
    paths = cgroup.group_paths(read_text(Path("/proc/self/cgroup")))
    groups = (read_files(folder, _GROUP_FILES) for folder in cgroup.folders(paths, "cpu"))
    affinity = len(os.sched_getaffinity(0)) if sys.platform == "linux" else None
    return replace(cpu, name=name, usable_cores=usable_cores(affinity or cpu.logical_cores, groups))


def parse_cpuinfo(text: str) -> Cpu:
    """Name, cores and extensions from the text of /proc/cpuinfo; physical cores are unknown where it does not tell."""
    processors = [_fields(block) for block in text.split("\n\n") if "processor" in block]
    if not processors:
        return Cpu(None, None, None, None)
    first = processors[0]
    cores = {(each.get("physical id"), each["core id"]) for each in processors if "core id" in each}
    flags = set((first.get("flags") or first.get("Features") or "").split())
    shown = dict.fromkeys(label for flag, label in EXTENSIONS.items() if flag in flags)
    return Cpu(first.get("model name"), len(cores) or None, len(processors), None, tuple(shown))


def parse_sysctl(text: str) -> Cpu:
    """The same from what `sysctl` prints on macOS."""
    fields = _fields(text)
    shown = dict.fromkeys(label for key, label in _APPLE.items() if fields.get(key) == "1")
    return Cpu(
        name=fields.get("machdep.cpu.brand_string"),
        physical_cores=_number(fields.get("hw.physicalcpu")),
        logical_cores=_number(fields.get("hw.logicalcpu")),
        usable_cores=None,
        extensions=tuple(shown),
    )


def usable_cores(cores: int | None, groups: Iterable[Mapping[str, str]]) -> int | None:
    """`cores` cut down to the smallest limit of the control groups: whole cores, at least one."""
    limits = [limit for limit in map(cgroup.cpu_limit, groups) if limit is not None]
    if not limits:
        return cores
    allowed = max(1, math.floor(min(limits)))
    return allowed if cores is None else min(cores, allowed)


def _fields(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon and value.strip()}


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


def _windows_cpu() -> Cpu:
    import psutil

    physical, logical = psutil.cpu_count(logical=False), psutil.cpu_count()
    if sys.platform != "win32":
        return Cpu(platform.processor() or platform.machine() or None, physical, logical, None)
    import ctypes
    import winreg

    key = winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"HARDWARE\DESCRIPTION\System\CentralProcessor\0")
    with key:
        name = str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()
    present = ctypes.windll.kernel32.IsProcessorFeaturePresent
    shown = tuple(label for number, label in _WINDOWS.items() if present(number))
    return Cpu(name or None, physical, logical, None, shown)
