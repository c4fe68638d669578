import contextlib
import json
import threading
import time
from pathlib import Path

import pytest
from tests.chat.standin import DONE, chunk, event, streaming
from tests.server.fakes import chat, connect, events, model, read_reply, request

from weighbridge.base.errors import BadFile, EngineFailed, Refused

HI = [{"role": "user", "content": "hi"}]
USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
WHOLE = {
    "id": "c1",
    "object": "chat.completion",
    "model": "/models/secret/path.gguf",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
    "usage": USAGE,
    "timings": {"predicted_n": 2},
}


def asked(**more):
    return {"model": "tiny", "messages": HI, **more}


def answering(line):
    """A small answer in the form that was asked for."""
    if line.body.get("stream"):
        usage = event({"model": "tiny", "choices": [], "usage": USAGE})
        streaming(chunk(model="tiny", content="Hi"), chunk("stop", model="tiny"), usage)(line)
    else:
        line.whole(WHOLE)


def until(true, patience_s=5):
    """Wait for `true()`; its last value."""
    end = time.monotonic() + patience_s
    while not (value := true()) and time.monotonic() < end:
        time.sleep(0.005)
    return value


def read_until(line, wanted):
    received = b""
    while wanted not in received:
        piece = line.recv(1 << 16)
        assert piece, received
        received += piece


def test_a_whole_answer(house):
    house.engine.use(answering)
    reply = house.send(chat(asked()))
    assert reply.status == 200
    assert reply.json == {**{name: value for name, value in WHOLE.items() if name != "timings"}, "model": "tiny"}
    assert house.engine.lines[0].headers["authorization"] == "Bearer secret"
    assert house.engine.body == {"model": "tiny", "messages": HI}
    row = house.last_row()
    assert (row.method, row.route, row.model, row.status) == ("POST", "/v1/chat/completions", "tiny", 200)
    assert (row.prompt_tokens, row.output_tokens, row.complete, row.client) == (5, 2, True, "127.0.0.1")


def test_timings_for_who_asks(house):
    house.engine.use(answering)
    assert house.send(chat(asked(timings_per_token=True))).json["timings"] == {"predicted_n": 2}


@pytest.mark.parametrize("usage", [True, False])
def test_a_streamed_answer(house, usage):
    house.engine.use(answering)
    reply = house.send(chat(asked(stream=True, stream_options={"include_usage": usage})))
    assert (reply.status, reply.header("content-type")) == (200, ["text/event-stream; charset=utf-8"])
    *chunks, done = events(reply)
    assert done == "[DONE]"
    assert [each["usage"] for each in chunks if each.get("usage")] == ([USAGE] if usage else [])
    row = house.last_row()
    assert (row.status, row.complete, row.output_tokens) == (200, True, 2)


def test_one_connection_serves_many_requests(house):
    house.engine.use(answering)
    with connect(house.port) as line:
        for number in range(6):
            line.sendall(chat(asked(stream=bool(number % 2))))
            assert read_reply(line).status == 200


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        (chat(b"{:"), 400, "body.not_json"),
        (chat(b" "), 400, "body.not_json"),
        (request("POST", "/v1/chat/completions"), 400, "body.not_json"),
        (chat(b"[]"), 400, "body.not_object"),
        (chat(b"5"), 400, "body.not_object"),
        (chat(b'"x"'), 400, "body.not_object"),
        (chat(b"[" * 20_000_000), 400, "body.too_deep"),
        (chat(b" " * 40_000_000), 413, "body.too_large"),
        (chat(b'{"a":"\xff\xfe"}'), 400, "body.not_utf8"),
        (chat(asked(messages="hi")), 400, "request.no_messages"),
        (chat(asked(messages=[5] * 10_000)), 400, "request.not_object"),
        (chat(asked(messages=[{"role": "banana" * 1000, "content": "x"}])), 400, "message.role"),
        (chat(asked(messages=[{"role": "\ud800\0\n" * 300, "content": "x"}])), 400, "message.role"),
        (chat(asked(max_completion_tokens=0)), 400, "request.token_limit"),
        (chat(asked(temperature=float("inf"))), 400, "body.bad_number"),
        (chat(b'{"model":"tiny","messages":[{"role":"user"}],"seed":1e999}'), 400, "body.bad_number"),
        (chat(asked(model=7)), 400, "request.not_text"),
        (request("GET", "/v1/chat/completions"), 405, "route.method"),
        (request("POST", "/v1/models", body=b"{}"), 405, "route.method"),
        (request("GET", "/v1/" + "x" * 9000), 404, "route.unknown"),
        (request("GET", "/v1/models/"), 404, "model_not_found"),
        (request("GET", "//etc/passwd"), 404, "route.unknown"),
    ],
    ids=range(22),
)
def test_a_slip_is_told_and_the_server_lives(house, raw, status, code):
    reply = house.send(raw)
    assert (reply.status, reply.error["code"]) == (status, code)
    assert reply.error["type"] == "invalid_request_error"
    assert house.engines.asked == []
    assert house.send(request()).json == {"status": "ok"}


