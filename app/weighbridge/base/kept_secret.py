"""One secret of the user's: in the system's keyring, or in a file that its owner alone can read.

It is never logged and never an argument of a process; who asks for it sends it to the one place that it is for.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from weighbridge.base.errors import BadFile
from weighbridge.base.small_files import read_small

SERVICE = "weighbridge"
_MOST_BYTES = 4_096
_FORM = re.compile(r"[!-~]{1,512}")


class Keyring(Protocol):
    """What we ask of the system's keyring, through the package of that name. Each raises what its system does."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


def usable(text: str) -> str | None:
    """`text` without blanks around, where that can stand in a header of a request; None where it cannot."""
    stripped = text.strip()
    return stripped if _FORM.fullmatch(stripped) else None


class KeptSecret:
    """The one called `user` in the keyring, else in the file `path`. Not for two threads at a time.

    `keyring` is asked for the system's keyring once it is needed, for that is slow to import.
    """

    def __init__(self, path: Path, user: str, keyring: Callable[[], Keyring | None]) -> None:
        self._path, self._user, self._keyring = path, user, keyring

    def read(self) -> tuple[str, str] | None:
        """The secret and where it is kept, "file" or "keyring"; None where there is none.

        The file comes first: asking the keyring may show a dialogue.
        """
        if value := first_line(self._path):
            return value, "file"
        value = self._from_keyring()
        return (value, "keyring") if value else None

    def keep(self, value: str) -> str:
        """Keep it in the place of what was; tells where. Raises BadFile("file.unwritable")."""
        return "keyring" if self._keep_in_keyring(value) else self._keep_in_file(value)

    def forget(self) -> bool:
        """Whether there was one. Raises BadFile("file.unwritable")."""
        had = self._path.exists()
        self._remove_file()
        return self._forget_in_keyring() or had

    def _keep_in_file(self, value: str) -> str:
        """Readable for its owner alone, from its first byte on."""
        new = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            new.unlink(missing_ok=True)
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
                file.write(value)
            new.replace(self._path)
        except OSError as error:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
            raise BadFile("file.unwritable", path=str(self._path), reason=error.strerror or str(error)) from error
        return "file"

    def _remove_file(self) -> None:
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise BadFile("file.unwritable", path=str(self._path), reason=error.strerror or str(error)) from error

    def _from_keyring(self) -> str | None:
        keyring = self._keyring()
        if keyring is None:
            return None
        with contextlib.suppress(Exception):  # each system fails in its own way, and has then no secret of ours
            return usable(keyring.get_password(SERVICE, self._user) or "")
        return None

    def _keep_in_keyring(self, value: str) -> bool:
        keyring = self._keyring()
        if keyring is None:
            return False
        with contextlib.suppress(Exception):  # as above: the file is there for that
            keyring.set_password(SERVICE, self._user, value)
            self._remove_file()
            return True
        return False

    def _forget_in_keyring(self) -> bool:
        keyring = self._keyring()
        if keyring is None or self._from_keyring() is None:
            return False
        with contextlib.suppress(Exception):
            keyring.delete_password(SERVICE, self._user)
            return True
        return False


def first_line(path: Path) -> str | None:
    """What a small file holds, where that is usable."""
    try:
        return usable(read_small(path, _MOST_BYTES))
    except (OSError, ValueError, RuntimeError):
        return None


def system_keyring() -> Keyring | None:
    """The system's keyring; None where the package is not installed, or there is none, as on a server."""
    try:
        import keyring
        from keyring.backends import fail, null
    except ImportError:
        return None
    found: Keyring = keyring.get_keyring()
    return None if isinstance(found, fail.Keyring | null.Keyring) else found
