"""The ten questions as data: what a page or a terminal asks, in order, and the answers that it may give."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from weighbridge.choices.advice.answers import (
    OPEN,
    Goal,
    Hardware,
    Link,
    ModelKind,
    Need,
    Prompt,
    Purpose,
    Room,
    Sharing,
)

MOST_TOKENS, MOST_USERS = 1 << 22, 4096

FORMATS = (
    OPEN,
    *("gguf", "exl3", "exl2", "mlx", "openvino", "onnx"),
    *("safetensors", "awq", "gptq", "fp8", "nvfp4", "mxfp4"),
)
"""The formats that can be asked for."""


class Control(StrEnum):
    """How an answer is given: one of its choices, several of them, or a whole number."""

    ONE = "one"
    SEVERAL = "several"
    NUMBER = "number"


@dataclass(frozen=True)
class Field:
    """One answer: the field of `Answers` that it fills, and what it may be. `low`, `high` and `step` are of numbers."""

    name: str
    control: Control
    choices: tuple[str, ...] = ()
    low: int = 1
    high: int = 1
    step: int = 1


@dataclass(frozen=True)
class Question:
    """One question with its fields; their words are in `question_words`."""

    id: str
    fields: tuple[Field, ...]


def _one(question_id: str, choices: type[StrEnum]) -> Question:
    return Question(question_id, (_choice(question_id, choices),))


def _choice(name: str, choices: type[StrEnum]) -> Field:
    return Field(name, Control.ONE, tuple(map(str, choices)))


QUESTIONS = (
    _one("hardware", Hardware),
    _one("room", Room),
    _one("prompt", Prompt),
    Question(
        "load",
        (
            Field("context", Control.NUMBER, low=256, high=MOST_TOKENS, step=1024),
            Field("users", Control.NUMBER, low=1, high=MOST_USERS),
        ),
    ),
    _one("sharing", Sharing),
    Question("kind", (_choice("kind", ModelKind), Field("needs", Control.SEVERAL, tuple(map(str, Need))))),
    _one("purpose", Purpose),
    Question("format", (Field("format", Control.ONE, FORMATS),)),
    _one("link", Link),
    _one("goal", Goal),
)
"""All of them, in the order in which they are asked."""
