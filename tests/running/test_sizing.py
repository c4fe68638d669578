"""Asking an engine what a load would take: the child's bounds, with echo; the table itself, with llama.cpp."""

import json
import math
import os
import struct
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from tests.formats.made_gguf import head, tensor, text, value

from weighbridge.base.errors import BadFile, Cancelled
from weighbridge.base.task import Task
from weighbridge.formats.head import Head
from weighbridge.running import sizing
from weighbridge.running.sizing import Limits, Sizing, Table, memory_limit, sized
from weighbridge.running.skeleton import read_head
from weighbridge_engines.api import Cause, Load
from weighbridge_engines.catalogue import catalogue

MIB = 1 << 20
FIT_CASES = Path(__file__).parents[1] / "data" / "fit_cases"
ECHO = catalogue()["echo"]
LLAMA = catalogue()["llama_server"]
LOAD = Load("", context=4096)
CARD = "0.1 I common_memory_breakdown_print: |   - RPC0 (x) | 24 = 24 + (9 =  5 +     3 +      1) +       -9 |"
HOST = "0.1 I common_memory_breakdown_print: |   - Host     |            6 =    3 +       2 +       1          |"
AFTER = "0.1 I common_params_fit_impl: projected to use 6 MiB"


def asked(tmp_path, limits=None, task=None, **script):
    content = json.dumps(script).encode()
    return sized(ECHO, [Head(content, len(content))], LOAD, tmp_path / "here", limits or Limits(), task)


def left_over(tmp_path):
    return [*(tmp_path / "here").iterdir(), *psutil.Process().children(recursive=True)]


@pytest.mark.parametrize(
    "then",
    [
        {"log": [CARD, HOST, AFTER], "fail_at": "load", "fail_how": "hang"},
        {"log": [CARD, HOST, AFTER, CARD], "fail_at": "load", "fail_how": "hang", "grandchildren": 2},
        {"log": [CARD, HOST], "fail_at": "load", "fail_how": "crash"},
        {"log": [CARD, HOST]},
    ],
    ids=["goes on", "goes on to another table", "crashes", "ends"],
)
def test_the_first_table_is_taken_whatever_comes_after(tmp_path, then):
    table = asked(tmp_path, **then)
    assert isinstance(table, Table)
    assert [(row.device, row.host, row.total_bytes) for row in table.rows] == [
        ("RPC0", False, 9 * MIB),
        ("Host", True, 6 * MIB),
    ]
    assert (table.total_bytes, table.engine_id) == (15 * MIB, "echo")
    assert left_over(tmp_path) == []


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ({}, "sizing.no_table"),
        ({"log": [CARD], "fail_at": "load", "fail_how": "exit"}, "sizing.no_table"),
        ({"log": [CARD, AFTER, HOST], "fail_at": "load", "fail_how": "hang"}, "sizing.no_table"),
        ({"log": [HOST.replace("3", "9" * 20), AFTER]}, "sizing.no_table"),
        ({"log": ["x" * 5000] * 100, "fail_at": "load", "fail_how": "hang"}, "sizing.no_table"),
        ({"fail_at": "load", "fail_how": "kill"}, "sizing.no_table"),
        ({"fail_at": "load", "fail_log": ["unknown model architecture: 'new'"]}, "engine.unknown_architecture"),
        ({"fail_at": "load", "fail_log": ["ggml: failed to allocate buffer of size 5"]}, "engine.out_of_memory"),
        ({"fail_at": "load", "fail_how": "hang"}, "sizing.slow"),
        ({"log": [CARD, HOST], "fail_at": "load", "fail_how": "hang"}, "sizing.slow"),
        ({"fail_at": "load", "fail_how": "hang", "grandchildren": 2}, "sizing.slow"),
    ],
    ids=["silent", "cut", "without host", "huge", "flood", "killed", "unknown", "memory", "hangs", "half", "family"],
)
def test_an_engine_that_does_not_tell_is_a_cause(tmp_path, script, code):
    cause = asked(tmp_path, Limits(time_s=1.5, output_bytes=100_000), **script)
    assert isinstance(cause, Cause)
    assert (cause.code, cause.values["engine"]) == (code, ECHO.title)
    assert left_over(tmp_path) == []


