"""The worker's HTTP loop, over real sockets, around sessions written here."""

import json
import socket
import threading
import time

import httpx2
import pytest

from weighbridge_engines.api import (
    Capability,
    Chunk,
    ContextExceeded,
    Load,
    RequestRefused,
    TemplateRefused,
    TokenLogprob,
)
from weighbridge_engines.echo import EchoSession, Script
from weighbridge_engines.hosting import Host

BODY = {"messages": [{"role": "user", "content": "one two three"}]}
STREAM = {**BODY, "stream": True}
HEADERS = {"Authorization": "Bearer key"}


@pytest.fixture
def hosted():
    """Serves a session on a free port; gives a client for it."""
    made = []

    def serve(session, slots=1, able=()):
        host = Host(0, "key", Load(model="m", alias="parrot", slots=slots), able)
        host.session = session
        thread = threading.Thread(target=host.serve_forever, args=(0.01,))
        thread.start()
        base = f"http://127.0.0.1:{host.server_address[1]}"
        client = httpx2.Client(base_url=base, headers=HEADERS, trust_env=False, timeout=10)
        made.append((host, thread, client))
        return client

    yield serve
    for host, thread, client in made:
        client.close()
        host.shutdown()
        host.server_close()
        thread.join()


class Session:
    """Gives the chunks it was made with; tells when its stream was closed."""

    def __init__(self, *chunks, forever=False):
        self.chunks = chunks
        self.forever = forever
        self.closed = threading.Event()

    def stream(self, request):
        try:
            yield from self.chunks
            while self.forever:
                time.sleep(0.01)
                yield Chunk("x", 1)
        finally:
            self.closed.set()

    def close(self):
        """Nothing."""


class Failing(Session):
    def __init__(self, error, *chunks):
        super().__init__(*chunks)
        self.error = error

    def stream(self, request):
        yield from self.chunks
        raise self.error


def events(response):
    lines = [line for line in response.text.split("\n") if line]
    assert all(line.startswith("data: ") for line in lines)
    return [line.removeprefix("data: ") for line in lines]


def test_loading_then_healthy(hosted):
    client = hosted(None)
    assert client.get("/health").status_code == 503
    assert client.post("/v1/chat/completions", json=BODY).status_code == 503
    client = hosted(Session())
    assert client.get("/health").json() == {"status": "ok"}


def test_a_whole_answer(hosted):
    session = Session(Chunk(prompt_done=3, prompt_total=3), Chunk("Hé", 1), Chunk("llo", 2, finish="length"))
    answer = hosted(session).post("/v1/chat/completions", json=BODY).json()
    assert answer["choices"][0] == {
        "index": 0,
        "message": {"role": "assistant", "content": "Héllo"},
        "finish_reason": "length",
    }
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}
    assert (answer["model"], answer["object"]) == ("parrot", "chat.completion")


def test_a_streamed_answer_ends_with_done_and_has_no_usage_unless_asked(hosted):
    session = Session(Chunk(prompt_done=3, prompt_total=3), Chunk("a", 1), Chunk("b", 1, finish="stop"))
    *chunks, done = events(hosted(session).post("/v1/chat/completions", json=STREAM))
    assert done == "[DONE]"
    deltas = [json.loads(chunk)["choices"][0] for chunk in chunks]
    assert "".join(delta["delta"].get("content", "") for delta in deltas) == "ab"
    assert [delta["finish_reason"] for delta in deltas] == [None, None, None, "stop"]
    assert not any("usage" in json.loads(chunk) or "timings" in json.loads(chunk) for chunk in chunks)


def test_usage_timings_and_progress_where_asked(hosted):
    session = Session(Chunk(prompt_done=1, prompt_total=2), Chunk(prompt_done=2, prompt_total=2), Chunk("a", 1))
    asked = {"timings_per_token": True, "return_progress": True, "stream_options": {"include_usage": True}}
    *chunks, _ = events(hosted(session).post("/v1/chat/completions", json={**STREAM, **asked}))
    values = [json.loads(chunk) for chunk in chunks]
    progress = [value["prompt_progress"] for value in values if "prompt_progress" in value]
    assert [(one["processed"], one["total"]) for one in progress] == [(1, 2), (2, 2)]
    assert values[-1]["choices"] == []
    assert values[-1]["usage"]["total_tokens"] == 3
    assert values[-1]["timings"]["predicted_n"] == 1


