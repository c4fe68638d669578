"""The chat template of a model that is here: how its maker puts a conversation together, as text that is only shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.formats.gguf import TEMPLATE_KEY, read_header
from weighbridge.formats.local import local_json
from weighbridge.formats.source import FileSource
from weighbridge.library.model import Model

MOST_CHARACTERS = 1 << 20
_PLAIN, _WITHIN = "chat_template.jinja", ("chat_template.json", "tokenizer_config.json")


def chat_template(model: Model) -> str | None:
    """The template of `model`; None where it has none, or a longer one than is shown. Raises BadFile.

    Of several in one file, the one called "default", or else all with their names.
    """
    found = _of_header(model.path) if model.format == "gguf" else _of_folder(model.path)
    return found if found and len(found) <= MOST_CHARACTERS else None


def _of_header(path: Path) -> str | None:
    with FileSource(path) as source:
        told = read_header(source, full=True).metadata.get(TEMPLATE_KEY)
    return told if isinstance(told, str) else None


def _of_folder(folder: Path) -> str | None:
    plain = folder / _PLAIN
    try:
        if plain.is_file():
            with plain.open(encoding="utf-8", errors="replace") as file:
                return file.read(MOST_CHARACTERS + 1)
    except OSError as error:
        raise BadFile("file.unreadable", name=_PLAIN, reason=error.strerror or str(error)) from error
    return next(filter(None, (_within(local_json(folder / name)) for name in _WITHIN)), None)


def _within(told: Mapping[str, Any] | None) -> str | None:
    template = (told or {}).get("chat_template")
    if not isinstance(template, list):
        return template if isinstance(template, str) else None
    named = {each.get("name"): each.get("template") for each in template if isinstance(each, dict)}
    texts = {str(name): each for name, each in named.items() if isinstance(each, str)}
    if not texts:
        return None
    return texts.get("default") or "\n\n".join(f"{json.dumps(name)}:\n{each}" for name, each in texts.items())
