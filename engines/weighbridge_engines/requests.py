"""The body of a chat request made into a `Request` for a session: checked, defaults of the load filled in. Pure.

What an engine cannot do is refused, never left out in silence: an answer that does not keep to a schema looks like one
that does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from weighbridge_engines.api import Capability, Request, RequestRefused
from weighbridge_engines.sampling import NUMBERS

ROLES = ("system", "user", "assistant", "tool", "function")
MOST_LOGPROBS = 20
MOST_STOPS, MOST_STOP = 64, 1000
MOST_BIAS = 100.0
_NUMBERS = {control.name: control for control in NUMBERS}
_TEXTS = ("text", "input_text", "output_text")


def request_of(body: Mapping[str, Any], able: Collection[Capability], usual: Mapping[str, Any]) -> Request:
    """`body` as a request to an engine that is `able` to do so much; `usual` is the load's own `sampling`.

    Raises RequestRefused, which names the field.
    """
    told = {**usual, **{name: value for name, value in body.items() if value is not None}}
    _refuse_the_rest(told, able)
    schema, grammar = _schema(told), told.get("grammar") or None
    if schema is not None and Capability.JSON_SCHEMA not in able:
        raise RequestRefused("this engine cannot keep an answer to a JSON schema", "response_format")
    if grammar is not None and (Capability.GRAMMAR not in able or not isinstance(grammar, str) or schema is not None):
        raise RequestRefused("a grammar is a text, beside no schema, for an engine that knows grammars", "grammar")
    return Request(
        messages=messages_of(body.get("messages")),
        max_tokens=_most_tokens(told),
        stop=_stops(told.get("stop")),
        sampling={name: _number(name, told[name]) for name in _NUMBERS if name in told},
        logit_bias=_biases(told.get("logit_bias")),
        ignore_eos=_flag(told, "ignore_eos"),
        schema=schema,
        grammar=grammar,
        logprobs=_logprobs(told, able),
        template_values=_object(told, "chat_template_kwargs"),
        cache_prompt=_flag(told, "cache_prompt", usual=True),
    )


def messages_of(value: object) -> list[dict[str, Any]]:
    """Messages with known roles and texts as contents. "developer" is the newer name of "system"."""
    if not isinstance(value, list) or not all(isinstance(message, dict) for message in value):
        raise RequestRefused("messages is not a list of objects", "messages")
    if not value:
        raise RequestRefused("messages is empty", "messages")
    return [_message(message, f"messages[{place}]") for place, message in enumerate(value)]


def _message(message: Mapping[str, Any], field: str) -> dict[str, Any]:
    role = "system" if message.get("role") == "developer" else message.get("role")
    if role not in ROLES:
        raise RequestRefused(f"{str(role)[:60]!r} is no role; known are {', '.join(ROLES)}", f"{field}.role")
    return {**message, "role": role, "content": _content(message.get("content"), f"{field}.content")}


def _content(content: object, field: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise RequestRefused("a content is a text or a list of parts", field)
    return "".join(_part(part, field) for part in content)


def _part(part: object, field: str) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("type") not in _TEXTS or not isinstance(part.get("text"), str):
        raise RequestRefused("this engine reads parts of text alone", field)
    return str(part["text"])


def _refuse_the_rest(told: Mapping[str, Any], able: Collection[Capability]) -> None:
    if told.get("tools") and told.get("tool_choice") != "none" and Capability.TOOLS not in able:
        raise RequestRefused("this engine reads no calls of tools out of an answer", "tools")
    if told.get("n", 1) != 1:
        raise RequestRefused("one answer to a request, no more", "n")


def _schema(told: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """By OpenAI's `response_format`, or llama.cpp's `json_schema`."""
    form = _object(told, "response_format")
    kind = form.get("type", "text")
    if kind not in ("text", "json_object", "json_schema"):
        raise RequestRefused(f"{str(kind)[:60]!r} is no form of an answer", "response_format.type")
    if kind == "text":
        return _object(told, "json_schema") if "json_schema" in told else None
    if kind == "json_object":
        return _object(form, "schema") or {"type": "object"}
    return _object(_object(form, "json_schema"), "schema")


def _object(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = told.get(name) or {}
    if not isinstance(value, dict):
        raise RequestRefused(f"{name} is not an object", name)
    return value


def _most_tokens(told: Mapping[str, Any]) -> int | None:
    """The smallest of the limits by their several names; -1 is none."""
    limits = [_limit(name, told[name]) for name in ("max_tokens", "max_completion_tokens") if name in told]
    return min((limit for limit in limits if limit > 0), default=None)


def _limit(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value == 0 or value < -1:
        raise RequestRefused(f"{name} is a whole number from 1 up, or -1", name)
    return value


def _stops(value: object) -> Sequence[str]:
    stops = (value,) if isinstance(value, str) else value or ()
    if not isinstance(stops, list | tuple) or len(stops) > MOST_STOPS:
        raise RequestRefused(f"stop is a text or a list of {MOST_STOPS} at most", "stop")
    if not all(isinstance(stop, str) and len(stop) <= MOST_STOP for stop in stops):
        raise RequestRefused(f"a stop text has {MOST_STOP} characters at most", "stop")
    return tuple(stop for stop in stops if stop)


def _number(name: str, value: object) -> float:
    control = _NUMBERS[name]
    if cause := control.fault(value):
        bounds = {name: cause.values.get(name, "") for name in ("low", "high")}
        raise RequestRefused(f"{name} is a number from {bounds['low']} to {bounds['high']}", name)
    assert isinstance(value, int | float)
    return value


def _biases(value: object) -> Mapping[int, float]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RequestRefused("logit_bias is an object", "logit_bias")
    return dict(_bias(token, bias) for token, bias in value.items())


def _bias(token: str, bias: object) -> tuple[int, float]:
    if not token.isdecimal() or isinstance(bias, bool) or not isinstance(bias, int | float) or abs(bias) > MOST_BIAS:
        raise RequestRefused(f"logit_bias gives tokens numbers from {-MOST_BIAS:g} to {MOST_BIAS:g}", "logit_bias")
    return int(token), float(bias)


def _flag(told: Mapping[str, Any], name: str, *, usual: bool = False) -> bool:
    value = told.get(name, usual)
    if not isinstance(value, bool):
        raise RequestRefused(f"{name} is true or false", name)
    return value


def _logprobs(told: Mapping[str, Any], able: Collection[Capability]) -> int | None:
    if not _flag(told, "logprobs"):
        return None
    if Capability.LOGPROBS not in able:
        raise RequestRefused("this engine tells no probabilities", "logprobs")
    most = told.get("top_logprobs", 0)
    if isinstance(most, bool) or not isinstance(most, int) or not 0 <= most <= MOST_LOGPROBS:
        raise RequestRefused(f"top_logprobs is a whole number from 0 to {MOST_LOGPROBS}", "top_logprobs")
    return most
