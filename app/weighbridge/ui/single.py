"""One window a data folder: a second start asks the first window to come to the front.

The first listens on a local socket of this user alone. All that can be asked of it is to come to the front, so whoever
reaches the socket can do nothing worse.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from weighbridge.base.errors import BadFile, Refused
from weighbridge.base.locks import OwnerLock

PATIENCE_S = 2.0
"""How long a window may take to answer before it counts as stuck."""
_AGAIN_S = 0.05


def name_of(data: Path) -> str:
    """The name of the socket: of this data folder and this user."""
    user = os.environ.get("USERNAME", "") if os.name == "nt" else str(os.getuid())
    whole = f"{data.absolute()}\0{user}".encode("utf-8", "surrogateescape")
    return f"weighbridge-{hashlib.sha256(whole).hexdigest()[:32]}"


def claim(lock: OwnerLock, data: Path) -> bool:
    """Own the data folder, as a window. False where another window owns it, and has come to the front.

    True also where the folder cannot be written to: there is nothing to own then, and the window says so. Raises
    Refused ("owner.…") where something else owns the folder, or the other window does not answer.
    """
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            lock.take("window")
            return True
        except BadFile:
            return True
        except Refused:
            owner = lock.owner()
            left_s = until - time.monotonic()
            if left_s <= 0 or (owner is not None and owner.kind != "window"):
                raise
        from weighbridge.ui.raising import ask_to_raise  # Qt's network part is dear, and seldom needed

        if ask_to_raise(name_of(data), left_s):
            return False
        time.sleep(_AGAIN_S)  # it is just beginning, or just ending
