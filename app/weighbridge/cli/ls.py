"""`weighbridge ls`: the models that are here."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from weighbridge.base.explain import explain
from weighbridge.base.units import number, size
from weighbridge.base.words import text

if TYPE_CHECKING:
    from weighbridge.estimates.simple import Memory
    from weighbridge.library.index import Library
    from weighbridge.library.model import Model

CONTEXT = 4096


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("ls", help=text("list the models that are here"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List the models of the models folder and of the folders in the settings."""
    from weighbridge.cli.loading import open_library

    library = open_library()
    models = library.scan()
    if arguments.json:
        skipped = [{"code": error.code, **error.values} for error in library.skipped]
        print(json.dumps({"models": [_as_json(model) for model in models], "skipped": skipped}))
        return 0
    print(_as_table(models) if models else _empty(library))
    for problem in [*(model.problem for model in models if model.problem), *library.skipped]:
        print(explain(problem), file=sys.stderr)
    return 0


def _memory(model: Model) -> Memory:
    """At 4096 tokens, or at the model's own limit where that is smaller."""
    from weighbridge.estimates.simple import simple_memory

    limit = model.info.context_length if model.info else None
    return simple_memory(model.info, model.size_bytes, min(CONTEXT, limit or CONTEXT))


def _as_json(model: Model) -> dict[str, Any]:
    info, memory, problem = model.info, _memory(model), model.problem
    return {
        "id": model.id,
        "path": str(model.path),
        "parts": [str(part) for part in model.parts],
        "format": model.format,
        "kind": info.kind if info else None,
        "architecture": info.architecture if info else None,
        "quant": model.quant,
        "size_bytes": model.size_bytes,
        "context_length": info.context_length if info else None,
        "license": info.license if info else None,
        "memory": {
            "context": memory.context,
            "weights_bytes": memory.weights_bytes,
            "kv_bytes": memory.kv_bytes,
            "total_bytes": memory.total_bytes,
            "upper_bound": memory.upper_bound,
        },
        "problem": {"code": problem.code, "message": str(explain(problem)), **problem.values} if problem else None,
    }


def _as_table(models: tuple[Model, ...]) -> str:
    from weighbridge.cli.table import table

    memory = text("memory at {context}", context=number(CONTEXT))
    head = [text("name"), text("format"), text("kind"), text("quant"), text("size"), text("context"), memory]
    return table(head, [_row(model) for model in models], right=(4, 5, 6))


def _row(model: Model) -> list[str]:
    info, memory = model.info, _memory(model)
    context = info.context_length if info else None
    return [
        model.id,
        model.format,
        text("damaged") if model.problem else (info.kind.value if info else "-"),
        model.quant or "-",
        size(model.size_bytes),
        number(context) if context else text("unknown"),
        _memory_in_words(memory),
    ]


def _memory_in_words(memory: Memory) -> str:
    shown = size(memory.total_bytes)
    if memory.upper_bound:
        shown = text("up to {size}", size=shown)
    if memory.total_bytes is None or memory.context == CONTEXT:
        return shown
    return text("{size} at {context}", size=shown, context=number(memory.context))


def _empty(library: Library) -> str:
    folders = ", ".join(str(folder) for folder in library.folders)
    return text("No models in {folders}. Get a first one with: weighbridge starter", folders=folders)
