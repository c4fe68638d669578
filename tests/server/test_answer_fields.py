"""What a request says of its answer: what goes on to the engine, and what is refused."""

import pytest
from tests.engines.made_vision import image_part, png
from tests.server.fakes import chat

from weighbridge.base.errors import Refused
from weighbridge.base.explain import WHAT_AND_NEXT
from weighbridge.server.answer_fields import answer_fields
from weighbridge_engines.api import Capability, Load
from weighbridge_engines.echo import ENGINE as ECHO
from weighbridge_engines.llama_server import ENGINE
from weighbridge_engines.sampling import NUMBERS

HI = [{"role": "user", "content": "hi"}]
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {}}}


def form(schema):
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}


@pytest.mark.parametrize("control", NUMBERS, ids=lambda each: each.name)
def test_a_number_goes_on_and_one_out_of_its_range_is_refused(control):
    assert answer_fields({control.name: control.high}).fields[control.name] == control.high
    assert control.name not in answer_fields({}).fields
    answer_fields({control.name: None})
    for value in (control.low - 1, control.high + 1, "1", True, [1]):
        with pytest.raises(Refused) as refusal:
            answer_fields({control.name: value})
        assert refusal.value.code == "request.number"
        assert refusal.value.values["field"] == control.name


def test_a_whole_number_may_have_a_point():
    assert answer_fields({"top_k": 40.0}).fields == {"top_k": 40}
    with pytest.raises(Refused):
        answer_fields({"top_k": 40.5})


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"logprobs": 3}, "request.not_flag", "logprobs"),
        ({"ignore_eos": "yes"}, "request.not_flag", "ignore_eos"),
        ({"top_logprobs": 2}, "request.together", "top_logprobs"),
        ({"stop": 5}, "request.stop", "stop"),
        ({"stop": ["a", 5]}, "request.stop", "stop"),
        ({"stop": ["a"] * 65}, "request.stop", "stop"),
        ({"stop": "a" * 1001}, "request.stop", "stop"),
        ({"logit_bias": {"abc": 1}}, "request.bias", "logit_bias"),
        ({"logit_bias": {"5": 500}}, "request.bias", "logit_bias"),
        ({"logit_bias": {"5": True}}, "request.bias", "logit_bias"),
        ({"logit_bias": "a"}, "request.bias", "logit_bias"),
        ({"logit_bias": [[1]]}, "request.bias", "logit_bias"),
        ({"samplers": 5}, "request.not_texts", "samplers"),
        ({"samplers": ["nothing"]}, "request.choice", "samplers"),
        ({"dry_sequence_breakers": []}, "request.not_texts", "dry_sequence_breakers"),
        ({"response_format": "json"}, "request.not_object", "response_format"),
        ({"response_format": {"type": "yaml"}}, "request.choice", "response_format.type"),
        ({"response_format": {"type": ["text"]}}, "request.choice", "response_format.type"),
        ({"response_format": {"type": "json_schema"}}, "request.missing", "response_format.json_schema.schema"),
        ({"response_format": form([1])}, "request.not_object", "schema"),
        ({"json_schema": {"type": "null"}, "grammar": "root ::= []"}, "request.together", "json_schema"),
        ({"response_format": form({}), "grammar": "root ::= []"}, "request.together", "grammar"),
        ({"grammar": 5}, "request.not_text", "grammar"),
        ({"lora": "x"}, "request.adapters", "lora"),
        ({"lora": [{"id": -1, "scale": 1}]}, "request.adapters", "lora"),
        ({"lora": [{"id": 0}]}, "request.adapters", "lora"),
        ({"lora": [{"id": True, "scale": 1}]}, "request.adapters", "lora"),
    ],
)
def test_what_makes_no_sense_is_refused(body, code, field):
    with pytest.raises(Refused) as refusal:
        answer_fields(body)
    assert (refusal.value.code, refusal.value.values["field"]) == (code, field)
    assert code in WHAT_AND_NEXT


def test_biases_in_both_shapes():
    for biases in ({"5": -100, "7": False}, [[5, 1.5], ["7", False]], {}, None):
        assert answer_fields({"logit_bias": biases}).fields["logit_bias"] == biases


def test_what_the_engine_says_to_itself_is_dropped():
    told = answer_fields({"chat_parser": "x", "prompt": "x", "id_slot": 3, "cache_prompt": True, "other": 1})
    assert told.fields == {"cache_prompt": True, "other": 1}


