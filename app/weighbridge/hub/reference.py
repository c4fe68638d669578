"""What a person pastes to name a model on the Hub: a name, an address, or a command of another program. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from urllib.parse import unquote, urlsplit

from weighbridge.base.errors import Refused
from weighbridge.formats.quant import quant_of_name
from weighbridge.formats.safe_names import is_safe

HOSTS = frozenset({"huggingface.co", "www.huggingface.co", "hf.co", "www.hf.co"})
MAX_TEXT = 2_000
_SHOWN = 200
_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]{0,94}[\w-])?", re.ASCII)
_REVISION = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*", re.ASCII)
_QUANT = re.compile(r"[\w.+ -]{1,64}", re.ASCII)
_NOT_MODELS = frozenset({"api", "collections", "datasets", "docs", "models", "papers", "spaces"})
_VIEWS = frozenset({"blob", "edit", "raw", "resolve", "tree"})
_DOWNLOADERS = frozenset({"hf", "huggingface-cli", "huggingface-hub"})
_REPOSITORY_OPTIONS = frozenset({"-hf", "-hfr", "--hf-repo"})
_FILE_OPTIONS = frozenset({"-hff", "--hf-file"})
_SPLIT = re.compile(r"[ '\"]")
_GLOB = re.compile(r"[*?\[\]]")


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
    stripped = text.strip().strip("`<>").strip() if len(text) <= MAX_TEXT else ""
    try:
        words = shlex.split(stripped) if _SPLIT.search(stripped) else [stripped]
    except ValueError:
        words = []
    found = _of_command(words, hosts) if len(words) > 1 else _of_word("".join(words), hosts)
    if found is None or not _is_sound(found):
        raise Refused("hub.reference", text=text.strip()[:_SHOWN])
    return found


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


def _of_word(word: str, hosts: frozenset[str]) -> Reference | None:
    if "://" in word:
        scheme, _, rest = word.partition("://")
        if scheme.lower() == "hf":
            return _of_name(rest)
        return _of_address(word, hosts) if scheme.lower() in ("https", "http") else None
    host, _, rest = word.partition("/")
    if host.lower() in hosts:
        return _of_address(f"https://{word}", hosts)
    return _of_name(word)


def _of_name(word: str) -> Reference | None:
    """owner/name, with what is meant of it behind a colon, and a revision behind an at sign."""
    name, colon, wanted = word.partition(":")
    repo_id, at, revision = name.partition("@")
    if (colon and not wanted) or (at and not revision):
        return None
    made = Reference(repo_id.rstrip("/"), revision or None)
    return _with_wanted(made, wanted) if wanted else made


def _with_wanted(made: Reference, wanted: str) -> Reference:
    is_file = "/" in wanted or wanted.lower().endswith((".gguf", ".safetensors", ".onnx", ".xml"))
    return replace(made, file=wanted) if is_file else replace(made, quant=wanted)


def _of_address(word: str, hosts: frozenset[str]) -> Reference | None:
    try:
        address = urlsplit(word)
        host = address.hostname
    except ValueError:
        return None
    if host not in hosts or address.username is not None:
        return None
    path, colon, wanted = address.path.strip("/").partition(":")
    parts = [unquote(part) for part in path.split("/")]
    if len(parts) < 2 or parts[0] in _NOT_MODELS:
        return None
    made = Reference("/".join(parts[:2]))
    if len(parts) == 2:
        return _with_wanted(made, unquote(wanted)) if colon else made
    return _of_view(made, parts[2], parts[3:])


def _of_view(made: Reference, view: str, rest: Sequence[str]) -> Reference | None:
    """What follows owner/name in an address: /tree/BRANCH/FOLDER, /blob/BRANCH/FILE, or a page beside the files."""
    if view not in _VIEWS:
        return made
    if not rest:
        return None
    split = 3 if rest[:2] in (["refs", "pr"], ["refs", "convert"]) else 1
    revision, file = "/".join(rest[:split]), "/".join(rest[split:])
    return replace(made, revision=revision, file=file or None)


def _of_command(words: Sequence[str], hosts: frozenset[str]) -> Reference | None:
    """A line for `hf download`, or for a program that takes `-hf owner/name`."""
    if words[0] in _DOWNLOADERS and words[1] == "download":
        return _of_download(words[2:], hosts)
    options = dict(pairwise(words))
    named = [options[name] for name in _REPOSITORY_OPTIONS if name in options]
    if named:
        made = _of_word(named[0], hosts)
        file = next((options[name] for name in _FILE_OPTIONS if name in options), None)
        return replace(made, file=file) if made and file else made
    pulled = len(words) == 3 and words[0] in ("ollama", "weighbridge") and words[1] in ("run", "pull")
    return _of_word(words[2], hosts) if pulled else None


def _of_download(words: Sequence[str], hosts: frozenset[str]) -> Reference | None:
    plain: list[str] = []
    told: dict[str, list[str]] = {}
    for option, word in _options(words):
        if option is None:
            plain.append(word)
        else:
            told.setdefault(option, []).append(word)
    made = _of_word(plain[0], hosts) if plain else None
    if made is None or "dataset" in told.get("--repo-type", ()) or "space" in told.get("--repo-type", ()):
        return None
    revision = told["--revision"][0] if "--revision" in told else made.revision
    return _with_patterns(replace(made, revision=revision), [*plain[1:], *told.get("--include", ())])


def _options(words: Sequence[str]) -> Iterator[tuple[str | None, str]]:
    """Each word with the option that it is a value of; None for one that stands by itself."""
    option: str | None = None
    for word in words:
        name, equals, value = word.partition("=")
        if name.startswith("--") and equals:
            yield name, value
        elif word.startswith("-"):
            option = word
            continue
        else:
            yield option, word
        option = option if option == "--include" else None


def _with_patterns(made: Reference, patterns: Sequence[str]) -> Reference:
    """One file by its name; of a pattern, the quantisation that it names."""
    if len(patterns) == 1 and not _GLOB.search(patterns[0]):
        return replace(made, file=patterns[0])
    labels = (quant_of_name(_GLOB.sub(" ", pattern).replace("/", " ").removesuffix(".gguf")) for pattern in patterns)
    return replace(made, quant=next((label for label in labels if label), made.quant))
