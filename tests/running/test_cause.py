"""Why an engine ended, told with the numbers and names that are known."""

import pytest

from weighbridge.base.errors import EngineFailed
from weighbridge.base.explain import explain
from weighbridge.running.cause import failure
from weighbridge_engines.catalogue import catalogue

LLAMA = catalogue()["llama_server"]
PROCESSOR = ("SSE4.2", "AVX", "F16C", "FMA", "BMI2", "AVX2")


def test_memory_that_ran_out_is_told_with_its_device_and_its_bytes():
    error = failure(LLAMA, ["alloc_tensor_range: failed to allocate CUDA0 buffer of size 151851674624"], 1, PROCESSOR)
    assert error.code == "engine.card_memory_refused"
    assert error.values["needed_bytes"] == 151851674624
    assert str(explain(error)).startswith(
        "llama.cpp asked for 141.4\N{NARROW NO-BREAK SPACE}GiB more of the memory of CUDA0"
    )


def test_the_systems_memory_is_called_so():
    error = failure(LLAMA, ["alloc_tensor_range: failed to allocate CPU buffer of size 437944320"], 1, PROCESSOR)
    assert "more of the system's memory and did not get it" in str(explain(error))


def test_memory_that_ran_out_without_a_number():
    error = failure(LLAMA, ["terminate called after throwing an instance of 'std::bad_alloc'"], -6, PROCESSOR)
    assert error.code == "engine.out_of_memory"


@pytest.mark.parametrize(
    ("flags", "missing"),
    [
        ("AVX2 = 1 | AVX512 = 1 | AVX512_VNNI = 0", "AVX-512F"),
        ("AVX = 1 | AVX512 = 1 | AVX512_VNNI = 1", "AVX-512F, AVX-512VNNI"),
    ],
)
def test_the_instruction_that_is_missing_is_named(flags, missing):
    error = failure(LLAMA, [f"system_info: n_threads = 1 / 2 | CPU : {flags} |"], -4, PROCESSOR)
    assert error.code == "engine.instruction_missing"
    assert error.values["missing"] == missing


@pytest.mark.parametrize("log", [[], ["system_info: n_threads = 1 / 2 | CPU : AVX = 1 | AVX2 = 1 |"]])
def test_an_instruction_that_nobody_names(log):
    error = failure(LLAMA, log, -4, PROCESSOR)
    assert error.code == "engine.illegal_instruction"
    assert error.values["extensions"] == "SSE4.2 AVX F16C FMA BMI2 AVX2"


def test_what_a_processor_has_that_cannot_be_told_accuses_no_build():
    error = failure(LLAMA, ["system_info: n_threads = 1 / 2 | CPU : AVX512 = 1 |"], -4, ())
    assert error.code == "engine.illegal_instruction"


def test_the_end_of_a_process_on_windows():
    assert failure(LLAMA, [], 0xC0000135, PROCESSOR).code == "engine.missing_library"
    assert failure(LLAMA, [], 0xC000001D, PROCESSOR).code == "engine.illegal_instruction"
    assert failure(LLAMA, [], 0xC0000005, PROCESSOR).code == "engine.crashed"


def test_an_engine_that_uses_what_the_processor_lacks(supervisor, echo):
    with pytest.raises(EngineFailed) as raised:
        supervisor.lease(echo(fail_at="load", fail_how="illegal")).result(20)
    assert raised.value.code == "engine.illegal_instruction"
    assert raised.value.values["extensions"]
