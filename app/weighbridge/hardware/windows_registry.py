"""What Windows tells through its registry: the effects; what they mean is decided in `windows`.

Display adapters stand under the class key of Microsoft's documentation ("System-Defined Device Setup Classes",
Display). `HardwareInformation.qwMemorySize` is the 64-bit size of a card's own memory; the 32-bit fields beside it, and
WMI's AdapterRAM, stop at 4 GiB and are not read.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

CLASS_KEY = r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
CPU_KEY = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
VALUES = ("DriverDesc", "DriverVersion", "MatchingDeviceId", "HardwareInformation.qwMemorySize")
_FEATURES = range(64)
"""The numbers that IsProcessorFeaturePresent knows (winnt.h)."""


def display_adapters() -> Sequence[Mapping[str, object]]:
    """The values of each adapter's key; none where this is not Windows."""
    if sys.platform != "win32":
        return ()
    import winreg

    found = []
    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, CLASS_KEY) as keys:
        for index in range(winreg.QueryInfoKey(keys)[0]):
            name = winreg.EnumKey(keys, index)
            if not name.isdecimal():
                continue
            try:
                with winreg.OpenKey(keys, name) as key:
                    found.append(_values(key))
            except OSError:
                continue
    return found


def processor_name() -> str | None:
    """The processor's name; None where this is not Windows."""
    if sys.platform != "win32":
        return None
    import winreg

    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, CPU_KEY) as key:
        return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip() or None


def present_features() -> Sequence[int]:
    """The processor features that are present, by number; none where this is not Windows."""
    if sys.platform != "win32":
        return ()
    import ctypes

    present = ctypes.windll.kernel32.IsProcessorFeaturePresent
    return [number for number in _FEATURES if present(number)]


def _values(key: object) -> dict[str, object]:
    """Those of `VALUES` that the key has."""
    if sys.platform != "win32":
        return {}
    import winreg

    values: dict[str, object] = {}
    for name in VALUES:
        try:
            values[name] = winreg.QueryValueEx(key, name)[0]
        except OSError:
            continue
    return values
