"""Whether Qt can open a window here, found out before it tries: it ends the process where it cannot. No Qt here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from weighbridge.base.words import text

PACKAGES: Mapping[str, str] = {
    "libEGL.so.1": "libegl1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""What Qt's xcb plugin loads from the system, and the Debian package of each."""


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
    if platform and not platform.startswith("xcb"):
        return None
    wayland, x11 = environment.get("WAYLAND_DISPLAY"), environment.get("DISPLAY")
    if not platform and wayland:
        return None
    if not x11:
        return text(
            "There is no display to open a window on. Start Weighbridge from a desktop session, or use its commands:"
            " weighbridge --help."
        )
    missing = [name for name in PACKAGES if not _loads(name, load)]
    if not missing:
        return None
    return text(
        "Qt needs libraries that are not installed: {names}.\nOn Debian and Ubuntu: sudo apt-get install {packages}",
        names=", ".join(missing),
        packages=" ".join(PACKAGES[name] for name in missing),
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
