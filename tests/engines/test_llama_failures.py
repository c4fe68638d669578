"""Captured logs of failed loads, each with the class and the values that it holds: see tests/data/failures.

Those of issues are shortened to the lines that matter and some around them; the others were provoked.
"""

from pathlib import Path

import pytest

from weighbridge_engines.llama_failures import FAILURES, diagnose

CAPTURED = sorted((Path(__file__).parents[1] / "data" / "failures").glob("*.txt"))
NOT_VALUES = ("source", "code", "exit")


def captured(path):
    head, _, log = path.read_text(encoding="utf-8").partition("---\n")
    told = dict(line.split(": ", 1) if ": " in line else (line.rstrip(":"), "") for line in head.splitlines())
    exit_code = None if told["exit"] == "-" else int(told["exit"])
    return told, log.splitlines(), exit_code


def shown(value):
    return " ".join(value) if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: path.stem)
def test_a_captured_failure_is_classed_with_its_values(path):
    told, log, exit_code = captured(path)
    cause = diagnose(log, exit_code)
    if told["code"] == "-":
        assert cause is None
        return
    assert cause is not None
    assert cause.code == told["code"]
    expected = {name: value for name, value in told.items() if name not in NOT_VALUES}
    assert {name: shown(cause.values[name]) for name in expected} == expected
    assert "line" not in cause.values or cause.values["line"] in [line.strip() for line in log]


def test_there_are_enough_of_them():
    classed = [path for path in CAPTURED if captured(path)[0]["code"] != "-"]
    assert len(classed) >= 60
    assert len(CAPTURED) - len(classed) >= 6


def test_numbers_are_numbers():
    memory = diagnose(["alloc_tensor_range: failed to allocate CUDA0 buffer of size 151851674624"], 1)
    assert memory is not None
    assert memory.values["needed_bytes"] == 151851674624
    port = diagnose(["srv start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 51249"], 1)
    assert port is not None
    assert port.values["port"] == 51249


def test_a_file_that_is_gone_is_not_taken_for_one_that_is_loaded_beside_the_model():
    cause = diagnose(["failed to open 'a': No such file " + "failed to load draft model, 'b' " * 60] * 500, 1)
    assert cause is None


def test_each_code_is_an_engines():
    assert all(failure.code.startswith("engine.") for failure in FAILURES)


def test_a_card_that_is_told_by_its_number_alone():
    line = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 35533.34 MiB on device 1: cudaMalloc failed"
    for log, device in (([line], "CUDA1"), (["ggml_cuda_init: found 2 ROCm devices:", line], "ROCm1")):
        cause = diagnose(log, 1)
        assert cause is not None
        assert cause.values["device"] == device
