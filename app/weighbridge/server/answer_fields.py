"""What a chat request says of its answer (sampling, form, adapters), checked before an engine sees it. Pure.

Engines pass over what they do not understand, or bend it into their range; whoever asked is told instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbridge.base.errors import Refused
from weighbridge_engines.api import Capability
from weighbridge_engines.sampling import NUMBERS, SAMPLERS

MOST_BIAS = 100.0
MOST_STOPS, MOST_STOP = 64, 1000
MOST_GRAMMAR = 1 << 18
_FORMS = ("text", "json_object", "json_schema")
_FLAGS = ("ignore_eos", "cache_prompt", "post_sampling_probs", "logprobs", "parallel_tool_calls")
_ENGINES_OWN = frozenset(
    {
        "chat_format", "chat_parser", "parse_tool_calls", "generation_prompt", "grammar_lazy", "grammar_triggers",
        "grammar_type", "preserved_tokens", "message_delimiters", "prompt", "id_slot", "backend_sampling",
        "response_fields", "reasoning_budget_start_tag", "reasoning_budget_end_tag", "reasoning_budget_end_tags",
        "verbose", "return_tokens",
    }
)  # fmt: skip
"""By these llama.cpp's server talks to itself: from outside they could bring it out of step. They are dropped."""


@dataclass(frozen=True)
class Form:
    """What the answer must be like: the `schema` it keeps to, and the `field` of the request that says so."""

    schema: Mapping[str, Any] | None = None
    field: str = ""


@dataclass(frozen=True)
class AnswerFields:
    """`fields` go on to the engine; it must have the `needs`, each of which a field of the request asks for.

    `adapters` are the places of those that the request names, among those that are loaded.
    """

    fields: Mapping[str, Any]
    needs: Mapping[Capability, str]
    form: Form
    adapters: tuple[int, ...]


def answer_fields(body: Mapping[str, Any]) -> AnswerFields:
    """The fields of `body`, checked. Raises Refused with a "request." code and `field`."""
    fields = {name: value for name, value in body.items() if name not in _ENGINES_OWN}
    for control in NUMBERS:
        if body.get(control.name) is not None:
            fields[control.name] = _number(body, control.name)
    for name in _FLAGS:
        if not isinstance(body.get(name), bool | None):
            raise Refused("request.not_flag", field=name)
    if body.get("top_logprobs") is not None and not body.get("logprobs"):
        raise Refused("request.together", field="top_logprobs", other="logprobs")
    _check_stop(body.get("stop"))
    if "stop" in fields:
        fields["stop"] = _stops(fields["stop"])
    if isinstance(biases := body.get("logit_bias"), dict):
        fields["logit_bias"] = {
            token: bias if isinstance(bias, bool) else float(bias) for token, bias in biases.items()
        }
    _check_biases(body.get("logit_bias"))
    _check_names(body, "samplers", SAMPLERS)
    _check_names(body, "dry_sequence_breakers", None)
    form = _form(body)
    adapters = _adapters(body.get("lora"))
    return AnswerFields(fields, _needs(body, form, adapters), form, adapters)


_CONTROLS = {control.name: control for control in NUMBERS}


def _number(body: Mapping[str, Any], name: str) -> Any:
    """A whole number may stand as one with a point, as some languages write all of theirs."""
    control, value = _CONTROLS[name], body[name]
    if isinstance(value, float) and value.is_integer() and control.kind == "whole":
        value = int(value)
    if cause := control.fault(value):
        range_ = {"low": cause.values.get("low", control.low), "high": cause.values.get("high", control.high)}
        raise Refused("request.number", field=name, value=cause.values["value"], **range_)
    return value


def _check_stop(stop: object) -> None:
    stops = [stop] if isinstance(stop, str) else [] if stop is None else stop
    texts = stops if isinstance(stops, list) and len(stops) <= MOST_STOPS else [None]
    if not all(isinstance(each, str) and len(each) <= MOST_STOP for each in texts):
        raise Refused("request.stop", field="stop", limit=MOST_STOPS, length=MOST_STOP)


def _stops(stop: Any) -> list[str]:
    """Without empty ones, at which some engines stop at once."""
    return [text for text in ([stop] if isinstance(stop, str) else stop or ()) if text]


