"""How the words of a log are searched for a cause."""

import pytest

from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.failure_words import cause_in, failure

TABLE = (
    failure("memory", r"size (?P<needed_bytes>\d+)", device="Host"),
    failure("file", r"no file (?P<path>.+)$"),
)


def test_the_first_of_the_table_counts_not_the_first_of_the_log():
    log = ["no file /a", "  buffer of size 12 failed "]
    assert cause_in(log, TABLE) == Cause(
        "memory", {"device": "Host", "needed_bytes": 12, "line": "buffer of size 12 failed"}
    )


def test_a_line_may_not_be_long_enough_to_hide_the_next():
    assert cause_in(["x" * 5000 + " size 1", "no file /a"], TABLE) == Cause(
        "file", {"path": "/a", "line": "no file /a"}
    )


def test_no_words_no_cause():
    assert cause_in(["all is well"], TABLE) is None


def test_source_that_a_traceback_shows_is_no_word_of_a_fault():
    log = [
        "Traceback (most recent call last):",
        '  File "/x/loader.py", line 12, in read',
        '    raise OSError(f"no file {path}")',
        "          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "OSError: the size 7 is too large",
    ]
    assert cause_in(log, TABLE) == Cause(
        "memory", {"device": "Host", "needed_bytes": 7, "line": "OSError: the size 7 is too large"}
    )
    assert cause_in(log[:4], TABLE) is None


def test_a_traceback_may_stand_behind_the_same_words_in_each_line():
    log = [
        '(Core pid=7) ERROR [core.py:1]   File "/x/core.py", line 9, in run',
        '(Core pid=7) ERROR [core.py:1]     raise OSError(f"no file {path}")',
        "(Core pid=7) ERROR [core.py:1] OSError: no file /b",
    ]
    assert cause_in(log[:2], TABLE) is None
    assert cause_in(log, TABLE).values["path"] == "/b"


@pytest.mark.parametrize("engine_id", ["mlx", "exllamav3", "onnx_genai", "openvino", "vllm", "transformers"])
def test_no_engine_takes_source_for_a_cause(engine_id):
    log = [
        "Traceback (most recent call last):",
        '  File "/x/y.py", line 3, in f',
        '    raise X("out of memory")  # MemoryError',
    ]
    assert (
        catalogue()[engine_id].diagnose([*log, "OutOfMemoryError: out of memory, MemoryError"], 1).code
        == "engine.out_of_memory"
    )
    assert catalogue()[engine_id].diagnose(log, 1) is None


def test_a_line_that_is_indented_counts_where_it_follows_no_place_in_a_program():
    assert cause_in(["loading", "    no file /a"], TABLE) == Cause("file", {"path": "/a", "line": "no file /a"})
