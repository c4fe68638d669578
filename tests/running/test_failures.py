"""What failed for certain is not loaded again by itself, until something changes."""

import dataclasses
import os

import pytest

from weighbridge.base.errors import EngineFailed
from weighbridge.library.model import Model
from weighbridge.running import starting as module
from weighbridge.running.choose import Defaults
from weighbridge.running.failures import (
    MORE_MEMORY_BYTES,
    OF_CHANCE,
    OF_ITSELF,
    OF_MEMORY,
    OF_OUTSIDE,
    OUTSIDE_S,
    Attempt,
    Failed,
    attempt_of,
    would_fail,
)
from weighbridge.running.scales import Scales
from weighbridge.running.state import State
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.exl_failures import FAILURES as EXL
from weighbridge_engines.llama_failures import FAILURES as LLAMA
from weighbridge_engines.mlx_failures import FAILURES as MLX
from weighbridge_engines.onnx_genai_failures import FAILURES as ONNX
from weighbridge_engines.openvino_failures import FAILURES as OPENVINO
from weighbridge_engines.program import TABLE
from weighbridge_engines.program_log import COMMON
from weighbridge_engines.program_table import read_table

WAIT_S = 20
FREE_BYTES = 8 << 30
ATTEMPT = Attempt(Load("m.gguf", context=4096), ((100, 1),), ("llama_server", "", "1"), FREE_BYTES)
SURE = "engine.unknown_architecture"


def failed(code, times=1):
    return Failed(ATTEMPT, EngineFailed(code), 0.0, times)


def test_the_same_load_of_the_same_file_by_the_same_build_fails_for_ever():
    assert would_fail(failed(SURE), ATTEMPT, 1e9)


@pytest.mark.parametrize(
    "change",
    [
        {"load": Load("m.gguf", context=2048)},
        {"files": ((100, 2),)},
        {"files": (None,)},
        {"build": ("llama_server", "llama_server-vulkan", "1")},
        {"build": ("llama_server", "", "2")},
    ],
)
def test_what_has_changed_is_tried(change):
    assert not would_fail(failed(SURE), dataclasses.replace(ATTEMPT, **change), 0.0)


