"""The keys of endpoints: each in the system's keyring, or in a file that its owner alone can read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from weighbridge.base.errors import Refused
from weighbridge.base.kept_secret import KeptSecret, Keyring, system_keyring, usable


class Keys:
    """The one owner of them. `config` is the folder for files of ours; any thread may ask.

    `keyring` is asked for the system's keyring once it is needed, for that is slow to import.
    """

    def __init__(self, config: Path, keyring: Callable[[], Keyring | None] | None = None) -> None:
        self._config = config
        self._keyring = cache(keyring or system_keyring)
        self._known: dict[str, tuple[int, str]] = {}
        self._lock = threading.Lock()

    def of(self, endpoint_id: str, number: int) -> str:
        """The key that was given with this `number`; "" for none. Looked for once, then kept in memory."""
        with self._lock:
            if self._known.get(endpoint_id, (0, ""))[0] != number:
                kept = self._secret(endpoint_id).read()
                self._known[endpoint_id] = (number, kept[0] if kept else "")
            return self._known[endpoint_id][1]

    def keep(self, endpoint_id: str, text: str) -> int:
        """Use this one from now on, under the number that is returned: another one for each.

        Raises Refused("endpoint.key_form"), which does not show it, and BadFile("file.unwritable").
        """
        value = key_of(text)
        with self._lock:
            self._secret(endpoint_id).keep(value)
            number = time.time_ns()
            self._known[endpoint_id] = (number, value)
            return number

    def forget(self, endpoint_id: str) -> None:
        """Remove it. Raises BadFile("file.unwritable")."""
        with self._lock:
            self._known.pop(endpoint_id, None)
            self._secret(endpoint_id).forget()

    def _secret(self, endpoint_id: str) -> KeptSecret:
        name = f"endpoint-{endpoint_id}"
        return KeptSecret(self._config / f"{name}-key", name, self._keyring)


def key_of(text: str) -> str:
    """`text` without blanks around. Raises Refused("endpoint.key_form") at what cannot be a key; never shows it."""
    value = usable(text)
    if value is None:
        raise Refused("endpoint.key_form")
    return value