def _check_biases(biases: object) -> None:
    """By token, as OpenAI has it, or in pairs, as llama.cpp has it; False bans a token."""
    pairs = list(biases.items()) if isinstance(biases, dict) else biases
    if pairs is not None and not (isinstance(pairs, list) and all(map(_is_bias, pairs))):
        raise Refused("request.bias", field="logit_bias", limit=int(MOST_BIAS))


def _is_bias(pair: object) -> bool:
    if not isinstance(pair, list | tuple) or len(pair) != 2 or isinstance(pair[0], bool):
        return False
    token, bias = pair
    is_number = isinstance(bias, int | float) and not isinstance(bias, bool)
    return str(token).isdecimal() and (bias is False or (is_number and abs(bias) <= MOST_BIAS))


def _check_names(body: Mapping[str, Any], name: str, known: tuple[str, ...] | None) -> None:
    told = body.get(name)
    if told is None:
        return
    if not isinstance(told, list) or not told or not all(isinstance(each, str) and each for each in told):
        raise Refused("request.not_texts", field=name)
    if known is not None and (unknown := [each for each in told if each not in known]):
        raise Refused("request.choice", field=name, value=unknown[0][:60], known=", ".join(known))


def _form(body: Mapping[str, Any]) -> Form:
    """By `response_format`, `json_schema` or `grammar`: one of them."""
    wanted = _object(body, "response_format")
    kind = wanted.get("type", "text")
    if kind not in _FORMS:
        raise Refused("request.choice", field="response_format.type", value=str(kind)[:60], known=", ".join(_FORMS))
    grammar = body.get("grammar")
    if grammar is not None and not (isinstance(grammar, str) and len(grammar) <= MOST_GRAMMAR):
        raise Refused("request.not_text", field="grammar")
    told = [name for name in ("json_schema", "grammar") if body.get(name)]
    told += ["response_format"] if kind != "text" else []
    if len(told) > 1:
        raise Refused("request.together", field=told[0], other=told[1])
    if told == ["grammar"]:
        return Form(None, "grammar")
    if told == ["json_schema"]:
        return Form(_object(body, "json_schema"), "json_schema")
    return _wanted_form(wanted, str(kind))


def _wanted_form(wanted: Mapping[str, Any], kind: str) -> Form:
    if kind == "json_object":
        return Form(_object(wanted, "schema"), "response_format")
    if kind == "json_schema":
        wrapper = _object(wanted, "json_schema")
        if "schema" not in wrapper:
            raise Refused("request.missing", field="response_format.json_schema.schema")
        return Form(_object(wrapper, "schema"), "response_format")
    return Form()


def _object(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = holder.get(name)
    if value is not None and not isinstance(value, dict):
        raise Refused("request.not_object", field=name)
    return value or {}


def _adapters(told: object) -> tuple[int, ...]:
    """Each by its place, with its strength."""
    if told is None:
        return ()
    if not isinstance(told, list):
        raise Refused("request.adapters", field="lora")
    return tuple(_adapter(each) for each in told)


def _adapter(told: object) -> int:
    if not isinstance(told, dict):
        raise Refused("request.adapters", field="lora")
    place, scale = told.get("id"), told.get("scale")
    is_place = isinstance(place, int) and not isinstance(place, bool) and place >= 0
    is_scale = isinstance(scale, int | float) and not isinstance(scale, bool) and abs(scale) <= MOST_BIAS
    if not is_place or not is_scale:
        raise Refused("request.adapters", field="lora")
    return int(str(place))


def _needs(body: Mapping[str, Any], form: Form, adapters: tuple[int, ...]) -> Mapping[Capability, str]:
    asked = {
        Capability.TOOLS: "tools" if body.get("tools") and body.get("tool_choice") != "none" else "",
        Capability.JSON_SCHEMA: form.field if form.schema is not None else "",
        Capability.GRAMMAR: "grammar" if form.field == "grammar" else "",
        Capability.LOGPROBS: "logprobs" if body.get("logprobs") else "",
        Capability.LORA: "lora" if adapters else "",
    }
    return {capability: field for capability, field in asked.items() if field}
