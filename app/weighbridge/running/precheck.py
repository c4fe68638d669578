"""A last look at a model's files before an engine gets them: engines have crashed on damaged headers, and worse."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from weighbridge.base.errors import EngineFailed
from weighbridge.formats.gguf import read_header
from weighbridge.formats.source import FileSource
from weighbridge.library.model import Model
from weighbridge_engines.api import Engine, Load
from weighbridge_engines.prompts import template_of
from weighbridge_engines.templates import Failed, Objected, Renderer

HELLO = [{"role": "user", "content": "Hi"}]
_OF_THE_TEMPLATE = frozenset({"too_long", "syntax", "forbidden", "text_too_long", "memory", "time"})
"""Faults that no other conversation would be without."""


def check_template(engine: Engine, load: Load) -> None:
    """Render the chat template of the folder that a server program is to load, by that program's own Python, in a
    process with limits: the program itself renders it without any, some before they answer at all.

    Nothing is checked where that Python is not known, or has no jinja2. Raises EngineFailed("engine.template").
    """
    folder = Path(load.model)
    if engine.command is None or engine.python is None or load.template or load.task != "chat" or not folder.is_dir():
        return
    template, names = template_of(folder)
    if template is None:
        return
    with closing(Renderer(python=engine.python)) as renderer:
        try:
            renderer.render(template, {**names, "messages": HELLO, "tools": None, "add_generation_prompt": True})
        except Failed as failure:
            if failure.fault in _OF_THE_TEMPLATE:
                raise EngineFailed("engine.template", reason=str(failure)) from failure
        except (Objected, OSError):
            return


def check_files(model: Model) -> None:
    """Open each part, and read the whole of a GGUF header: some 15 to 100 ms.

    Raises BadFile for a file that is gone or none any more, for damage, and for weights cut short.
    """
    if model.problem is not None:
        raise model.problem
    for part in model.parts:
        with FileSource(part) as source:
            if model.format == "gguf":
                read_header(source, full=True)
