"""Conversations made into the text that a model was trained on: a chat template, rendered in a process with limits."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Load, Request, TemplateRefused
from weighbridge_engines.templates import CHATML, Failed, Objected, Renderer
from weighbridge_engines.turns import forms

MOST_BYTES = 64 << 20
"""A file of a tokenizer's settings lists its added tokens; some have thousands."""

SPECIAL = ("bos_token", "eos_token", "pad_token", "unk_token")


class Templated:
    """By `template`, which is given `values` each time. `close` ends the process.

    Several threads may ask; they wait for each other.
    """

    def __init__(self, template: str, values: Mapping[str, Any]) -> None:
        self._template = template
        self._values = values
        self._renderer = Renderer()
        self._turn = threading.Lock()

    def close(self) -> None:
        """End the process."""
        self._renderer.close()

    def text(self, request: Request) -> str:
        """By the first form of the conversation that the template takes. A last turn of the assistant is gone on with.

        Raises TemplateRefused with the template's own words where it takes none, or cannot be rendered.
        """
        *before, last = request.messages
        begun = last["content"] if before and last["role"] == "assistant" and not last.get("tool_calls") else None
        words = ""
        with self._turn:
            for messages in forms(request.messages if begun is None else before):
                try:
                    return self._rendered(request, messages) + (begun or "")
                except Objected as objection:
                    words = words or str(objection)
        raise TemplateRefused(f"the model's chat template takes no such messages: {words}")

    def _rendered(self, request: Request, messages: Sequence[Mapping[str, Any]]) -> str:
        values = {"tools": None, **self._values, **request.template_values}
        try:
            return self._renderer.render(
                self._template, {**values, "messages": messages, "add_generation_prompt": True}
            )
        except Failed as failure:
            raise TemplateRefused(str(failure)) from failure


class Prompts(Templated):
    """For the model in `folder`, by the template of `load` or its own."""

    def __init__(self, load: Load, folder: Path) -> None:
        own, names = template_of(folder)
        super().__init__(load.template or own or CHATML, {**names, **load.extra.get("template_values", {})})


def template_of(folder: Path) -> tuple[str | None, dict[str, str]]:
    """The chat template of the model in `folder`, None where it brings none, and the texts of its special tokens."""
    settings = _object(folder / "tokenizer_config.json")
    return template_in(folder, settings), special_tokens(settings)


def template_in(folder: Path, settings: Mapping[str, Any]) -> str | None:
    """The chat template in a model's folder: in a file of its own, or among the `settings` of its tokenizer, where it
    may be one of several by name.
    """
    own = folder / "chat_template.jinja"
    if own.is_file():
        return _text(own)
    told = _object(folder / "chat_template.json").get("chat_template", settings.get("chat_template"))
    if isinstance(told, list):
        named = {one.get("name"): one.get("template") for one in told if isinstance(one, dict)}
        told = named.get("default")
    return told if isinstance(told, str) and told else None


def special_tokens(settings: Mapping[str, Any]) -> dict[str, str]:
    """The texts of special tokens by the names that templates know them by."""
    found = {}
    for name in SPECIAL:
        told = settings.get(name)
        content = told.get("content") if isinstance(told, dict) else told
        if isinstance(content, str):
            found[name] = content
    return found


def _object(path: Path) -> Mapping[str, Any]:
    """A JSON object in `path`; empty where there is none."""
    try:
        told = json.loads(_text(path))
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
