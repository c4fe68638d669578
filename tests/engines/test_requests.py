"""Chat requests: what becomes of them, and what is refused by the name of its field."""

import pytest

from weighbridge_engines.api import UNCACHED, Capability, RequestRefused
from weighbridge_engines.requests import request_of

ALL = frozenset(Capability)
SAID = [{"role": "user", "content": "hi"}]


def asked(able=ALL, usual=None, **fields):
    return request_of({"messages": SAID, **fields}, able, usual or {})


def test_names_of_openai_and_llama_cpp_are_understood():
    request = asked(
        max_tokens=9,
        max_completion_tokens=5,
        stop="x",
        temperature=0,
        top_k=3,
        seed=-1,
        repeat_penalty=1.5,
        logit_bias={"5": -100},
        logprobs=True,
        top_logprobs=2,
        chat_template_kwargs={"enable_thinking": False},
        ignore_eos=True,
        model="any",
    )
    assert (request.max_tokens, request.stop, request.logprobs, request.ignore_eos) == (5, ("x",), 2, True)
    assert request.sampling == {"temperature": 0, "top_k": 3, "seed": -1, "repeat_penalty": 1.5}
    assert (request.logit_bias, request.template_values) == ({5: -100.0}, {"enable_thinking": False})


def test_what_is_not_said_is_as_the_load_has_it():
    request = asked(usual={"temperature": 0.5, "top_k": 7, "max_tokens": 4}, temperature=1.0, top_k=None)
    assert (request.sampling, request.max_tokens) == ({"temperature": 1.0, "top_k": 7}, 4)


def test_a_prompt_is_read_anew_only_where_that_is_said():
    assert asked().cache_prompt and asked(cache_prompt=True).cache_prompt and asked(cache_prompt=None).cache_prompt
    assert not asked(**UNCACHED).cache_prompt


def test_no_limit_is_none():
    assert asked(max_tokens=-1).max_tokens is None
    assert asked().max_tokens is None
    assert asked(max_tokens=-1, max_completion_tokens=3).max_tokens == 3


def test_contents_are_texts():
    parts = [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}, "C"]
    told = [{"role": "developer", "content": parts}, {"role": "assistant", "content": None, "name": "n"}]
    assert request_of({"messages": told}, ALL, {}).messages == [
        {"role": "system", "content": "ABC"},
        {"role": "assistant", "content": "", "name": "n"},
    ]


@pytest.mark.parametrize(
    ("form", "schema"),
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, {"type": "object"}),
        ({"type": "json_object", "schema": {"type": "array"}}, {"type": "array"}),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "string"}}}, {"type": "string"}),
    ],
)
def test_forms_of_an_answer(form, schema):
    assert asked(response_format=form).schema == schema


def test_a_schema_by_llama_cpps_name():
    assert asked(json_schema={"type": "null"}).schema == {"type": "null"}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"messages": "hi"}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "banana", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_completion_tokens": True}, "max_completion_tokens"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": -1}, "temperature"),
        ({"top_p": 2}, "top_p"),
        ({"top_k": 1.5}, "top_k"),
        ({"stop": 5}, "stop"),
        ({"stop": ["a"] * 65}, "stop"),
        ({"stop": ["a" * 1001]}, "stop"),
        ({"n": 2}, "n"),
        ({"logit_bias": {"abc": 1}}, "logit_bias"),
        ({"logit_bias": {"5": 500}}, "logit_bias"),
        ({"logit_bias": []}, "logit_bias"),
        ({"logprobs": 1}, "logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"response_format": {"type": "xml"}}, "response_format.type"),
        ({"response_format": "json"}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": 5}}}, "schema"),
        ({"grammar": "root ::= x", "json_schema": {"type": "null"}}, "grammar"),
        ({"grammar": 5}, "grammar"),
        ({"chat_template_kwargs": "x"}, "chat_template_kwargs"),
        ({"ignore_eos": "yes"}, "ignore_eos"),
        ({"cache_prompt": 0}, "cache_prompt"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_name(fields, named):
    with pytest.raises(RequestRefused) as refused:
        asked(**fields)
    assert refused.value.field == named


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"json_schema": {"type": "null"}}, "response_format"),
        ({"grammar": "root ::= x"}, "grammar"),
        ({"logprobs": True}, "logprobs"),
        ({"tools": [{"type": "function"}]}, "tools"),
    ],
)
def test_what_the_engine_cannot_do_is_refused(fields, named):
    with pytest.raises(RequestRefused) as refused:
        asked(able={Capability.CHAT}, **fields)
    assert refused.value.field == named


def test_tools_that_are_not_to_be_called_are_no_reason_to_refuse():
    assert asked(able={Capability.CHAT}, tools=[{"type": "function"}], tool_choice="none").messages == SAID
