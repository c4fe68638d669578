"""The real packages, as far as they go without a card: what is compiled alone is replaced.

They run under the Python in WEIGHBRIDGE_EXLLAMA_PYTHON, or under ours where it has them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engines import exl_worker

from weighbridge_engines import api
from weighbridge_engines.installed import is_installed

VARIABLE = "WEIGHBRIDGE_EXLLAMA_PYTHON"
HERE = Path(__file__).parent
ENGINES = Path(api.__file__).parent.parent
STEPS = {
    "SS_LogitBias": 1, "SS_RepP": 3, "SS_PresFreqP": 4, "SS_DRY": 4, "SS_MinP": 1, "SS_TopK": 1, "SS_TopP": 1,
    "SS_XTC": 2, "SS_Temperature": 1, "SS_AdaptiveP": 2,
}  # fmt: skip
"""How many values exllamav3's samplers are given by their places."""

BY_NAME = ("Model.load",)
"""What is called with names alone."""

OF_THE_STANDIN = """
import json, sys, exl_contract
names = exl_contract.V3 if sys.argv[1] == "exllamav3" else exl_contract.V2
told = {one: exl_contract.parameters(module, one) for module, listed in names.items() for one in listed}
sys.stdout.write(json.dumps(told))
"""


def python_with(package):
    told = os.environ.get(VARIABLE)
    if told:
        return told
    needed = (package, "torch", "tokenizers", "safetensors")
    if not all(map(is_installed, needed)):
        pytest.skip(f"{package} is not installed here, and {VARIABLE} names no Python that has it")
    return sys.executable


def asked(argv, *paths, **more):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), **more}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module", params=["exllamav2", "exllamav3"])
def real(request, tmp_path_factory):
    """What the real package told, with its name."""
    argv = [python_with(request.param), str(HERE / "exl_contract.py"), request.param]
    return request.param, asked([*argv, str(tmp_path_factory.mktemp("model"))], ENGINES)


def test_what_stands_in_takes_what_the_real_one_takes(real):
    package, told = real
    standing_in = asked([sys.executable, "-c", OF_THE_STANDIN, package], exl_worker.STANDIN, HERE)
    assert set(standing_in) == set(told["takes"])
    for name, taken in standing_in.items():
        takes = told["takes"][name]
        if takes and taken:
            assert [one for one in takes if one in taken] == taken, name
            assert name in BY_NAME or taken[0] == takes[0], name


def test_the_real_generator_is_read_as_it_answers(real):
    """It says "Hi", and ends; prompts have six tokens, the last of which is read with the first of the answer."""
    _, told = real
    read = [["", 0, 5, None], ["", 0, 6, None]]
    letter = ["H", 1, None, None]
    assert told["answers"] == [
        [*read, letter, ["i", 1, None, None], ["", 0, None, "stop"]],
        [*read, ["H", 1, None, "length"]],
        [*read, letter, ["", 1, None, "stop"]],
        [*read, letter, ["i", 1, None, "stop"]],
    ]


def test_a_long_answer_comes_whole_and_one_that_nobody_reads_is_left(real):
    _, told = real
    assert told["long"] == [600, 600, "length"]
    assert told["reads"] == 2
    assert told["left_at_work"] == 0


def test_a_folder_is_understood_and_jobs_are_numbered_and_left(real):
    _, told = real
    assert told["tokens"] == [[256, 39, 68, 75, 75, 78]]
    assert (told["ends"], told["context"], told["cache"]) == ([257], 2048, 1024)
    assert told["numbers"] == told["serials"] == [*range(told["waiting"])]
    assert told["left"] == 0
    assert told["cached"] == [[0, 0]] * told["waiting"]
    assert told["chances"][0] == told["chances"][1] != told["chances"][2]


def test_exllamav3_has_the_samplers_and_refuses_what_it_cannot_keep_to(real):
    package, told = real
    if package != "exllamav3":
        pytest.skip("of exllamav3 alone")
    assert told["steps"][1] == ["SS_Argmax"]
    assert {"SS_LogitBias", "SS_RepP", "SS_XTC", "SS_Temperature"} < set(told["steps"][2])
    assert (told["steps"][3][0], told["steps"][3][-1]) == ("SS_DRY", "SS_AdaptiveP")
    assert all(count < told["positional"][name] for name, count in STEPS.items())
    assert told["chosen"].endswith("PROBS_S")
    assert told["refused"]["circle"] == "schema.$ref leads back to itself"
    assert all("Unimplemented keys" in told["refused"][name] for name in ("not", "unique"))
    assert told["refused"]["token"] == "there is no token 99999"


def test_exllamav2_knows_its_architectures_and_biases_tokens(real):
    package, told = real
    if package != "exllamav2":
        pytest.skip("of exllamav2 alone")
    assert isinstance(told["paged"], bool)
    assert told["bias"] == [288, 2.0]
    assert told["refused"] == "there is no token 99999"
    assert set(told["unknown"]) == {"NewForCausalLM", "Gemma2ForCausalLM"}
    assert told["unknown"]["NewForCausalLM"] == "Unknown architecture NewForCausalLM"
    assert "Could not find" in told["unknown"]["Gemma2ForCausalLM"]


def test_a_folder_that_is_damaged_is_told_apart(real):
    _, told = real
    assert told["faults"] == {
        "cut": "engine.bad_model_file",
        "short": "engine.bad_model_file",
        "empty": "engine.bad_model_file",
        "no weights": "engine.bad_model_file",
        "architecture": "engine.unknown_architecture",
        "no tokenizer": "exl.no_tokenizer",
        "no JSON": "engine.bad_model_file",
    }
