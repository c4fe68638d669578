"""What is asked: a prompt and how long its answer may be. Some come with the program, by name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weighbridge.base.errors import BadFile, NotFound, Refused
from weighbridge.base.small_files import read_small
from weighbridge_resources import path

DEFAULT, TOKENS = "question", 128
"""The workload where none is named, and how long an answer to a prompt of one's own may be."""

GREEDY: Mapping[str, float] = {"temperature": 0, "top_k": 1, "repeat_penalty": 1}
"""The likeliest token each time, whatever a model's file recommends: with chance, no two answers could be compared."""

_PLACE = "prompts"


@dataclass(frozen=True)
class Workload:
    """`prompt` is one message of the user, `tokens` the most that its answer has. `name` is "" for one's own."""

    prompt: str
    tokens: int = TOKENS
    name: str = ""


def names() -> tuple[str, ...]:
    """Of the workloads that come with the program."""
    return tuple(sorted(file.stem for file in path(_PLACE).glob("*.toml")))


def named(name: str) -> Workload:
    """The workload of that name. Raises NotFound("compare.workload")."""
    if name not in names():
        raise NotFound("compare.workload", workload=name, known=names())
    values: dict[str, Any] = tomllib.loads(path(f"{_PLACE}/{name}.toml").read_text("utf-8"))
    return Workload(values["prompt"].strip(), values["tokens"], name)


def of_text(prompt: str, tokens: int | None = None) -> Workload:
    """One's own. Raises Refused("compare.no_prompt") where there is nothing to answer."""
    if not prompt.strip():
        raise Refused("compare.no_prompt")
    return Workload(prompt, tokens or TOKENS)


def of_file(file: Path, tokens: int | None = None) -> Workload:
    """The text of `file`, of 1 MiB at most. Raises BadFile("file.unreadable") and what `of_text` raises."""
    try:
        return of_text(read_small(file), tokens)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadFile("file.unreadable", name=file.name, reason=reason) from error