@pytest.mark.parametrize("code", ["engine.memory_refused", "engine.out_of_memory", "engine.killed"])
def test_memory_that_ran_out_is_asked_for_again_once_more_is_free(code):
    for free_bytes, fails in ((FREE_BYTES, True), (FREE_BYTES // 2, True), (FREE_BYTES + MORE_MEMORY_BYTES, False)):
        attempt = dataclasses.replace(ATTEMPT, available_bytes=free_bytes)
        assert would_fail(failed(code), attempt, 1e9) is fails


def test_where_free_memory_is_not_known_a_minute_is_waited():
    attempt = dataclasses.replace(ATTEMPT, available_bytes=None)
    assert would_fail(failed("engine.out_of_memory"), attempt, OUTSIDE_S - 1)
    assert not would_fail(failed("engine.out_of_memory"), attempt, OUTSIDE_S)


def test_what_is_not_seen_to_change_is_tried_again_after_a_minute():
    assert would_fail(failed("engine.missing_library"), ATTEMPT, OUTSIDE_S - 1)
    assert not would_fail(failed("engine.missing_library"), ATTEMPT, OUTSIDE_S)


def test_a_card_that_was_full_is_tried_again_after_a_minute_whatever_the_system_has_free():
    full = Failed(ATTEMPT, EngineFailed("engine.out_of_memory", device="cuda:0"), 0.0)
    assert would_fail(full, dataclasses.replace(ATTEMPT, available_bytes=FREE_BYTES * 4), OUTSIDE_S - 1)
    assert not would_fail(full, ATTEMPT, OUTSIDE_S)


FAILED_BY_TABLES = {
    *(one.code for one in (*EXL, *MLX, *ONNX, *OPENVINO, *LLAMA)),
    *(one.code for one in COMMON),
    *(one.code for entry in read_table(TABLE.read_text(encoding="utf-8"))[0] for one in entry.fails),
}
COUNTED = {"engine.assertion"}
"""Sure once they came twice."""


def test_how_sure_each_failure_is_that_an_engine_tells():
    known = (OF_MEMORY, OF_OUTSIDE, OF_CHANCE, OF_ITSELF)
    assert FAILED_BY_TABLES - frozenset().union(*known) == COUNTED
    assert sum(map(len, known)) == len(frozenset().union(*known))


@pytest.mark.parametrize("code", ["openvino.tensor_type", "exl.no_tokenizer", "program.quantisation_unknown"])
def test_what_an_engine_cannot_do_with_a_file_it_never_can(code):
    assert would_fail(failed(code), ATTEMPT, 1e9)


def test_a_file_that_comes_into_the_folder_of_a_model_is_a_change(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"x")
    one = Model("m", "M", tmp_path, (tmp_path / "model.safetensors",), "exl3", None, 1)
    before = attempt_of(one, Load(str(tmp_path)), catalogue()["exllamav3"], None)
    assert attempt_of(one, Load(str(tmp_path)), catalogue()["exllamav3"], None) == before
    (tmp_path / "tokenizer.json").write_text("{}")
    after = attempt_of(one, Load(str(tmp_path)), catalogue()["exllamav3"], None)
    assert would_fail(Failed(before, EngineFailed("exl.no_tokenizer"), 0.0), before, 1e9)
    assert not would_fail(Failed(before, EngineFailed("exl.no_tokenizer"), 0.0), after, 1e9)


def test_an_end_without_a_word_is_sure_once_it_came_twice():
    assert not would_fail(failed("engine.ended"), ATTEMPT, 0.0)
    assert would_fail(failed("engine.ended", times=2), ATTEMPT, 0.0)


def test_a_taken_port_says_nothing_of_the_next_try():
    assert not would_fail(failed("engine.port_taken", times=9), ATTEMPT, 0.0)


@pytest.fixture
def starts(monkeypatch):
    """The models whose engines were started."""
    started = []

    class Counted(module.EngineProcess):
        def __init__(self, engine, model, *rest):
            started.append(model.id)
            super().__init__(engine, model, *rest)

    monkeypatch.setattr(module, "EngineProcess", Counted)
    return started


def refused(future):
    with pytest.raises(EngineFailed) as raised:
        future.result(WAIT_S)
    return raised.value


def test_neither_chat_nor_port_loads_again_what_failed_for_certain(supervisor, echo, starts):
    model = echo(fail_at="load", fail_log=["error: unknown model architecture: 'brandnew9'"])
    errors = [refused(supervisor.lease(model)) for _ in range(5)]
    assert {error.code for error in errors} == {SURE}
    assert starts == ["parrot"]
    [running] = supervisor.running()
    assert (running.state, running.error) == (State.FAILED, errors[-1])


def test_all_who_wait_hear_of_one_failure(supervisor, echo, starts):
    model = echo(fail_at="load", load_s=0.3, fail_log=["error: unknown model architecture: 'brandnew9'"])
    waiting = [supervisor.lease(model) for _ in range(6)]
    assert {refused(future).code for future in waiting} == {SURE}
    assert starts == ["parrot"]


def test_what_the_user_wants_loaded_is_tried(supervisor, echo, starts):
    model = echo(fail_at="load", fail_log=["error: unknown model architecture: 'brandnew9'"])
    refused(supervisor.lease(model))
    refused(supervisor.load(model, supervisor.default_load(model)))
    assert starts == ["parrot", "parrot"]


def test_a_file_that_was_mended_is_loaded(supervisor, echo, starts):
    model = echo(fail_at="load", fail_log=["error: unknown model architecture: 'brandnew9'"])
    refused(supervisor.lease(model))
    model.path.write_text('{"tps": 0}')
    os.utime(model.path, ns=(1, 1))
    supervisor.lease(model).result(WAIT_S).give_back()
    assert starts == ["parrot", "parrot"]


def test_another_load_is_tried(supervisor, echo, starts):
    model = echo(fail_at="load", fail_log=["error: unknown model architecture: 'brandnew9'"])
    refused(supervisor.lease(model))
    refused(supervisor.lease(model, Load(model=str(model.path), context=77)))
    assert len(starts) == 2


def test_silent_ends_are_two_at_most(supervisor, echo, starts):
    model = echo(fail_at="load", fail_how="exit")
    assert {refused(supervisor.lease(model)).code for _ in range(5)} == {"engine.ended"}
    assert starts == ["parrot", "parrot"]


def test_memory_is_asked_for_again_once_more_of_it_is_free(echo, starts):
    free = [FREE_BYTES]
    one = Supervisor(catalogue(), Defaults(cores=2), Scales(lambda: free[0], lambda model, load: 1))
    try:
        model = echo(fail_at="load", fail_how="crash", fail_log=["failed to allocate CPU buffer of size 4718592000"])
        for _ in range(3):
            assert refused(one.lease(model)).code == "engine.memory_refused"
        assert len(starts) == 1
        free[0] += 1 << 30
        refused(one.lease(model))
        assert len(starts) == 2
    finally:
        one.close()