def test_what_an_answer_needs_of_its_engine():
    needs = answer_fields({"tools": [FUNCTION], "response_format": form({}), "logprobs": True}).needs
    assert set(needs) == {Capability.TOOLS, Capability.JSON_SCHEMA, Capability.LOGPROBS}
    assert not answer_fields({"tools": [FUNCTION], "tool_choice": "none", "logprobs": False}).needs
    assert set(answer_fields({"grammar": "root ::= []"}).needs) == {Capability.GRAMMAR}
    assert answer_fields({"lora": [{"id": 1, "scale": 0.5}]}).adapters == (1,)


@pytest.mark.parametrize(
    ("more", "code", "param"),
    [
        ({"response_format": form({"type": "string", "pattern": r"^hi\!$"})}, "request.schema", "response_format"),
        ({"response_format": form({"type": "integer", "multipleOf": 5})}, "request.schema", "response_format"),
        ({"json_schema": {"not": {}}}, "request.schema", "json_schema"),
        ({"lora": [{"id": 2, "scale": 1}]}, "request.no_adapter", "lora"),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaa"}}],
                    }
                ]
            },
            "message.no_projector",
            "messages[0].content[0].image_url",
        ),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://127.0.0.1/a.png"}}]}
                ]
            },
            "message.image",
            "messages[0].content[0].image_url",
        ),
    ],
)
def test_what_the_engine_would_pass_over_is_refused_by_name(house, more, code, param):
    house.engines.engine, house.engines.load = ENGINE, Load("tiny", adapters=("/a", "/b"))
    reply = house.send(chat({"model": "tiny", "messages": HI, **more}))
    assert (reply.status, reply.error["code"], reply.error["param"]) == (400, code, param)
    assert not house.engine.lines


def test_a_keyword_that_is_not_kept_to_is_named(house):
    house.engines.engine, house.engines.load = ENGINE, Load("tiny")
    schema = {"type": "object", "properties": {"a": {"type": "integer", "multipleOf": 5}}}
    reply = house.send(chat({"model": "tiny", "messages": HI, "response_format": form(schema)}))
    assert "properties.a.multipleOf" in reply.error["message"]


@pytest.mark.parametrize("more", [{"response_format": {"type": "json_object"}}, {"grammar": "root ::= []"},
                                  {"tools": [FUNCTION]}, {"logprobs": True}])  # fmt: skip
def test_an_engine_without_the_capability_says_so(house, more):
    house.engines.engine, house.engines.load = ECHO, Load("tiny")
    reply = house.send(chat({"model": "tiny", "messages": HI, **more}))
    assert (reply.status, reply.error["code"], reply.error["param"]) == (400, "request.capability", next(iter(more)))


def test_a_picture_goes_on_where_there_is_a_projector(house):
    house.engines.engine, house.engines.load = ENGINE, Load("tiny", projector="/p.gguf")
    house.engine.use(lambda line: line.whole({"choices": []}))
    picture = image_part(png())
    content = ["What is this?", {**picture, "image_url": {**picture["image_url"], "detail": "low"}}]
    house.send(chat({"model": "tiny", "messages": [{"role": "user", "content": content}]}))
    sent = house.engine.body["messages"][0]["content"]
    assert sent == [{"type": "text", "text": "What is this?"}, picture]


def test_every_request_says_which_adapters_act(house):
    house.engines.engine, house.engines.load = ENGINE, Load("tiny", adapters=("/a",), adapter_scales=(0.5,))
    house.engine.use(lambda line: line.whole({"choices": []}))
    house.send(chat({"model": "tiny", "messages": HI}))
    assert house.engine.body["lora"] == [{"id": 0, "scale": 0.5}]


@pytest.mark.parametrize(("stop", "told"), [("", []), ("a", ["a"]), (["", "a", ""], ["a"]), (None, []), ([], [])])
def test_an_empty_stop_text_stops_nothing(stop, told):
    assert answer_fields({"stop": stop}).fields["stop"] == told


def test_biases_go_on_as_numbers_with_a_point_which_some_servers_insist_on():
    told = answer_fields({"logit_bias": {"5": 2, "6": False, "7": -0.5}}).fields["logit_bias"]
    assert [(token, type(bias), bias) for token, bias in told.items()] == [
        ("5", float, 2.0), ("6", bool, False), ("7", float, -0.5),
    ]  # fmt: skip