def test_a_part_that_is_no_text_names_the_model(house):
    content = [{"type": "input_audio", "input_audio": {"data": "aaaa", "format": "wav"}}]
    reply = house.send(chat(asked(messages=[{"role": "user", "content": content}])))
    assert reply.status == 400
    assert "tiny" in reply.error["message"]
    assert reply.error["param"] == "messages[0].content[0]"


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4o",
        "no-such",
        " ",
        "attacker/repo",
        "/etc",
        "../../x",
        "C:\\x",
        "hf.co/a/b:Q4",
        "tiny\0",
        "x" * 100_000,
        '"\\' * 600,
    ],
)
def test_a_name_off_the_shelf_loads_nothing(house, name):
    for body in (asked(model=name), asked(model=name, stream=True)):
        reply = house.send(chat(body))
        assert (reply.status, reply.error["code"]) == (404, "model_not_found")
    assert house.last_row(2).model == name[:200].replace("\0", "\ufffd")
    if len(name) < 100:
        assert "tiny, small" in reply.error["message"]
    assert house.engines.asked == []


def test_a_full_shelf_does_not_fill_the_answer(house):
    house.shelf.models = tuple(model(f"a-rather-long-name-of-a-model-{number}") for number in range(1000))
    assert house.send(chat(asked(model="nope"))).error["code"] == "model_not_found"


def test_without_a_name_the_loaded_model_answers(house):
    house.engine.use(answering)
    nameless = {"messages": HI}
    reply = house.send(chat(nameless))
    assert (reply.status, reply.error["code"], reply.error["param"]) == (404, "model.needed", "model")
    assert "tiny, small" in reply.error["message"]
    house.engines.loaded = ("small",)
    for body in (nameless, {**nameless, "model": ""}):
        assert house.send(chat(body)).json["model"] == "small"
    house.engines.loaded = ("small", "tiny")
    assert house.send(chat({**nameless, "model": None})).json["model"] == "tiny"


def test_without_a_name_the_only_model_answers(house):
    house.engine.use(answering)
    house.shelf.models = (model("tiny"), model("broken", BadFile("file.empty")))
    assert house.send(chat({"messages": HI})).json["model"] == "tiny"
    house.shelf.models = ()
    assert house.send(chat({"messages": HI})).error["code"] == "library.empty"


def test_a_damaged_model_says_why(house):
    house.shelf.models = (model("broken", BadFile("file.empty")),)
    reply = house.send(chat(asked(model="broken")))
    assert (reply.status, reply.error["code"]) == (500, "file.empty")
    assert house.engines.asked == []


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (EngineFailed("engine.out_of_memory", ("line",), engine="echo", line="bad_alloc"), 502),
        (Refused("queue.full", waiting=9, limit=9), 429),
        (EngineFailed("engine.stopped", model="tiny"), 503),
    ],
)
def test_a_load_that_fails_is_told(house, error, status):
    house.engines.error = error
    for streamed in (True, False):
        reply = house.send(chat(asked(stream=streamed)))
        assert (reply.status, reply.error["code"]) == (status, error.code)


@pytest.mark.parametrize("streamed", [True, False])
def test_a_prompt_that_is_too_long(house, streamed):
    error = {"type": "exceed_context_size_error", "message": "x", "n_prompt_tokens": 600, "n_ctx": 512}
    house.engine.use(lambda line: line.whole({"error": error}, 400))
    reply = house.send(chat(asked(stream=streamed)))
    assert (reply.status, reply.error["code"]) == (400, "context_length_exceeded")
    assert "600" in reply.error["message"]
    assert "512" in reply.error["message"]
    assert (reply.error["n_prompt_tokens"], reply.error["n_ctx"]) == (600, 512)


