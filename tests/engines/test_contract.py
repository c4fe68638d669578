"""What holds for every engine."""

import json
import os
import subprocess
import sys

import pytest

from weighbridge.running.choose import PREFERRED
from weighbridge_engines.api import Cause, FileFacts, Load
from weighbridge_engines.catalogue import catalogue, engine_called
from weighbridge_engines.echo import BANDWIDTH_VARIABLE

ENGINES = catalogue()
HEAVY = (
    "xllamacpp",
    "numpy",
    "torch",
    "llama_cpp",
    "jinja2",
    "mlx",
    "mlx_lm",
    "exllamav2",
    "exllamav3",
    "openvino",
    "openvino_genai",
    "onnxruntime_genai",
    "transformers",
    "PySide6",
    "httpx2",
)


def test_each_engine_has_its_place_among_those_that_are_tried():
    assert set(ENGINES) - set(PREFERRED) == set()


@pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
def test_an_engine_is_complete(engine):
    assert engine.title and engine.install and engine.formats and engine.capabilities
    assert sum(way is not None for way in (engine.command, engine.serve, engine.open, engine.attach)) == 1
    missing = engine.missing()
    assert missing is None or isinstance(missing, Cause)
    assert engine.report("no line of any engine") == {}
    assert engine.diagnose(["no line of any engine"], 0) is None
    assert engine.row("no line of any engine") is None
    assert all(engine.suits(FileFacts(format_id)) is None for format_id in engine.formats)
    assert engine.name_of(Load("/m/a.gguf", alias="a"))
    assert engine.dialect.fields is None or set(engine.dialect.uncached) <= engine.dialect.fields


def test_reading_what_engines_there_are_imports_nothing_heavy_and_one_alone_no_other():
    code = (
        "import sys; from weighbridge_engines.catalogue import catalogue, engine_called; engine_called('echo');"
        "print([name for name in sys.modules if name.startswith('weighbridge_engines.mlx')]); catalogue();"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "[]"]


def test_each_engine_is_found_by_its_id_and_none_by_the_name_of_another_module():
    assert [engine_called(engine_id) for engine_id in ENGINES] == list(ENGINES.values())
    assert [engine_called(name) for name in ("worker", "api", "../echo", "")] == [None] * 4


def ask_worker(*arguments, **environment):
    argv = [sys.executable, "-m", "weighbridge_engines.worker", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def test_the_worker_tells_what_an_engine_measured():
    told = ask_worker("echo", "--bandwidth", **{BANDWIDTH_VARIABLE: '{"E0": 5e11}'})
    assert (told.returncode, told.stdout) == (0, '{"bandwidth": {"E0": 500000000000.0}}\n')
    assert ask_worker("llama_server", "--bandwidth").stdout == '{"bandwidth": {}}\n'


@pytest.mark.parametrize(
    "arguments", [(), ("--port", "1"), ("--load", "{}"), ("--load", "{}", "--port", "1", "--size", "2")]
)
def test_the_worker_refuses_what_makes_no_sense(arguments):
    refused = ask_worker("echo", *arguments)
    assert refused.returncode == 2
    assert "--bandwidth" in refused.stderr


def test_a_load_survives_the_way_to_the_worker():
    load = Load(model="/m/ü.gguf", alias="a", context=5, split=(3.0, 1.0), sampling={"top_k": 1}, extra={"x": (1, 2)})
    assert Load.from_json(json.loads(json.dumps(load.as_json()))) == load
