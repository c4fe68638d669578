"""What a line for another program, or a piece of Python, names on the Hub. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from weighbridge.formats.quant import quant_of_name

if TYPE_CHECKING:
    from weighbridge.hub.reference import Reference

OfWord = Callable[[str], "Reference | None"]
"""What one word of a line names; None for any other word."""

_LOADERS = tuple((name, "download") for name in ("hf", "huggingface-cli", "huggingface-hub"))
_OF_NAMES = (*(("weighbridge", verb) for verb in ("run", "pull", "fit", "serve")), ("vllm", "serve"))
"""Commands that name a model as the Hub does."""

_OF_ADDRESSES = (
    *(("ollama", verb) for verb in ("run", "pull")),
    *(("docker", "model", verb) for verb in ("run", "pull")),
    *(("git", "clone"), ("wget",), ("curl",), ("aria2c",)),
)
"""Commands that mean the Hub by an address alone: other names are of other places."""

_REPOSITORY_OPTIONS = ("-hf", "-hfr", "--hf-repo", "--model", "--model-path")
_FILE_OPTIONS = ("-hff", "--hf-file")
_FLAGS = frozenset({"--dry-run", "--force-download", "--quiet", "--resume-download", "-q"})
"""Options of a download without a value."""

_ENDS = frozenset({"&&", "||", ";", "|", "&"})
_WEIGHTS = (".gguf", ".safetensors")
_GLOB = re.compile(r"[*?\[\]]")
_COMMANDS = re.compile(
    r"(?:^|\s)(?:(?:hf|huggingface-cli|huggingface-hub)\s+download|(?:ollama|weighbridge)\s+(?:run|pull)"
    r"|docker\s+model\s+(?:run|pull)|git\s+clone|vllm\s+serve)(?:\s|$)|\s(?:-hfr?|--hf-repo)[\s=]"
)
_IN_PYTHON = re.compile(
    r"(?:(?:from_pretrained|snapshot_download|hf_hub_download|load)\(\s*|\brepo_id\s*=\s*)[\"']([^\"']+)"
)
_FILE_IN_PYTHON = re.compile(r"\bfilename\s*=\s*[\"']([^\"']+)")


def is_line(text: str) -> bool:
    """Whether `text` is meant as such a line, whatever it names."""
    return _COMMANDS.search(text) is not None or _IN_PYTHON.search(text) is not None


def of_python(text: str, of_word: OfWord) -> Reference | None:
    """What a piece of Python loads; None where `text` is none."""
    named, file = _IN_PYTHON.search(text), _FILE_IN_PYTHON.search(text)
    made = of_word(named[1]) if named else None
    return _with_patterns(made, [file[1]]) if made is not None and file else made


def of_line(words: Sequence[str], of_word: OfWord, is_address: Callable[[str], bool]) -> Reference | None:
    """What a line of `words` names; None where it names nothing. What stands before the command does not matter."""
    download = _after(words, _LOADERS)
    if download is not None:
        return _of_download(download, of_word)
    named, file = _value(words, _REPOSITORY_OPTIONS), _value(words, _FILE_OPTIONS)
    if named is not None:
        made = None if named.lower().endswith(_WEIGHTS) else of_word(named)
        return replace(made, file=file) if made is not None and file else made
    plain = _after(words, _OF_NAMES)
    meant = plain if plain is not None else filter(is_address, _after(words, _OF_ADDRESSES) or ())
    return next(filter(None, map(of_word, meant)), None)


def _after(words: Sequence[str], commands: Sequence[tuple[str, ...]]) -> list[str] | None:
    """The words that follow one of `commands`, up to the end of it; None where none is there."""
    for start in range(len(words)):
        for command in commands:
            if tuple(words[start : start + len(command)]) == command:
                rest = words[start + len(command) :]
                end = next((place for place, word in enumerate(rest) if word in _ENDS), len(rest))
                return list(rest[:end])
    return None


def _value(words: Sequence[str], options: Sequence[str]) -> str | None:
    """The value of one of `options`, behind it or behind an equals sign."""
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in options and (equals or place + 1 < len(words)):
            return value if equals else words[place + 1]
    return None


def _of_download(words: Sequence[str], of_word: OfWord) -> Reference | None:
    plain: list[str] = []
    told: dict[str, list[str]] = {}
    for option, word in _options(words):
        if option is None:
            plain.append(word)
        else:
            told.setdefault(option, []).append(word)
    made = of_word(plain[0]) if plain else None
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
            option = None if word in _FLAGS else word
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
