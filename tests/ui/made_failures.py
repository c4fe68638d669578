"""One captured failure of each class, as the fake engine would end with it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from weighbridge_engines.api import Load

CAPTURED = Path(__file__).parents[1] / "data" / "failures"


def one_of_each() -> dict[str, Path]:
    """A captured log for each class, by its code."""
    found: dict[str, Path] = {}
    for path in sorted(CAPTURED.glob("*.txt")):
        head = path.read_text(encoding="utf-8").partition("---\n")[0]
        code = next(line.removeprefix("code: ") for line in head.splitlines() if line.startswith("code: "))
        if code != "-":
            found.setdefault(code, path)
    return found


def put(folder: Path) -> dict[str, str]:
    """Models of the fake engine that fail in each way, each below an owner and a repository: their ids, by code."""
    named = {}
    for code, path in one_of_each().items():
        log = path.read_text(encoding="utf-8").partition("---\n")[2].splitlines()
        name = code.removeprefix("engine.").replace("_", "-")
        how = "illegal" if code == "engine.illegal_instruction" else "exit"
        script = {"fail_at": "load", "fail_how": how, "fail_log": log}
        place = folder / "somebody" / f"{name}-GGUF" / f"{name}.echo"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(script), encoding="utf-8")
        named[code] = name
    return named


def load_of(load: Load) -> Load:
    """`load` with something of all that can be at fault."""
    return replace(
        load,
        adapters=("/models/adapter.gguf",),
        draft="/models/draft.gguf",
        projector="/models/mmproj.gguf",
        template="{{ messages }}",
        key_type="q5_0",
        value_type="q5_0",
        flash_attention=False,
        gpu_layers=20,
        extra={"option": 1},
    )
