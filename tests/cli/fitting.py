"""The command `fit` on a made machine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.choices.made_surroundings import RTX

from weighbridge.base.units import THIN
from weighbridge.cli.main import run
from weighbridge.hardware.machine import Sight
from weighbridge.running.devices import Told
from weighbridge_engines import api
from weighbridge_engines.catalogue import catalogue

CASES = Path(__file__).parents[1] / "data" / "fit_cases"
FILE_BYTES = {
    case["header"]: case["file_bytes"] for case in json.loads((CASES / "cases.json").read_text("utf-8"))["cases"]
}
CARD = replace(RTX, seen_by=(Sight("llama_server", "CUDA0"),))
TOLD = Told("llama_server", "llama.cpp", "1", (api.Device("CPU", "A Processor", "cpu"),))
ENGINE = replace(catalogue()["echo"], id="llama_server", title="llama.cpp", formats=frozenset({"gguf"}))
"""A fake in the place of the default engine."""


def fit(*arguments, engine=ENGINE):
    return run(["fit", *arguments], lambda: {"llama_server": engine})


def told(capsys, *arguments, engine=ENGINE):
    assert fit(*arguments, "--json", engine=engine) == 0
    return json.loads(capsys.readouterr().out)


def said(capsys, *arguments, engine=ENGINE):
    assert fit(*arguments, engine=engine) == 0
    return capsys.readouterr().out.replace(THIN, " ")
