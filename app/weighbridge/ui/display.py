"""Whether Qt can open a window here, found out before it tries: it ends the process where it cannot. No Qt here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from weighbridge.base.words import text

QT: Mapping[str, str] = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}
"""What Qt's own libraries load from the system on every platform, and the Debian package of each: without one of them
the import of Qt fails.
"""

XCB: Mapping[str, str] = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""What Qt's plugin for X11 loads, and the Debian package of each: without one of them Qt ends the process."""


def problem() -> str | None:
    """Why no window can be opened, with what to do, in words for the terminal; None where nothing is known against
    it.
    """
    if sys.platform != "linux":
        return None
    return problem_on_linux(os.environ, _open)


def problem_on_linux(environment: Mapping[str, str], load: Callable[[str], object]) -> str | None:
    """As `problem`; `load` opens a library by its name and raises OSError where it is not there."""
    platform = environment.get("QT_QPA_PLATFORM", "")
    wayland, x11 = environment.get("WAYLAND_DISPLAY"), environment.get("DISPLAY")
    if not (platform or wayland or x11):
        return text(
            "There is no display to open a window on. Start Weighbridge from a desktop session, or use its commands:"
            " weighbridge --help."
        )
    uses_xcb = platform.startswith("xcb") or (not platform and not wayland)
    packages = {**QT, **XCB} if uses_xcb else QT
    missing = [name for name in packages if not _loads(name, load)]
    if not missing:
        return None
    return text(
        "Qt needs libraries that are not installed: {names}.\nOn Debian and Ubuntu: sudo apt-get install {packages}",
        names=", ".join(missing),
        packages=" ".join(packages[name] for name in missing),
    )


def _open(name: str) -> object:
    import ctypes

    return ctypes.CDLL(name)


def _loads(name: str, load: Callable[[str], object]) -> bool:
    try:
        load(name)
    except OSError:
        return False
    return True
