import json

import pytest

from weighbridge.chat.stream import (
    Delta,
    Done,
    Finish,
    PromptProgress,
    StreamFault,
    StreamParser,
    Timings,
    Usage,
)


def chunk(finish=None, **delta):
    return (
        b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).encode() + b"\n\n"
    )


STOP = chunk("stop")
DONE = b"data: [DONE]\n\n"


def read(stream, size=None):
    """All events of `stream`, fed in pieces of `size` bytes."""
    parser = StreamParser()
    events = []
    for start in range(0, len(stream), size or len(stream) or 1):
        events += parser.feed(stream[start : start + (size or len(stream))])
    return events + parser.finish()


def text_of(events):
    return "".join(event.text for event in events if isinstance(event, Delta))


def test_reads_a_whole_answer():
    stream = chunk(role="assistant", content=None) + chunk(content="Hi") + chunk(content=" there") + STOP + DONE
    assert read(stream) == [Delta("Hi"), Delta(" there"), Finish("stop"), Done()]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_bytes_may_be_cut_anywhere(size, newline):
    said = "naïve 😀 日本語"
    raw = json.dumps({"choices": [{"delta": {"content": said}}]}, ensure_ascii=False).encode()
    stream = b": ping\n\n" + b"data: " + raw + b"\n\nevent: x\nid: 1\ndata:" + raw + b"\n\n" + STOP + DONE
    events = read(stream.replace(b"\n", newline), size)
    assert text_of(events) == said * 2
    assert events[-1] == Done()


def test_data_may_span_lines():
    stream = b'data: {"choices":\ndata: [{"delta":\ndata: {"content": "A"}}]}\n\n'
    assert read(stream)[0] == Delta("A")


def test_a_bad_byte_is_replaced_once():
    stream = b'data: {"choices":[{"delta":{"content":"a\xff"}}]}\n\n' + STOP + DONE
    assert text_of(read(stream)) == "a\ufffd"
    at_the_end = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n\xff'
    assert read(at_the_end) == [Delta("a"), StreamFault("stream.interrupted")]


def test_the_bytes_of_a_character_in_two_deltas_are_joined():
    stream = (
        b'data: {"choices":[{"delta":{"content":"\xf0\x9f"}}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"\x98\xb8!"}}]}\n\n' + STOP + DONE
    )
    assert text_of(read(stream)) == "😸!"


@pytest.mark.parametrize("cat", ["😸", "💀", "🿿"])
def test_surrogate_escapes_in_two_deltas_are_joined(cat):
    high, low = (f"\\u{unit:04x}" for unit in memoryview(cat.encode("utf-16-le")).cast("H"))
    stream = b"".join(b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % half.encode() for half in (high, low))
    assert text_of(read(stream + STOP + DONE)) == cat


@pytest.mark.parametrize("half", ["\\ud83d", "\\ude00", "\\udc80"])
def test_half_a_pair_is_replaced_once(half):
    alone = b'data: {"choices":[{"delta":{"content":"a%s"}}]}\n\n' % half.encode()
    assert text_of(read(alone + STOP + DONE)) == "a\ufffd"
    assert text_of(read(alone + chunk(content="b") + STOP + DONE)) == "a\ufffdb"


def test_text_and_thinking_are_repaired_apart():
    stream = b"".join(
        b'data: {"choices":[{"delta":{"%s":"%s"}}]}\n\n' % pair
        for pair in ((b"content", b"\\ud83d"), (b"reasoning_content", b"hm"), (b"content", b"\\ude38"))
    )
    assert read(stream + STOP + DONE)[:2] == [Delta(reasoning="hm"), Delta("😸")]


def test_what_was_held_back_is_shown_at_an_early_end():
    stream = b'data: {"choices":[{"delta":{"content":"\xf0\x9f"}}]}\n\n'
    assert read(stream) == [Delta("\ufffd"), StreamFault("stream.interrupted")]


@pytest.mark.parametrize(
    "tail",
    [
        b"",
        b'data: {"choices":[{"del',
        b"data: [DO",
        b"data: ",
        chunk(content=" more"),
        DONE,
        b"garbage without a colon\n\n",
    ],
)
def test_an_answer_without_a_finish_reason_is_interrupted(tail):
    events = read(chunk(content="half") + tail)
    assert text_of(events).startswith("half")
    assert events[-1] == StreamFault("stream.interrupted")
    assert sum(isinstance(event, Done | StreamFault) for event in events) == 1