def test_hanging_up_ends_the_work_and_frees_the_slot(hosted):
    endless = Session(forever=True)
    client = hosted(endless)
    with client.stream("POST", "/v1/chat/completions", json=STREAM) as response:
        next(response.iter_bytes())
    assert endless.closed.wait(5)
    with client.stream("POST", "/v1/chat/completions", json=STREAM) as response:
        assert response.status_code == 200


def test_hanging_up_while_waiting_for_the_slot(hosted):
    endless = Session(forever=True)
    client = hosted(endless)
    with client.stream("POST", "/v1/chat/completions", json=STREAM) as first:
        reading = first.iter_bytes()
        next(reading)
        with pytest.raises(httpx2.ReadTimeout):
            client.post("/v1/chat/completions", json=STREAM, timeout=0.3)
        assert not endless.closed.is_set()
    assert endless.closed.wait(5)


def test_a_prompt_too_long_is_told_with_both_numbers(hosted):
    response = hosted(Failing(ContextExceeded(600, 512))).post("/v1/chat/completions", json=STREAM)
    error = response.json()["error"]
    assert response.status_code == 400
    assert (error["type"], error["n_prompt_tokens"], error["n_ctx"]) == ("exceed_context_size_error", 600, 512)


def test_what_a_session_or_its_engine_cannot_do_is_a_400_that_names_the_field(hosted):
    invalid = "invalid_request_error"
    for session, body, param, kind in (
        (Failing(RequestRefused("there is no such token", "logit_bias")), BODY, "logit_bias", invalid),
        (Failing(TemplateRefused("the template takes no such messages.")), BODY, "messages", "template_error"),
        (Session(), {**BODY, "response_format": {"type": "json_object"}}, "response_format", invalid),
        (Session(), {"messages": []}, "messages", invalid),
    ):
        response = hosted(session).post("/v1/chat/completions", json=body)
        error = response.json()["error"]
        assert (response.status_code, error["type"], error["param"]) == (400, kind, param)
        assert not error["message"].endswith("..")


def test_what_was_read_before_is_told_apart(hosted):
    session = Session(Chunk(prompt_done=8, prompt_total=10, prompt_cached=8, prompt_tps=5.0), Chunk("a", 1))
    asked = {"timings_per_token": True, "return_progress": True}
    *chunks, _ = events(hosted(session).post("/v1/chat/completions", json={**STREAM, **asked}))
    values = [json.loads(chunk) for chunk in chunks]
    (progress,) = [value["prompt_progress"] for value in values if "prompt_progress" in value]
    (timings,) = [value["timings"] for value in values if "timings" in value]
    assert (progress["processed"], progress["cache"], progress["total"]) == (8, 8, 10)
    assert (timings["cache_n"], timings["prompt_n"], timings["prompt_per_second"]) == (8, 2, 5.0)


def test_probabilities_are_told_in_openais_form(hosted):
    told = TokenLogprob(b"\xf0\x9f", -0.5, ((b"a", -0.25), (b"\xf0\x9f", -0.5)))
    asked = {**BODY, "logprobs": True, "top_logprobs": 2}
    whole = hosted(Session(Chunk("", 1, logprobs=(told,))), able={Capability.LOGPROBS})
    content = whole.post("/v1/chat/completions", json=asked).json()["choices"][0]["logprobs"]["content"]
    assert (content[0]["logprob"], content[0]["bytes"]) == (-0.5, [0xF0, 0x9F])
    assert [one["token"] for one in content[0]["top_logprobs"]] == ["a", "\ufffd"]
    *chunks, _ = events(whole.post("/v1/chat/completions", json={**asked, "stream": True}))
    streamed = [json.loads(chunk)["choices"][0].get("logprobs") for chunk in chunks]
    assert [one["content"] for one in streamed if one] == [content]


class Scoring(Session):
    def tokens(self, text):
        return [1, *map(len, text.split())]

    def score(self, tokens):
        yield [None]
        yield [-0.5] * (len(tokens) - 1)