@pytest.mark.parametrize(("told", "status"), [(400, 400), (401, 502), (404, 502), (500, 502), (501, 501), (503, 503)])
def test_an_engines_refusal_keeps_its_words(house, told, status):
    house.engine.use(lambda line: line.whole({"error": {"message": "bad grammar"}}, told))
    reply = house.send(chat(asked(stream=True)))
    assert (reply.status, reply.error["code"]) == (status, "engine.answered")
    assert "bad grammar" in reply.error["message"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 100_000])
def test_an_engine_that_answers_nonsense(house, body):
    house.engine.use(lambda line: line.whole(body))
    assert house.send(chat(asked())).error["code"] == "stream.malformed"


def test_a_bad_byte_in_a_whole_answer_is_replaced(house):
    house.engine.use(lambda line: line.whole(b'{"choices":[{"message":{"content":"a\xff"}}]}'))
    assert house.send(chat(asked())).json["choices"][0]["message"]["content"] == "a\ufffd"


def test_an_engine_that_is_gone(house):
    house.engines.url = "http://127.0.0.1:1"
    reply = house.send(chat(asked(stream=True)))
    assert (reply.status, reply.error["code"]) == (502, "engine.silent")
    assert reply.error["type"] == "server_error"


@pytest.mark.parametrize("streamed", [True, False])
def test_an_engine_that_hangs_up_before_it_answers(house, streamed):
    house.engine.use(lambda line: None)
    reply = house.send(chat(asked(stream=streamed)))
    assert (reply.status, reply.error["code"]) == (502, "engine.silent")


@pytest.mark.parametrize("how", ["closed", "reset", "ended", "ended in half a line", "broken chunk"])
def test_an_engine_that_dies_in_mid_answer(house, how):
    def script(line):
        line.head()
        line.chunk(chunk(model="tiny", content="half"))
        if how == "broken chunk":
            line.send(b"zz\r\n")
        if how == "ended in half a line":
            line.chunk(b'data: {"choices":[{"de')
        if how.startswith("ended"):
            line.end()
        time.sleep(0.05)
        if how == "reset":
            line.reset()

    house.engine.use(script)
    first, last = events(house.send(chat(asked(stream=True))))
    assert first["choices"][0]["delta"]["content"] == "half"
    assert last["error"]["code"] in ("engine.silent", "stream.interrupted")
    row = house.last_row()
    assert (row.status, row.complete) == (200, False)


def test_an_error_inside_the_stream_ends_it(house):
    bad = event({"error": {"code": 500, "message": "out of memory"}})
    house.engine.use(streaming(chunk(model="tiny", content="A"), bad, done=None))
    _, last = events(house.send(chat(asked(stream=True))))
    assert "out of memory" in last["error"]["message"]


STAGES = ["before the head", "before the first chunk", "in mid-answer"]


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_hang_up_ends_the_work(house, streamed, stage, how):
    gone = []

    def script(line):
        with contextlib.suppress(OSError):  # gone already before the first byte of the answer
            if stage != "before the head":
                line.head()
            if stage == "in mid-answer":
                line.chunk(chunk(model="tiny", content="A") if streamed else b'{"choices":')
        gone.append(line.wait_for_hang_up())

    house.engine.use(script)
    with connect(house.port) as line:
        line.sendall(chat(asked(stream=streamed, max_tokens=4096)))
        assert house.engine.asked.wait(5)
        if streamed and stage == "in mid-answer":
            read_until(line, b"chat.completion.chunk")
        if how == "reset":
            line.setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")
    assert until(lambda: gone) == [True]
    assert until(lambda: house.engines.out == 0)
    assert house.last_row().complete is False
    house.engine.use(answering)
    assert house.send(chat(asked())).status == 200


def test_a_hang_up_while_waiting_leaves_the_queue(house):
    house.engines.holding = True
    with connect(house.port) as line:
        line.sendall(chat(asked()))
        assert until(lambda: house.engines.futures)
    assert until(house.engines.futures[0].cancelled)
    row = house.last_row()
    assert (row.status, row.complete, row.model) == (499, False, "tiny")


