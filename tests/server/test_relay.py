import json

import pytest
from tests.chat.standin import DONE, chunk, event

from weighbridge.chat.stream import StreamParser
from weighbridge.server.relay import Asked, Relay

TIMINGS = {"prompt_n": 4, "cache_n": 1, "predicted_n": 2, "predicted_ms": 9.0}
PLAIN = Asked()
USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


def relayed(stream, asked=PLAIN, size=None, model="tiny"):
    relay = Relay(model, asked)
    sent = b""
    for start in range(0, len(stream), size or len(stream) or 1):
        sent += relay.feed(stream[start : start + (size or len(stream))])
    return sent + relay.end(), relay


def payloads(sent):
    frames = sent.decode().split("\n\n")
    assert frames[-1] == ""
    found = [frame.removeprefix("data: ") for frame in frames[:-1]]
    return [each if each == "[DONE]" else json.loads(each) for each in found]


def whole(model="tiny", **more):
    usage = event({"id": "c1", "object": "chat.completion.chunk", "model": model, "choices": [], **more})
    return chunk(model=model, content="Hi") + chunk("stop", model=model) + usage + DONE


def test_plain_chunks_pass_as_they_are():
    stream = chunk(model="tiny", content="日本 \"usage\" 'timings'") + chunk("stop", model="tiny") + DONE
    sent, relay = relayed(stream)
    assert sent.startswith(chunk(model="tiny", content="日本 \"usage\" 'timings'"))
    assert payloads(sent)[-1] == "[DONE]"
    assert relay.fault is None


@pytest.mark.parametrize("size", [1, 3, 50])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_bytes_may_be_cut_anywhere(size, newline):
    sent, _ = relayed(whole(usage=USAGE).replace(b"\n", newline), size=size)
    events = StreamParser().feed(sent)
    assert [event.__class__.__name__ for event in events] == ["Delta", "Finish", "Done"]


@pytest.mark.parametrize("told", ["gpt-4o", "/models/tiny.gguf", None])
def test_the_model_is_always_ours(told):
    sent, _ = relayed(whole(told, usage=USAGE), Asked(usage=True))
    assert {chunk["model"] for chunk in payloads(sent)[:-1]} == {"tiny"}


@pytest.mark.parametrize("words", ["usage", "error", "timings", '"model":"other"'])
def test_a_field_name_that_is_only_said_changes_nothing(words):
    sent, _ = relayed(chunk(model="tiny", content=words) + chunk("stop", model="tiny") + DONE)
    assert payloads(sent)[0]["choices"][0]["delta"]["content"] == words


def test_usage_comes_once_and_last_when_asked_for():
    sent, relay = relayed(whole(usage=USAGE), Asked(usage=True))
    *earlier, last, done = payloads(sent)
    assert (last["choices"], last["usage"], done) == ([], USAGE, "[DONE]")
    assert len(earlier) == 2
    assert all(chunk["usage"] is None and chunk["choices"] for chunk in earlier)
    assert (relay.usage.prompt_tokens, relay.usage.completion_tokens) == (5, 2)


@pytest.mark.parametrize("more", [{"usage": USAGE}, {"usage": USAGE, "timings": TIMINGS}, {}])
def test_no_usage_chunk_when_not_asked_for(more):
    sent, _ = relayed(whole(**more))
    assert all(chunk["choices"] and "usage" not in chunk for chunk in payloads(sent)[:-1])


@pytest.mark.parametrize("asked", [True, False])
def test_usage_in_every_chunk_of_an_engine_becomes_one(asked):
    counted = json.loads(chunk(model="tiny", content="A")[6:]) | {"usage": USAGE}
    stream = event(counted) * 2 + chunk("stop", model="tiny") + DONE
    sent, relay = relayed(stream, Asked(usage=asked))
    chunks = payloads(sent)[:-1]
    assert [chunk for chunk in chunks if chunk.get("usage")] == ([chunks[-1]] if asked else [])
    assert [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]] == [{"content": "A"}] * 2 + [{}]
    assert relay.usage.completion_tokens == 2


def test_timings_and_progress_are_shown_to_who_asked():
    reading = event({"model": "tiny", "choices": [{"delta": {}}], "prompt_progress": {"total": 9, "processed": 3}})
    stream = reading + whole(usage=USAGE, timings=TIMINGS)
    told = b"".join(json.dumps(chunk).encode() for chunk in payloads(relayed(stream)[0]))
    assert b"timings" not in told
    assert b"prompt_progress" not in told
    both = payloads(relayed(stream, Asked(timings=True, progress=True, usage=True))[0])
    assert both[0]["prompt_progress"] == {"total": 9, "processed": 3}
    assert (both[-2]["timings"], both[-2]["usage"]) == (TIMINGS, USAGE)
    timings_alone = payloads(relayed(stream, Asked(timings=True))[0])
    assert (timings_alone[-2]["timings"], timings_alone[-2].get("usage")) == (TIMINGS, None)


