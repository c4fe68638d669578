"""What stands between this process and the hardware: Windows around a Linux, a container, a virtual machine."""

from __future__ import annotations

import re

from weighbridge.hardware.apple import SYSCTL, fields, printed
from weighbridge.hardware.host import Host

_CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv")
_CONTAINER_GROUPS = re.compile(r"/(?:docker|kubepods|lxc|libpod|containerd)")


def within(host: Host) -> tuple[str, ...]:
    """Any of "wsl", "container" and "virtual", as far as the system tells."""
    if host.system == "Darwin":
        values = fields(printed(host, (SYSCTL, "kern.hv_vmm_present")))
        return ("virtual",) if values.get("kern.hv_vmm_present") == "1" else ()
    if host.system != "Linux":
        return ()
    wsl = "microsoft" in host.release.lower()
    container = any(host.may_open(path) is not None for path in _CONTAINER_FILES)
    container = container or bool(_CONTAINER_GROUPS.search(host.text("/proc/self/cgroup")))
    flags = re.search(r"^flags\s*:.*\bhypervisor\b", host.text("/proc/cpuinfo"), re.MULTILINE)
    found = {"wsl": wsl, "container": container, "virtual": not wsl and flags is not None}
    return tuple(name for name, there in found.items() if there)
