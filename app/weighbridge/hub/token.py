"""The user's token for the Hub: ours in the system's keyring or in a file of ours, else an existing login's.

It is never logged, never an argument of a process, and sent to the Hub's own address alone (see `transport`). Another
program's login is read and never changed.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from weighbridge.base.errors import BadFile, Refused
from weighbridge.base.small_files import read_small

_SERVICE, _USER = "weighbridge", "huggingface"
_FILE = "hub-token"
_MOST_BYTES = 4_096
_FORM = re.compile(r"[!-~]{1,512}")
_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_TRUE = {"1", "on", "yes", "true"}


class Keyring(Protocol):
    """What we ask of the system's keyring, through the package of that name. Each raises what its system does."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


@dataclass(frozen=True)
class Token:
    """A token, which shows itself to nobody, and where it comes from: "keyring", "file" (ours), "environment" or
    "login" (of other Hugging Face programs)."""

    value: str = field(repr=False)
    origin: str

    @property
    def ours(self) -> bool:
        """Whether we keep it, so that we may forget it."""
        return self.origin in ("keyring", "file")


def token_of(text: str) -> str:
    """`text` without blanks around. Raises Refused("hub.token_form") at what cannot be a token; never shows it."""
    stripped = text.strip()
    if not _FORM.fullmatch(stripped):
        raise Refused("hub.token_form")
    return stripped


class TokenStore:
    """The one owner of the token in use. `config` is the folder for a file of ours; any thread may ask.

    `keyring` is asked for the system's keyring once it is needed, for that is slow to import.
    """

    def __init__(
        self, config: Path, environment: Mapping[str, str], keyring: Callable[[], Keyring | None] | None = None
    ) -> None:
        self._path = config / _FILE
        self._environment = environment
        self._keyring = cache(keyring or system_keyring)
        self._lock = threading.Lock()
        self._known: Token | None = None
        self._looked = False

    def token(self) -> Token | None:
        """The token in use; None for none. Looked for once, then kept in memory."""
        with self._lock:
            if not self._looked:
                self._known = self._ours() or existing_login(self._environment)
                self._looked = True
            return self._known

    def keep(self, text: str) -> Token:
        """Use this one from now on and keep it. Raises Refused("hub.token_form"), BadFile("file.unwritable")."""
        value = token_of(text)
        with self._lock:
            self._known = Token(value, "keyring" if self._keep_in_keyring(value) else self._keep_in_file(value))
            self._looked = True
            return self._known

    def forget(self) -> bool:
        """Remove ours; whether there was one. An existing login counts again."""
        with self._lock:
            had = self._path.exists()
            self._remove_file()
            had |= self._forget_in_keyring()
            self._looked = False
            return had

    def _ours(self) -> Token | None:
        """The file first: asking the keyring may show a dialogue."""
        value = _first_line(self._path)
        if value:
            return Token(value, "file")
        value = self._from_keyring()
        return Token(value, "keyring") if value else None

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
        with contextlib.suppress(Exception):  # each system fails in its own way, and has then no token of ours
            value = keyring.get_password(_SERVICE, _USER)
            return token_of(value) if value else None
        return None

    def _keep_in_keyring(self, value: str) -> bool:
        keyring = self._keyring()
        if keyring is None:
            return False
        with contextlib.suppress(Exception):  # as above: the file is there for that
            keyring.set_password(_SERVICE, _USER, value)
            self._remove_file()
            return True
        return False

    def _forget_in_keyring(self) -> bool:
        keyring = self._keyring()
        if keyring is None or self._from_keyring() is None:
            return False
        with contextlib.suppress(Exception):
            keyring.delete_password(_SERVICE, _USER)
            return True
        return False


def existing_login(environment: Mapping[str, str]) -> Token | None:
    """The token that other Hugging Face programs use, in their own order; None where they are told to use none."""
    if environment.get("HF_HUB_DISABLE_IMPLICIT_TOKEN", "").lower() in _TRUE:
        return None
    for name in _VARIABLES:
        value = _usable(environment.get(name, ""))
        if value:
            return Token(value, "environment")
    value = _first_line(_login_file(environment))
    return Token(value, "login") if value else None


def _login_file(environment: Mapping[str, str]) -> Path:
    """`HF_TOKEN_PATH`, or "token" in `HF_HOME`, which stands in the user's cache folder."""
    told = environment.get("HF_TOKEN_PATH")
    if told:
        return Path(told).expanduser()
    cache = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(environment.get("HF_HOME") or Path(cache, "huggingface")).expanduser() / "token"


def _first_line(path: Path) -> str | None:
    try:
        return _usable(read_small(path, _MOST_BYTES))
    except (OSError, ValueError, RuntimeError):
        return None


def _usable(text: str) -> str | None:
    try:
        return token_of(text)
    except Refused:
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
