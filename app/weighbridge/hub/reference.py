"""What a person pastes to name a model on the Hub: a name, an address, or a command of another program. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from weighbridge.base.errors import Refused
from weighbridge.formats.safe_names import is_safe
from weighbridge.hub.command_lines import of_line, of_python

HOSTS = frozenset({"huggingface.co", "www.huggingface.co", "hf.co", "www.hf.co"})
MAX_TEXT = 2_000
_SHOWN = 200
_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]{0,94}[\w-])?", re.ASCII)
_REVISION = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*", re.ASCII)
_QUANT = re.compile(r"[\w.+ -]{1,64}", re.ASCII)
_NOT_MODELS = frozenset({"api", "collections", "datasets", "docs", "models", "papers", "spaces"})
_VIEWS = frozenset({"blame", "blob", "edit", "raw", "resolve", "tree"})
_WEIGHTS = (".gguf", ".safetensors", ".onnx", ".xml")
_SPLIT = re.compile(r"[\s'\"]")
_GOES_ON = re.compile(r"\\\s+|[`^]\s*\n")
"""A line that goes on in the next one, as shells write it; a field of one line makes a space of its end."""

_LINK = re.compile(r"\[[^\]]*\]\((\S+)\)")
_AROUND = " \t\n`<>()[]{},;\u201c\u201d\u2018\u2019\u00ab\u00bb"
"""What stands around a name in a text."""

_ANY_QUANT = "latest"
"""A tag by which other programs mean the usual one."""


@dataclass(frozen=True)
class Reference:
    """A repository "owner/name", and what of it is meant. None: not told.

    `revision` is a branch, tag or commit; `file` a file or folder of the repository; `quant` a label such as Q4_K_M.
    """

    repo_id: str
    revision: str | None = None
    file: str | None = None
    quant: str | None = None


def parse(text: str, hosts: frozenset[str] = HOSTS) -> Reference:
    """The reference that `text` is: owner/name, owner/name:Q4_K_M, owner/name:file.gguf, an address of a repository or
    of a file on one of `hosts`, or a line such as `hf download owner/name --include "*Q4_K_M*"`.

    Raises Refused("hub.reference", text=) for anything else.
    """
    found = _meant(text, hosts) if len(text) <= MAX_TEXT else None
    if found is None or not _is_sound(found):
        raise Refused("hub.reference", text=text.strip()[:_SHOWN])
    return found


def _meant(text: str, hosts: frozenset[str]) -> Reference | None:
    of_word = partial(_of_word, hosts=hosts)
    link = _LINK.fullmatch(text.strip())
    words = [link[1]] if link else _words(_GOES_ON.sub(" ", text).strip(_AROUND))
    found = of_python(text, of_word)
    if found is not None or len(words) == 1:
        return found or of_word(words[0])
    return of_line(words, of_word, partial(_is_address, hosts=hosts))


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line) if _SPLIT.search(line) else [line]
    except ValueError:
        return []


def is_repo_id(text: str) -> bool:
    """Whether `text` can be a repository's name: never a path that leads elsewhere, a device or a hidden name."""
    parts = text.split("/")
    named = len(parts) == 2 and all(_NAME.fullmatch(part) and ".." not in part and "--" not in part for part in parts)
    return named and is_safe(text)


def is_revision(text: str) -> bool:
    """Whether `text` can be a branch, a tag or a commit."""
    return len(text) <= _SHOWN and _REVISION.fullmatch(text) is not None and ".." not in text


def _is_sound(found: Reference) -> bool:
    return (
        is_repo_id(found.repo_id)
        and (found.revision is None or is_revision(found.revision))
        and (found.file is None or is_safe(found.file))
        and (found.quant is None or _QUANT.fullmatch(found.quant) is not None)
    )


def _is_address(word: str, hosts: frozenset[str]) -> bool:
    return "://" in word or word.partition("/")[0].lower() in hosts


def _of_word(word: str, hosts: frozenset[str]) -> Reference | None:
    if "://" in word:
        scheme, _, rest = word.partition("://")
        if scheme.lower() == "hf":
            return _of_path(rest)
        if scheme.lower() == "lmstudio":
            return _of_query(urlsplit(word))
        return _of_address(word, hosts) if scheme.lower() in ("https", "http") else None
    if _is_address(word, hosts):
        return _of_address(f"https://{word}", hosts)
    return _of_name(word)


def _of_path(word: str) -> Reference | None:
    """owner/name/path of a file, with a revision behind the name's at sign; else as `_of_name`."""
    parts = word.split("/", 2)
    made = _of_name("/".join(parts[:2])) if parts[0] not in _NOT_MODELS else None
    return replace(made, file=parts[2]) if made is not None and parts[2:] and parts[2] else made


def _of_query(address: SplitResult) -> Reference | None:
    """The address of a button that has another program open a model: model=owner/name, and file=."""
    told = parse_qs(address.query)
    made = _of_name(told["model"][0]) if "model" in told else None
    return replace(made, file=told["file"][0]) if made is not None and "file" in told else made


def _of_name(word: str) -> Reference | None:
    """owner/name, with what is meant of it behind a colon, and a revision behind an at sign."""
    name, colon, wanted = word.partition(":")
    repo_id, at, revision = name.partition("@")
    if (colon and not wanted) or (at and not revision):
        return None
    made = Reference(repo_id.rstrip("/"), revision or None)
    return _with_wanted(made, wanted) if wanted else made


def _with_wanted(made: Reference, wanted: str) -> Reference:
    if "/" in wanted or wanted.lower().endswith(_WEIGHTS):
        return replace(made, file=wanted)
    return made if wanted.lower() == _ANY_QUANT else replace(made, quant=wanted)


def _of_address(word: str, hosts: frozenset[str]) -> Reference | None:
    try:
        address = urlsplit(word.rstrip("."))
        host = address.hostname
    except ValueError:
        return None
    if host not in hosts or address.username is not None:
        return None
    path, colon, wanted = address.path.strip("/").partition(":")
    parts = [unquote(part) for part in path.split("/")]
    if len(parts) < 2 or parts[0] in _NOT_MODELS or (colon and len(parts) > 2):
        return None
    made = Reference("/".join(parts[:2]))
    if colon:
        return _with_wanted(made, unquote(wanted)) if wanted else None
    found = _of_view(made, parts[2], parts[3:]) if len(parts) > 2 else made
    shown = parse_qs(address.query).get("show_file_info")  # the page of a repository, with a file looked at
    return replace(found, file=shown[0]) if found is not None and shown else found


def _of_view(made: Reference, view: str, rest: Sequence[str]) -> Reference | None:
    """What follows owner/name in an address: /tree/BRANCH/FOLDER, /blob/BRANCH/FILE, or a page beside the files."""
    if view not in _VIEWS:
        return replace(made, file="/".join((view, *rest))) if [view, *rest][-1].lower().endswith(_WEIGHTS) else made
    if not rest:
        return None
    split = 3 if rest[:2] in (["refs", "pr"], ["refs", "convert"]) else 1
    revision, file = "/".join(rest[:split]), "/".join(rest[split:])
    return replace(made, revision=revision, file=file or None)