def test_scores_of_a_text_or_of_tokens(hosted):
    client = hosted(Scoring(), able={Capability.SCORE})
    answer = client.post("/v1/score", json={"input": "one three"}).json()
    assert (answer["tokens"], answer["logprobs"], answer["model"]) == ([1, 3, 5], [None, -0.5, -0.5], "parrot")
    assert client.post("/v1/score", json={"input": [7, 8]}).json()["tokens"] == [7, 8]
    for bad in ("", [], [-1], [True], ["a"], 5, None):
        response = client.post("/v1/score", json={"input": bad})
        assert (response.status_code, response.json()["error"]["param"]) == (400, "input")
    assert hosted(Scoring()).post("/v1/score", json={"input": "x"}).status_code == 404


def test_a_session_that_fails_before_or_amid_its_answer(hosted, capfd):
    before = hosted(Failing(RuntimeError("gone"))).post("/v1/chat/completions", json=STREAM)
    assert (before.status_code, before.json()["error"]["message"]) == (500, "RuntimeError: gone")
    amid = hosted(Failing(RuntimeError("gone"), Chunk("a", 1))).post("/v1/chat/completions", json=STREAM)
    assert json.loads(events(amid)[-1])["error"]["message"] == "RuntimeError: gone"
    assert "RuntimeError: gone" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{:", 400),
        (b"[]", 400),
        (b"5", 400),
        (b"{}", 400),
        (b'{"messages":["x"]}', 400),
        (b"[" * 100_000, 400),
        (b"", 400),
    ],
)
def test_a_bad_body_is_refused_and_the_port_lives_on(hosted, content, status):
    client = hosted(Session(Chunk("a", 1)))
    response = client.post("/v1/chat/completions", content=content)
    assert response.status_code == status
    assert len(response.content) < 2048
    assert client.post("/v1/chat/completions", json=BODY).status_code == 200


def test_key_and_route(hosted):
    client = hosted(Session())
    assert client.post("/v1/chat/completions", json=BODY, headers={"Authorization": "Bearer x"}).status_code == 401
    assert client.post("/v1/other", json=BODY).status_code == 404
    assert client.get("/v1/other").status_code == 404


def test_a_silent_connection_holds_up_nobody(hosted):
    client = hosted(Session(Chunk("a", 1)))
    with socket.create_connection((client.base_url.host, client.base_url.port)):
        assert client.post("/v1/chat/completions", json=BODY).status_code == 200


def test_echo_says_the_last_message_or_its_text():
    said = "".join(chunk.text for chunk in EchoSession(Script(tps=0), 100).stream(_request("one  two\n three")))
    assert said == "one  two\n three"
    said = "".join(chunk.text for chunk in EchoSession(Script(text="a b", repeat=2, tps=0), 100).stream(_request("x")))
    assert said == "a ba b"


def test_echo_stops_at_the_limit_and_at_the_end_of_the_context():
    chunks = list(EchoSession(Script(tps=0), 100).stream(_request("a b c d", max_tokens=2)))
    assert ("".join(chunk.text for chunk in chunks), chunks[-1].finish) == ("a b", "length")
    chunks = list(EchoSession(Script(text="x " * 50, tps=0), 10).stream(_request("a b c d")))
    assert (sum(chunk.tokens for chunk in chunks), chunks[-1].finish) == (6, "length")
    with pytest.raises(ContextExceeded):
        list(EchoSession(Script(), 3).stream(_request("a b c d")))


def _request(text, **more):
    from weighbridge_engines.api import Request

    return Request(messages=[{"role": "user", "content": text}], **more)


@pytest.mark.parametrize("streamed", [False, True])
def test_what_a_grammar_forbids_has_a_logprob_that_json_has_a_number_for(hosted, streamed):
    never = float("-inf")
    chunks = Chunk("a", 1, logprobs=(TokenLogprob(b"a", -0.5, ((b"a", -0.5), (b"b", never))),)), Chunk(finish="stop")
    client = hosted(Session(*chunks), able={Capability.LOGPROBS})
    asked = {**BODY, "stream": streamed, "logprobs": True, "top_logprobs": 2}
    told = client.post("/v1/chat/completions", json=asked).text
    assert "Infinity" not in told
    assert '{"token":"b","logprob":-9999.0,"bytes":[98]}' in told.replace(" ", "")
