"""Write the headers of all made models and ask the engine what it would allocate for them.

    python -m tests.model_zoo OUT [--only NAME ...]

prints one line for each model, and keeps the engine's answers in OUT, in files like those of tests/data.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.model_zoo import further, latent, mixtures, odd, plain, recurrent, windowed
from tests.model_zoo.engine import Answer, ask, sparse_file
from tests.model_zoo.made_model import Made
from tests.model_zoo.settings import SETTINGS, WHOLE_WINDOW, Setting

from weighbridge.estimates.shape_gguf import shape_of_gguf

FILES = {"zoo.json": (plain, mixtures, odd, further), "zoo_recurrent.json": (windowed, latent, recurrent)}
"""Which models' answers stand in which file."""


def everything() -> list[Made]:
    """All made models."""
    return [model for kinds in FILES.values() for kind in kinds for model in kind.models()]


def settings_for(model: Made) -> tuple[Setting, ...]:
    """The settings under which the engine is asked: also with whole windows where the model has, or names, any."""
    named = "attention.sliding_window" in model.keys
    return (*SETTINGS, WHOLE_WINDOW) if named or shape_of_gguf(model.info()).windowed else SETTINGS


def answers(model: Made) -> dict[str, list[float]]:
    """The engine's sums by setting, as [compute, output, cache, state] in MiB; none where it refuses the model."""
    found: dict[str, list[float]] = {}
    with sparse_file(model.header(), model.file_bytes()) as path:
        for setting in settings_for(model):
            answer = ask(path, setting)
            if isinstance(answer, Answer):
                found[setting.name] = [answer.compute_mib, answer.output_mib, answer.cache_mib, answer.state_mib]
            else:
                sys.stderr.write(f"{model.name} {setting.name}: {answer}\n")
                if not found:
                    break
    return found


def main() -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="*")
    asked = parser.parse_args()
    for name, kinds in FILES.items():
        models = [model for kind in kinds for model in kind.models() if not asked.only or model.name in asked.only]
        if models:
            _update(asked.out / name, models)
    return 0


def _update(file: Path, models: list[Made]) -> None:
    """Ask for `models`, and put the answers among those that stand in `file`."""
    headers = file.parent / "headers"
    headers.mkdir(parents=True, exist_ok=True)
    known = json.loads(file.read_text()) if file.exists() else {}
    for model in models:
        (headers / f"{model.name}.gguf").write_bytes(model.header())
        known[model.name] = answers(model)
        sys.stdout.write(f"{model.name}: {json.dumps(known[model.name])}\n")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found)}" for name, found in sorted(known.items()))
    file.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    sys.exit(main())
