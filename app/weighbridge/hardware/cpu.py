"""The processor: its name, its cores, and the vector instructions that engines are built for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from weighbridge.hardware import cgroup
from weighbridge.hardware.apple import SYSCTL, fields, printed
from weighbridge.hardware.host import Host, ThisHost
from weighbridge.hardware.machine import Cpu
from weighbridge.hardware.topology import numa_nodes

_GROUP_FILES = ("cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us")
_SYSCTL_NAMES = ("machdep.cpu", "hw.physicalcpu", "hw.logicalcpu", "hw.optional")

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


_PARTS: Mapping[tuple[int, int], str] = {
    (0x41, 0xD03): "Arm Cortex-A53",
    (0x41, 0xD05): "Arm Cortex-A55",
    (0x41, 0xD07): "Arm Cortex-A57",
    (0x41, 0xD08): "Arm Cortex-A72",
    (0x41, 0xD0B): "Arm Cortex-A76",
    (0x41, 0xD0C): "Arm Neoverse N1",
    (0x41, 0xD40): "Arm Neoverse V1",
    (0x41, 0xD42): "Arm Cortex-A78AE",
    (0x41, 0xD49): "Arm Neoverse N2",
    (0x41, 0xD4F): "Arm Neoverse V2",
    (0x41, 0xD85): "Arm Cortex-X925",
    (0x51, 0x001): "Qualcomm Oryon",
    (0xC0, 0xAC3): "Ampere-1",
}
"""Cores of Arm processors by implementer and part, as the kernel numbers them (arch/arm64/include/asm/cputype.h)."""


def detect_cpu(host: Host | None = None) -> Cpu:
    """The processor of this machine, and what this process may use of it."""
    host = host or ThisHost()
    if host.system == "Linux":
        return _linux_cpu(host)
    if host.system == "Darwin":
        cpu = parse_sysctl(printed(host, (SYSCTL, *_SYSCTL_NAMES)))
        return replace(cpu, usable_cores=cpu.logical_cores)
    physical, logical, usable = host.cores()
    present = set(host.features())
    shown = tuple(label for number, label in _WINDOWS.items() if number in present)
    return Cpu(host.processor_name(), physical, logical, usable, shown)


def _linux_cpu(host: Host) -> Cpu:
    text = host.text("/proc/cpuinfo")
    cpu = parse_cpuinfo(text)
    board = host.text("/proc/device-tree/model").strip("\0 \n")
    name = cpu.name or board or arm_name(text) or host.architecture or None
    paths = cgroup.group_paths(host.text("/proc/self/cgroup"))
    groups = cgroup.group_files(host, cgroup.folders(paths, "cpu"), _GROUP_FILES)
    cores = host.cores()[2] or cpu.logical_cores
    return replace(cpu, name=name, usable_cores=usable_cores(cores, groups), numa_nodes=numa_nodes(host))


def arm_name(text: str) -> str | None:
    """The names of an Arm processor's cores, from the numbers in /proc/cpuinfo, the last kind (the fastest) first."""
    kinds: dict[str, None] = {}
    for block in reversed(text.split("\n\n")):
        values = fields(block)
        try:
            kind = _PARTS.get((int(values["CPU implementer"], 16), int(values["CPU part"], 16)))
        except (KeyError, ValueError):
            continue
        if kind is not None:
            kinds[kind] = None
    return ", ".join(kinds) or None


def parse_cpuinfo(text: str) -> Cpu:
    """Name, cores and extensions from the text of /proc/cpuinfo; physical cores are unknown where it does not tell."""
    processors = [fields(block) for block in text.split("\n\n") if "processor" in block]
    if not processors:
        return Cpu(None, None, None, None)
    first = processors[0]
    cores = {(each.get("physical id"), each["core id"]) for each in processors if "core id" in each}
    flags = set((first.get("flags") or first.get("Features") or "").split())
    shown = dict.fromkeys(label for flag, label in EXTENSIONS.items() if flag in flags)
    return Cpu(first.get("model name"), len(cores) or None, len(processors), None, tuple(shown))


def parse_sysctl(text: str) -> Cpu:
    """The same from what `sysctl` prints on macOS."""
    values = fields(text)
    shown = dict.fromkeys(label for key, label in _APPLE.items() if values.get(key) == "1")
    return Cpu(
        name=values.get("machdep.cpu.brand_string"),
        physical_cores=_number(values.get("hw.physicalcpu")),
        logical_cores=_number(values.get("hw.logicalcpu")),
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


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None