def test_a_finished_answer_needs_no_done_marker():
    assert read(chunk(content="A") + STOP)[-1] == Done()
    assert read(chunk(content="A") + STOP.rstrip() + b"\n")[-2:] == [Finish("stop"), Done()]
    assert read(chunk(content="A") + STOP + b"data: [DONE]")[-1] == Done()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"message": "out of memory", "code": 500}, "out of memory"),
        ("plain words", "plain words"),
        ({"code": 7}, '{"code": 7}'),
        ({"message": "x" * 5000}, "x" * 2000),
        ({"message": "\ud800"}, "?"),
    ],
)
def test_an_error_inside_the_stream_is_told(error, words):
    stream = (
        chunk(content="A") + b"data: " + json.dumps({"error": error}).encode() + b"\n\n" + chunk(content="B") + DONE
    )
    assert read(stream) == [Delta("A"), StreamFault("engine.answered", words)]


def test_empty_choices_with_usage_are_accepted():
    counts = b'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}\n\n'
    assert read(chunk(content="A") + STOP + counts + DONE) == [Delta("A"), Finish("stop"), Usage(5, 2), Done()]


def test_timings_and_progress():
    told = {
        "choices": [{"delta": {"content": "A"}, "finish_reason": None}],
        "prompt_progress": {"total": 10, "cache": 2, "processed": 6, "time_ms": 12.5},
        "timings": {"cache_n": 2, "prompt_n": 8, "prompt_ms": 40, "predicted_n": 1, "predicted_per_second": None},
    }
    events = read(b"data: " + json.dumps(told).encode() + b"\n\n")
    assert events[:3] == [
        PromptProgress(10, 2, 6, 12.5),
        Delta("A"),
        Timings(prompt_n=8, cache_n=2, prompt_ms=40.0, predicted_n=1),
    ]


def test_figures_that_make_no_sense_are_unknown():
    stream = (
        b'data: {"timings":{"predicted_n":true,"prompt_n":-1,"prompt_ms":1e999,"predicted_ms":NaN,"cache_n":"4"}}\n\n'
    )
    assert read(stream)[0] == Timings()
    assert read(b'data: {"prompt_progress":{"total":null,"processed":3}}\n\n') == [StreamFault("stream.interrupted")]
    assert read(b'data: {"timings":{"prompt_ms":1%s}}\n\n' % (b"0" * 400))[0] == Timings()


def test_tool_calls_are_passed_on():
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    events = read(chunk(tool_calls=[call, "junk"]) + chunk("tool_calls") + DONE)
    assert events == [Delta(tool_calls=(call,)), Finish("tool_calls"), Done()]


@pytest.mark.parametrize("bad", [b"[]", b"5", b'"x"', b"{:", b"[" * 100_000, b"null"])
def test_what_is_no_chunk_ends_the_stream(bad):
    events = read(chunk(content="A") + b"data: " + bad + b"\n\n" + STOP + DONE)
    assert events == [Delta("A"), StreamFault("stream.malformed")]


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": "x"},
        {"choices": [5]},
        {"choices": [{"delta": []}]},
        {"choices": [{"delta": {"content": 7, "tool_calls": 3}, "finish_reason": 9}]},
        {"usage": 4, "timings": []},
    ],
)
def test_fields_of_another_type_are_left_out(odd):
    assert read(b"data: " + json.dumps(odd).encode() + b"\n\n" + STOP + DONE) == [Finish("stop"), Done()]


@pytest.mark.parametrize("ending", [b"", b"\n\n"])
def test_a_line_without_end_is_refused(ending):
    parser = StreamParser(limit_bytes=1000)
    events = []
    for _ in range(3):
        events += parser.feed(b"data: " + b"x" * 500)
    events += parser.feed(ending) + parser.finish()
    assert events == [StreamFault("stream.too_long")]


def test_nothing_comes_after_the_end():
    parser = StreamParser()
    assert parser.feed(STOP + DONE)[-1] == Done()
    assert parser.feed(chunk(content="A")) == []
    assert parser.finish() == []