def test_a_lease_that_comes_too_late_is_given_back(house):
    house.engines.holding = True
    with connect(house.port) as line:
        line.sendall(chat(asked()))
        assert until(lambda: house.engines.futures)
        future = house.engines.futures[0]
        assert future.set_running_or_notify_cancel()  # from here on it cannot be cancelled
    house.last_row()
    future.set_result(house.engines.lend("tiny"))
    assert until(lambda: house.engines.out == 0)


def test_a_hang_up_in_mid_body_is_no_request(house):
    with connect(house.port) as line:
        line.sendall(chat(asked())[:-5])
    row = house.last_row()
    assert (row.status, row.complete) == (499, False)
    assert house.engines.asked == []


def test_a_reader_that_sends_its_next_request_early_is_no_hang_up(house):
    house.engine.use(answering)
    with connect(house.port) as line:
        line.sendall(chat(asked()) + request())
        read_until(line, b'{"status":"ok"}')


def test_a_reader_that_waits_loses_nothing(house):
    words = [f"{number:06} " + "x" * 1000 for number in range(3000)]

    def script(line):
        streaming(*[chunk(model="tiny", content=word) for word in words], chunk("stop", model="tiny"))(line)

    house.engine.use(script)
    with connect(house.port) as line:
        line.sendall(chat(asked(stream=True)))
        time.sleep(0.3)
        reply = read_reply(line)
    *chunks, finish, done = events(reply)
    assert [each["choices"][0]["delta"]["content"] for each in chunks] == words
    assert (finish["choices"][0]["finish_reason"], done) == ("stop", "[DONE]")


def test_streams_at_the_same_time_stay_apart(house):
    def script(line):
        name = line.body["messages"][0]["content"]
        line.head()
        for _ in range(30):
            line.chunk(chunk(model="tiny", content=name))
            time.sleep(0.001)
        line.chunk(chunk("stop", model="tiny") + DONE)
        line.end()

    house.engine.use(script)
    said = {}

    def read(name):
        reply = house.send(chat(asked(stream=True, messages=[{"role": "user", "content": name}])))
        said[name] = {each["choices"][0]["delta"].get("content", name) for each in events(reply)[:-1]}

    readers = [threading.Thread(target=read, args=(f"n{number}",)) for number in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert said == {f"n{number}": {f"n{number}"} for number in range(8)}


def test_expect_100_continue(house):
    house.engine.use(answering)
    body = json.dumps(asked()).encode()
    head, _, _ = chat(body, headers=[("Expect", "100-continue")]).partition(body)
    with connect(house.port) as line:
        line.sendall(head)
        assert line.recv(1 << 16).startswith(b"HTTP/1.1 100")
        line.sendall(body)
        assert read_reply(line).status == 200


def test_http_1_0_gets_a_whole_stream(house):
    house.engine.use(answering)
    with connect(house.port) as line:
        line.sendall(chat(asked(stream=True), version="1.0"))
        received = b""
        while piece := line.recv(1 << 16):
            received += piece
    assert received.endswith(DONE)


def test_the_models_are_listed(house, tmp_path):
    here = model("here")
    file = tmp_path / "here.gguf"
    file.touch()
    house.shelf.models = (here.__class__(**{**here.__dict__, "path": file}), model("gone"), model("bad", BadFile("x")))
    listed = house.send(request(path="/v1/models")).json
    created = int(Path(file).stat().st_mtime)
    assert listed == {
        "object": "list",
        "data": [
            {"id": "here", "object": "model", "owned_by": "weighbridge", "format": "gguf", "created": created},
            {"id": "gone", "object": "model", "owned_by": "weighbridge", "format": "gguf"},
        ],
    }
    assert house.send(request(path="/v1/models/here")).json == listed["data"][0]
    house.engines.loaded = ("here",)
    told = house.send(request(path="/v1/models/here")).json
    known = {"context_length": None, "architecture": {"input_modalities": ["text"]}}
    assert told == {**listed["data"][0], **known}
    reply = house.send(request(path="/v1/models/../../etc/passwd"))
    assert reply.error["code"] == "model_not_found"
