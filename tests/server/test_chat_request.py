import pytest

from weighbridge.base.errors import Refused
from weighbridge.server.chat_request import ROLES, chat_request, max_tokens, messages, model_name

HI = [{"role": "user", "content": "hi"}]


def text(value):
    return {"type": "text", "text": value}


def refusal(body):
    with pytest.raises(Refused) as caught:
        chat_request(body, "tiny")
    return caught.value.code, caught.value.values["field"]


@pytest.mark.parametrize("role", [role for role in ROLES if role != "developer"])
def test_parts_are_joined_in_order_for_every_role(role):
    made = messages([{"role": role, "content": [text("A"), text("B"), "C"]}], "tiny")
    assert made == [{"role": role, "content": "ABC"}]


@pytest.mark.parametrize("content", [[], None, "", [text("")]])
def test_an_empty_content_is_empty_text(content):
    assert messages([{"role": "user", "content": content}], "tiny") == [{"role": "user", "content": ""}]


def test_a_missing_content_is_empty_text_and_other_fields_stay():
    calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    made = messages([{"role": "assistant", "tool_calls": calls}], "tiny")
    assert made == [{"role": "assistant", "content": "", "tool_calls": calls}]


def test_developer_acts_as_system():
    assert messages([{"role": "developer", "content": "BANANA"}], "tiny") == [{"role": "system", "content": "BANANA"}]


@pytest.mark.parametrize("kind", ["input_audio", "file", "refusal"])
def test_a_part_that_is_no_text_names_the_model(kind):
    with pytest.raises(Refused) as caught:
        messages([{"role": "user", "content": [text("A"), {"type": kind, kind: {}}]}], "tiny")
    assert caught.value.code == "message.part"
    assert caught.value.values == {"field": "messages[0].content[1]", "part": kind, "model": "tiny"}


@pytest.mark.parametrize(
    ("value", "code", "field"),
    [
        ("hi", "request.no_messages", "messages"),
        ([], "request.no_messages", "messages"),
        (None, "request.no_messages", "messages"),
        ({}, "request.no_messages", "messages"),
        ([5], "request.not_object", "messages[0]"),
        ([*HI, "x"], "request.not_object", "messages[1]"),
        ([{"content": "x"}], "message.role", "messages[0].role"),
        ([{"role": "banana", "content": "x"}], "message.role", "messages[0].role"),
        ([{"role": ["user"], "content": "x"}], "message.role", "messages[0].role"),
        ([{"role": {}, "content": "x"}], "message.role", "messages[0].role"),
        ([{"role": "user", "content": 7}], "message.content", "messages[0].content"),
        ([{"role": "user", "content": {"text": "x"}}], "message.content", "messages[0].content"),
        ([{"role": "user", "content": [7]}], "message.content", "messages[0].content[0]"),
        ([{"role": "user", "content": [{"text": "x"}]}], "message.content", "messages[0].content[0]"),
        ([{"role": "user", "content": [text(None)]}], "message.content", "messages[0].content[0]"),
        ([{"role": "user", "content": [{"type": []}]}], "message.content", "messages[0].content[0]"),
        ([5] * 10_000, "request.not_object", "messages[0]"),
    ],
)
def test_messages_that_are_none_are_refused(value, code, field):
    assert refusal({"messages": value}) == (code, field)


def test_the_message_of_a_refused_role_is_short():
    with pytest.raises(Refused) as caught:
        messages([{"role": "b" * 10_000, "content": "x"}], "tiny")
    assert caught.value.values["role"] == "b" * 60


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({}, None),
        ({"max_tokens": 5}, 5),
        ({"max_completion_tokens": 5}, 5),
        ({"max_tokens": 50, "max_completion_tokens": 5}, 5),
        ({"max_tokens": 5, "max_completion_tokens": 50}, 5),
        ({"max_tokens": -1, "max_completion_tokens": 5}, 5),
        ({"max_tokens": 7, "max_completion_tokens": -1}, 7),
        ({"max_tokens": -1}, -1),
        ({"max_tokens": None, "max_completion_tokens": 3}, 3),
        ({"max_tokens": None, "max_completion_tokens": None}, None),
        ({"max_completion_tokens": 10**12}, 10**12),
        ({"n_predict": 9, "max_tokens": 50}, 9),
    ],
)
def test_the_smaller_limit_counts(given, limit):
    assert max_tokens(given) == limit


@pytest.mark.parametrize("name", ["top_logprobs", "n_probs"])
@pytest.mark.parametrize("value", [21, 10**9, -1, 1.5, True, "5"])
def test_logprobs_beyond_the_limit(name, value):
    with pytest.raises(Refused) as refused:
        chat_request({"messages": HI, name: value}, "tiny")
    assert (refused.value.code, refused.value.values["field"]) == ("request.logprobs", name)


@pytest.mark.parametrize("value", [0, 20, None])
def test_logprobs_within_the_limit(value):
    assert (
        chat_request({"messages": HI, "logprobs": True, "top_logprobs": value}, "tiny").fields["top_logprobs"] == value
    )


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
@pytest.mark.parametrize("value", [0, -2, -(10**12), 5.0, "5", True, False, [], {}])
def test_a_limit_that_is_none_is_refused(name, value):
    assert refusal({"messages": HI, name: value}) == ("request.token_limit", name)


@pytest.mark.parametrize(
    ("context", "asked", "sent"), [(512, 10**12, 512), (512, 5, 5), (None, 10**12, 2**31 - 1), (512, -1, -1)]
)
def test_a_limit_is_capped_to_the_context(context, asked, sent):
    body = chat_request({"messages": HI, "max_completion_tokens": asked}, "tiny").body_for("tiny", context)
    assert body["max_tokens"] == sent
    assert "max_completion_tokens" not in body


def test_what_is_not_ours_passes_through():
    extra = {"temperature": 0.5, "top_k": 3, "grammar": "x", "tools": [], "n": 2, "seed": None, "stop": ["a"]}
    body = chat_request({"model": "whatever", "messages": HI, **extra}, "tiny").body_for("alias", 512)
    assert body == {"model": "alias", "messages": HI, **extra}


@pytest.mark.parametrize("name", ["stream", "timings_per_token", "return_progress"])
def test_flags_are_flags(name):
    assert refusal({"messages": HI, name: 1}) == ("request.not_flag", name)
    assert refusal({"messages": HI, name: "true"}) == ("request.not_flag", name)
    assert chat_request({"messages": HI, name: None}, "tiny").streamed is False


def test_usage_is_asked_for_in_the_options():
    assert chat_request({"messages": HI, "stream_options": {"include_usage": True}}, "tiny").asked.usage
    assert not chat_request({"messages": HI, "stream_options": None}, "tiny").asked.usage
    assert not chat_request({"messages": HI, "stream_options": {}}, "tiny").asked.usage
    assert refusal({"messages": HI, "stream_options": True}) == ("request.not_object", "stream_options")
    assert refusal({"messages": HI, "stream_options": {"include_usage": 1}}) == ("request.not_flag", "include_usage")


@pytest.mark.parametrize("name", [5, [], {}, True])
def test_a_models_name_is_text(name):
    with pytest.raises(Refused):
        model_name({"model": name})


def test_a_model_may_be_left_out():
    assert model_name({}) is None
    assert model_name({"model": None}) is None
    assert model_name({"model": ""}) is None
