"""Which package index the user has set, told to `uv`, which does not read pip's settings.

What uv is told itself (UV_INDEX, UV_DEFAULT_INDEX and their like) stands. Else pip's environment and files count, in
pip's own order. Addresses may hold passwords, so they travel in the environment, never as arguments.
"""

from __future__ import annotations

import configparser
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

_UV_NAMES = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS")
_LISTS = {
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
}
_SINGLE = {"index-url": "UV_DEFAULT_INDEX", "cert": "SSL_CERT_FILE"}
_SECTIONS = ("global", "install")
_TRUE = {"1", "true", "yes", "on", "y", "t"}


@dataclass(frozen=True)
class IndexSettings:
    """What `uv pip install` must be told: its environment, and arguments for what has no name there."""

    environment: Mapping[str, str]
    arguments: tuple[str, ...] = ()


def index_settings(environment: Mapping[str, str]) -> IndexSettings:
    """`environment` with what uv needs to know of pip's settings added."""
    told = dict(environment)
    pip = _pip_settings(environment)
    if any(environment.get(name) for name in _UV_NAMES):
        pip = {"cert": pip["cert"]} if "cert" in pip else {}
    for option, name in _SINGLE.items():
        if option in pip:
            told.setdefault(name, pip[option].strip())
    for option, (name, separator) in _LISTS.items():
        if option in pip:
            told.setdefault(name, separator.join(pip[option].split()))
    if "extra-index-url" in pip:
        told.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")  # pip looks at all its indexes, uv at the first alone
    no_index = pip.get("no-index", "").strip().lower() in _TRUE
    return IndexSettings(told, ("--no-index",) if no_index else ())


def index_hosts(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts that uv may ask, in its order, told what `index_settings` says: for a person who wants to know."""
    default = environment.get("UV_DEFAULT_INDEX") or environment.get("UV_INDEX_URL") or "https://pypi.org/simple"
    more = (environment.get(name, "") for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL"))
    addresses = [address.rpartition("=")[2] for told in (*more, default) for address in told.split()]
    return tuple(dict.fromkeys(filter(None, (urlsplit(address).hostname for address in addresses))))


def index_host(environment: Mapping[str, str]) -> str:
    """The one that it asks first; "" where all its indexes are folders."""
    return next(iter(index_hosts(environment)), "")


def _pip_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """pip's options by name: its files from the most general to the most special, then its environment."""
    settings: dict[str, str] = {}
    for file in _pip_files(environment):
        settings.update(_read(file))
    for option in ("no-index", *_SINGLE, *_LISTS):
        value = environment.get(f"PIP_{option.upper().replace('-', '_')}")
        if value:
            settings[option] = value
    return settings


def _pip_files(environment: Mapping[str, str]) -> Iterator[Path]:
    named = environment.get("PIP_CONFIG_FILE")
    if named and not Path(named).is_file():
        return  # pip's way to have no file read: the null device
    yield from _system_files(environment)
    name = "pip.ini" if sys.platform == "win32" else "pip.conf"
    yield Path(sys.prefix, name)
    if named:
        yield Path(named)


def _system_files(environment: Mapping[str, str]) -> Iterator[Path]:
    home = Path(environment.get("HOME") or Path.home())
    if sys.platform == "win32":
        for variable in ("PROGRAMDATA", "APPDATA"):
            if variable in environment:
                yield Path(environment[variable], "pip", "pip.ini")
        return
    if sys.platform == "darwin":
        yield Path("/Library/Application Support/pip/pip.conf")
        yield home / "Library/Application Support/pip/pip.conf"
    else:
        for folder in (environment.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"):
            yield Path(folder, "pip/pip.conf")
        yield Path("/etc/pip.conf")
    yield home / ".pip/pip.conf"
    yield Path(environment.get("XDG_CONFIG_HOME") or home / ".config", "pip/pip.conf")


def _read(file: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(file, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return {}
    return {
        option.replace("_", "-"): value
        for section in _SECTIONS
        if parser.has_section(section)
        for option, value in parser.items(section)
    }