@pytest.mark.engine
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to a limit of memory")
def test_a_child_is_held_to_its_memory(tmp_path):
    mamba = Head((FIT_CASES / "mamba-2.8b.gguf.head").read_bytes(), 4 << 30)
    many = Load("", context=4096, slots=128)
    assert sized(LLAMA, [mamba], many, tmp_path, Limits(memory_bytes=1 << 30)).code == "engine.out_of_memory"


@pytest.mark.parametrize(
    ("available", "limit"), [(None, 4096), (1000 * MIB, 512), (4096 * MIB, 2048), (64 << 30, 4096)]
)
def test_a_child_gets_half_of_what_is_free(available, limit):
    assert memory_limit(available) == limit * MIB


def test_a_question_that_is_given_up_ends_the_child(tmp_path):
    task = Task()
    timer = threading.Timer(0.5, task.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        asked(tmp_path, task=task, fail_at="load", fail_how="hang")
    timer.join()
    assert left_over(tmp_path) == []


def test_an_engine_without_a_table_or_not_here_is_a_cause(tmp_path):
    heads = [Head(b"", 0)]
    assert sized(replace(ECHO, size=None), heads, LOAD, tmp_path, Limits()).code == "sizing.not_offered"
    missing = Cause("engine.not_installed")
    assert sized(replace(ECHO, missing=lambda: missing), heads, LOAD, tmp_path, Limits()) is missing


def test_a_folder_that_cannot_be_made_is_a_cause(tmp_path):
    (tmp_path / "here").write_text("")
    assert asked(tmp_path).code == "sizing.unwritable"


def test_what_a_killed_program_left_is_removed(tmp_path):
    old, new = tmp_path / "here" / "sizing-old", tmp_path / "here" / "sizing-new"
    for place in (old, new):
        place.mkdir(parents=True)
    os.utime(old, (0, 0))
    asked(tmp_path)
    assert left_over(tmp_path) == [new]


class Counted:
    """Echo, counting how often it is asked; its files are taken as they are."""

    def __init__(self, tmp_path, monkeypatch):
        self.times = 0
        self.version = "1"
        self.path = tmp_path / "m.echo"
        self.path.write_text(json.dumps({"log": [HOST, AFTER]}))
        monkeypatch.setattr(sizing, "read_head", self._head)
        engine = replace(ECHO, version=lambda: self.version)
        self.sizing = Sizing({"echo": engine}, tmp_path / "here", lambda: None)

    def _head(self, path):
        self.times += 1
        content = path.read_bytes()
        return Head(content, len(content))

    def ask(self, load=LOAD):
        return self.sizing.table("echo", [self.path], load)


def test_a_table_is_remembered_while_file_engine_and_load_are_the_same(tmp_path, monkeypatch):
    counted = Counted(tmp_path, monkeypatch)
    first = counted.ask()
    assert isinstance(first, Table)
    assert counted.ask(replace(LOAD, model="elsewhere", alias="a", threads=3)) is first
    assert counted.times == 1
    counted.ask(replace(LOAD, key_type="q8_0"))
    assert counted.times == 2
    os.utime(counted.path, (5, 5))
    counted.ask()
    assert counted.times == 3
    counted.version = "2"
    assert counted.ask().version == "2"
    assert counted.times == 4


def test_only_so_many_are_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr(sizing, "REMEMBERED", 1)
    counted = Counted(tmp_path, monkeypatch)
    for context in (1, 2, 1):
        counted.ask(replace(LOAD, context=context))
    assert counted.times == 3


def test_a_refusal_is_not_remembered(tmp_path, monkeypatch):
    counted = Counted(tmp_path, monkeypatch)
    counted.path.write_text("{}")
    assert [counted.ask().code, counted.ask().code, counted.times] == ["sizing.no_table", "sizing.no_table", 2]


def test_a_table_of_headers_alone_is_remembered_by_their_content(tmp_path):
    content = json.dumps({"log": [HOST, AFTER]}).encode()
    one = Sizing({"echo": ECHO}, tmp_path / "here", lambda: None)
    first = one.table_of_heads("echo", [Head(content, len(content))], LOAD)
    assert isinstance(first, Table)
    assert one.table_of_heads("echo", [Head(content, len(content))], replace(LOAD, alias="b")) is first
    assert one.table_of_heads("echo", [Head(content + b" ", len(content) + 1)], LOAD) is not first
    assert one.table_of_heads("echo", [Head(content, len(content) + 1)], LOAD) is not first


def test_a_file_that_is_no_model_is_a_cause(tmp_path):
    path = tmp_path / "m.gguf"
    one = Sizing({"echo": ECHO}, tmp_path / "here", lambda: None)
    assert one.table("echo", [path], LOAD).code == "file.unreadable"
    path.write_bytes(b"GGUF")
    with pytest.raises(BadFile) as bad:
        read_head(path)
    assert one.table("echo", [path], LOAD).code == bad.value.code


@pytest.mark.engine
@pytest.mark.parametrize("load", [Load("", context=8192, batch=512), Load("", context=2048, slots=4, key_type="q8_0")])
def test_the_table_of_a_header_alone_is_that_of_the_file(tmp_path, smollm2, load):
    started = time.monotonic()
    of_header = Sizing(catalogue(), tmp_path, lambda: None).table("llama_server", [smollm2], load)
    assert isinstance(of_header, Table)
    whole = Head(Path(smollm2).read_bytes(), smollm2.stat().st_size)
    of_file = sized(LLAMA, [whole], load, tmp_path, Limits())
    assert of_header == of_file
    assert of_header.rows[0].model_bytes == 92 * MIB
    assert time.monotonic() - started < 2 * sizing.LIMIT_S


def part(number, tensors):
    """One of two parts of a small model without a vocabulary."""
    keys = {
        "general.architecture": "llama",
        "llama.block_count": 1,
        "llama.context_length": 8192,
        "llama.embedding_length": 64,
        "llama.feed_forward_length": 128,
        "llama.attention.head_count": 4,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.vocab_size": 32768,
        "tokenizer.ggml.model": "no_vocab",
    }
    body = b"".join(text(name) + value(content) for name, content in keys.items())
    for name, count in (("split.no", number), ("split.count", 2)):
        body += text(name) + struct.pack("<IH", 2, count)
    body += text("split.tensors.count") + struct.pack("<Ii", 5, 11)
    records, offset = b"", 0
    for name, shape in tensors.items():
        records += tensor(name, shape, 0, offset)
        offset += 4 * math.prod(shape)
    content = head(len(tensors), len(keys) + 3) + body + records
    content += bytes(-len(content) % 32)
    return Head(content, len(content) + offset)


@pytest.mark.engine
def test_a_model_in_parts_is_sized_as_one(tmp_path):
    layer = {
        "attn_norm": (64,),
        "ffn_norm": (64,),
        "attn_q": (64, 64),
        "attn_k": (64, 64),
        "attn_v": (64, 64),
        "attn_output": (64, 64),
        "ffn_gate": (64, 128),
        "ffn_up": (64, 128),
        "ffn_down": (128, 64),
    }
    first = {"token_embd.weight": (64, 32768), "output_norm.weight": (64,)}
    second = {f"blk.0.{name}.weight": shape for name, shape in layer.items()}
    table = sized(LLAMA, [part(0, first), part(1, second)], LOAD, tmp_path, Limits())
    assert isinstance(table, Table), table
    assert [(row.device, row.model_bytes) for row in table.rows] == [("Host", 8 * MIB)]
    assert table.rows[0].context_bytes == 4096 * 64 * 2 * 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not hold a process to such a limit")
def test_a_program_is_asked_for_its_own_table_and_held_to_its_memory(tmp_path):
    """The second row is printed only where the limit is the one that was set."""
    most_bytes = 600 * MIB
    said = f"""
import resource, time
print({CARD!r})
if resource.getrlimit(resource.RLIMIT_DATA)[0] == {most_bytes}:
    print({HOST!r})
print({AFTER!r}, flush=True)
time.sleep(60)
"""
    asked_for = []

    def size_command(load):
        asked_for.append(load)
        return [sys.executable, "-I", "-S", "-c", said]

    program = replace(ECHO, size=None, size_command=size_command)
    content = b"{}"
    table = sized(program, [Head(content, len(content))], LOAD, tmp_path / "here", Limits(memory_bytes=most_bytes))
    assert isinstance(table, Table)
    assert [row.device for row in table.rows] == ["RPC0", "Host"]
    assert asked_for[0].context == LOAD.context
    assert left_over(tmp_path) == []
