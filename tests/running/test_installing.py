"""How an engine that is not here is got, and when it is said."""

import sys
from dataclasses import replace

import pytest

from weighbridge.base.explain import explain_code
from weighbridge.running.cause import failure
from weighbridge.running.choose import PREFERRED
from weighbridge.running.installing import command_for, none_installed
from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue

HERE = {**catalogue(), "llama_server": replace(catalogue()["llama_server"], missing=lambda: None)}
ABSENT = replace(HERE["llama_server"], missing=lambda: Cause("engine.not_installed"))
NONE = {
    name: engine if name == "echo" else replace(engine, missing=lambda: Cause("engine.not_installed"))
    for name, engine in HERE.items()
}


def test_the_command_is_for_this_python(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/my venv/bin/python")
    assert command_for(ABSENT) == "'/my venv/bin/python' -m pip install xllamacpp"
    assert command_for(ABSENT, anew=True) == "'/my venv/bin/python' -m pip install --force-reinstall xllamacpp"


def test_a_build_without_pip_and_another_way_to_install_are_left_as_they_are(monkeypatch):
    assert command_for(replace(ABSENT, install="get it from its maker")) == "get it from its maker"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert command_for(ABSENT) == "pip install xllamacpp"


def test_that_no_engine_is_there_names_the_one_to_install():
    cause = none_installed(NONE.values(), PREFERRED)
    assert (cause.code, cause.values["engine"]) == ("engine.none_installed", "llama.cpp")
    said = str(explain_code(cause.code, cause.values))
    assert said.endswith("-m pip install xllamacpp")


@pytest.mark.parametrize("engines", [HERE, {}, {"echo": HERE["echo"]}], ids=["one", "no engine known", "only echo"])
def test_nothing_is_said_where_one_is_there_or_none_is_known(engines):
    assert none_installed(engines.values(), PREFERRED) is None


@pytest.mark.parametrize(
    "last",
    [
        "ModuleNotFoundError: No module named 'xllamacpp.xllamacpp'",
        "ImportError: /lib/xllamacpp.so: undefined symbol: llama_model_load",
    ],
)
def test_a_library_that_cannot_be_loaded_is_to_be_installed_anew(last):
    error = failure(ABSENT, ["Traceback (most recent call last):", last], 1, ())
    assert error.code == "engine.not_loadable"
    assert error.values["reason"] == last.partition(": ")[2]
    assert "--force-reinstall xllamacpp" in error.values["install"]


def test_a_library_made_for_a_newer_system_is_not_to_be_installed_anew():
    last = "ImportError: /lib/libc.so.6: version `GLIBC_2.38' not found (required by x.so)"
    error = failure(ABSENT, ["Traceback (most recent call last):", last], 1, ())
    assert (error.code, error.values["needs"]) == ("engine.old_system", "GLIBC_2.38")


def test_a_library_that_is_gone_is_to_be_installed():
    error = failure(ABSENT, ["ModuleNotFoundError: No module named 'xllamacpp'"], 1, ())
    assert (error.code, error.values["install"]) == ("engine.not_installed", command_for(ABSENT))


def test_an_import_that_failed_earlier_is_not_why_it_ended():
    assert failure(ABSENT, ["ImportError: no tokenizers", "up"], 1, ()).code == "engine.ended"


@pytest.mark.parametrize(("has", "said"), [(("SSE4.2", "AVX"), "It has: SSE4.2 AVX."), ((), "It has: -.")])
def test_an_instruction_that_is_not_there_is_told_beside_those_that_are(has, said):
    error = failure(ABSENT, [], -4, has)
    assert error.code == "engine.illegal_instruction"
    assert said in str(explain_code(error.code, error.values))