def test_tokens_are_known_from_timings_alone():
    last = json.loads(chunk("stop", model="tiny")[6:]) | {"timings": TIMINGS}
    _, relay = relayed(chunk(model="tiny", content="A") + event(last) + DONE)
    assert (relay.usage.prompt_tokens, relay.usage.completion_tokens) == (5, 2)


HALF = chunk(model="tiny", content="half")


@pytest.mark.parametrize(
    ("tail", "code"),
    [
        (b"", "stream.interrupted"),
        (b'data: {"choices":[{"de', "stream.interrupted"),
        (b"garbage", "stream.interrupted"),
        (DONE, "stream.interrupted"),
        (DONE + chunk("stop"), "stream.interrupted"),
        (b"data: [1]\n\n", "stream.malformed"),
        (b"data: {:\n\n" + chunk("stop"), "stream.malformed"),
        (b"data: " + b"x" * (2 << 20), "stream.too_long"),
        (b"data: " + b"x" * (2 << 20) + b"\n\n" + chunk("stop"), "stream.too_long"),
        (event({"error": {"message": "out of memory"}}) + chunk("stop") + DONE, "engine.answered"),
    ],
)
def test_a_stream_that_breaks_off_ends_in_one_error(tail, code):
    sent, relay = relayed(HALF + tail)
    first, last = payloads(sent)
    assert first["choices"][0]["delta"]["content"] == "half"
    assert (last["error"]["code"], last["error"]["type"]) == (code, "server_error")
    assert relay.fault.code == code
    assert ("out of memory" in last["error"]["message"]) == (code == "engine.answered")


def test_a_missing_done_marker_is_added_to_a_finished_answer():
    sent, relay = relayed(chunk(model="tiny", content="A") + chunk("stop", model="tiny"))
    assert payloads(sent)[-1] == "[DONE]"
    assert relay.fault is None


def test_a_last_frame_without_its_blank_line_counts():
    sent, relay = relayed(chunk("stop", model="tiny") + b"data: [DONE]")
    assert payloads(sent)[-1] == "[DONE]"
    assert relay.fault is None


def test_comments_keep_the_connection_open():
    assert relayed(b": ping\n\n" + whole())[0].startswith(b": ping\n\n")


def said(sent):
    return "".join(each["choices"][0]["delta"].get("content", "") for each in payloads(sent)[:-1])


def raw_chunk(content):
    return chunk(model="tiny", content="@").replace(b"@", content)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ((b"\xf0\x9f", b"\x98\xb8!"), "😸!"),
        ((b"\\ud83d", b"\\ude38"), "😸"),
        ((b"\\uD83D\\uDE38", b"x"), "😸x"),
        ((b"a\xff", b"b"), "a\ufffdb"),
        ((b"a", b"b\xff"), "ab\ufffd"),
        ((b"a", b"\xf0\x9f"), "a\ufffd"),
        ((b"a\\ud83d", b"b"), "a\ufffdb"),
        (("日".encode()[:1], "日".encode()[1:] + b"b"), "日b"),
    ],
)
def test_a_cut_character_reaches_the_caller_whole(pieces, text):
    sent, relay = relayed(b"".join(map(raw_chunk, pieces)) + chunk("stop", model="tiny") + DONE)
    assert said(sent) == text
    assert relay.fault is None


def test_choices_and_channels_are_mended_apart():
    def part(index, channel, half):
        return b'data: {"choices":[{"index":%d,"delta":{"%s":"%s"}}]}\n\n' % (index, channel, half)

    halves = [(0, b"content", b"\\ud83d"), (1, b"content", b"\\ud83d"), (0, b"reasoning", b"x")]
    ends = [(1, b"content", b"\\ude39"), (0, b"content", b"\\ude38")]
    sent, _ = relayed(b"".join(part(*each) for each in halves + ends) + chunk("stop") + DONE)
    deltas = [(each["choices"][0]["index"], each["choices"][0]["delta"]) for each in payloads(sent)[:-1]]
    assert deltas[2:5] == [(0, {"reasoning": "x"}), (1, {"content": "😹"}), (0, {"content": "😸"})]
