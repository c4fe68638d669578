"""What a program is asked, and what is refused."""

import os

import pytest
from tests.running.made_builds import llama_server

from weighbridge.base.errors import EngineFailed, NotFound, Refused
from weighbridge.hardware.child import Answer
from weighbridge.running.programs import Program, look_at, on_path, program_id

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the made program is a script of POSIX")


def test_a_program_tells_what_it_is(tmp_path):
    path = llama_server(tmp_path)
    told = look_at(path, os.environ)
    assert (told.path, told.version, told.changed) == (str(path), "b9000", False)
    assert Program.from_json(told.as_json()) == told
    assert told.engine().build == program_id(str(path))


@pytest.mark.parametrize(
    ("without", "code", "lacking"),
    [
        (("--fit",), "build.too_old", "--fit"),
        (("--load-mode", "--no-mmap", "--fit"), "build.too_old", "--load-mode, --fit"),
        (("--model",), "build.not_llama_server", None),
    ],
)
def test_a_program_that_lacks_what_every_load_needs_is_refused(tmp_path, without, code, lacking):
    with pytest.raises(Refused) as refusal:
        look_at(llama_server(tmp_path, without=without), os.environ)
    assert (refusal.value.code, refusal.value.values.get("lacking")) == (code, lacking)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer("", "", None), "> 20 s"),
        (Answer("", "x\nlibcuda.so.1: cannot open\n", 127), "libcuda.so.1: cannot open"),
        (OSError(8, "Exec format error"), "Exec format error"),
    ],
)
def test_a_program_that_does_not_answer_is_told(tmp_path, answer, reason):
    def ask(argv, limit_s, environment):
        if isinstance(answer, OSError):
            raise answer
        return answer

    with pytest.raises(EngineFailed) as failure:
        look_at(llama_server(tmp_path), os.environ, ask)
    assert (failure.value.code, failure.value.values["reason"]) == ("build.program_failed", reason)


@pytest.mark.parametrize("make", ["nothing", "folder", "text"])
def test_what_is_no_program(tmp_path, make):
    path = tmp_path / "x"
    if make == "folder":
        path.mkdir()
    elif make == "text":
        path.write_text("words")
    with pytest.raises((NotFound, EngineFailed)) as refusal:
        look_at(path, os.environ)
    assert refusal.value.code in ("build.no_program", "build.program_failed")


def test_its_own_settings_by_environment_are_kept_from_it(tmp_path):
    seen = []

    def ask(argv, limit_s, environment):
        seen.append(environment)
        return Answer("", "", 1)

    with pytest.raises(EngineFailed):
        look_at(
            llama_server(tmp_path), {"LLAMA_ARG_PORT": "1", "LLAMA_API_KEY": "k", "PYTHONPATH": "/p", "HOME": "h"}, ask
        )
    assert seen == [{"HOME": "h"}]


def test_a_program_is_found_as_a_shell_finds_it(tmp_path):
    path = llama_server(tmp_path)
    assert on_path({"PATH": f"/nowhere:{tmp_path}"}) == str(path)
    assert on_path({"PATH": "/nowhere"}) is None
