"""The user's token for the Hub: ours in the system's keyring or in a file of ours, else an existing login's.

It is never logged, never an argument of a process, and sent to the Hub's own address alone (see `transport`). Another
program's login is read and never changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from weighbridge.base.errors import Refused
from weighbridge.base.kept_secret import KeptSecret, Keyring, first_line, system_keyring, usable

_USER, _FILE = "huggingface", "hub-token"
_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_TRUE = {"1", "on", "yes", "true"}


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
    value = usable(text)
    if value is None:
        raise Refused("hub.token_form")
    return value


class TokenStore:
    """The one owner of the token in use. `config` is the folder for a file of ours; any thread may ask.

    `keyring` is asked for the system's keyring once it is needed, for that is slow to import.
    """

    def __init__(
        self, config: Path, environment: Mapping[str, str], keyring: Callable[[], Keyring | None] | None = None
    ) -> None:
        self._environment = environment
        self._secret = KeptSecret(config / _FILE, _USER, cache(keyring or system_keyring))
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
            self._known = Token(value, self._secret.keep(value))
            self._looked = True
            return self._known

    def forget(self) -> bool:
        """Remove ours; whether there was one. An existing login counts again."""
        with self._lock:
            self._looked = False
            return self._secret.forget()

    def _ours(self) -> Token | None:
        kept = self._secret.read()
        return Token(*kept) if kept else None


def existing_login(environment: Mapping[str, str]) -> Token | None:
    """The token that other Hugging Face programs use, in their own order; None where they are told to use none."""
    if environment.get("HF_HUB_DISABLE_IMPLICIT_TOKEN", "").lower() in _TRUE:
        return None
    for name in _VARIABLES:
        if value := usable(environment.get(name, "")):
            return Token(value, "environment")
    value = first_line(_login_file(environment))
    return Token(value, "login") if value else None


def _login_file(environment: Mapping[str, str]) -> Path:
    """`HF_TOKEN_PATH`, or "token" in `HF_HOME`, which stands in the user's cache folder."""
    told = environment.get("HF_TOKEN_PATH")
    if told:
        return Path(told).expanduser()
    cache = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(environment.get("HF_HOME") or Path(cache, "huggingface")).expanduser() / "token"
