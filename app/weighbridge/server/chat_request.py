"""What a chat request asks for, checked and put into the form that every engine understands. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weighbridge.base.errors import Refused, WeighbridgeError
from weighbridge.base.pictures import MOST_MEGAPIXELS, Picture, picture_in
from weighbridge.running.lease import Lease
from weighbridge.running.sight import Blind, blindness
from weighbridge.server.answer_fields import AnswerFields, answer_fields
from weighbridge.server.relay import Asked
from weighbridge_engines.api import Engine, Load, RequestRefused

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_MOST_TOKENS = 2**31 - 1
MOST_LOGPROBS = 20
"""As OpenAI's own limit; an engine sorts its whole vocabulary for each token, whatever is asked for."""

_PICTURE = re.compile(r"data:image/[a-z.+-]{2,20};base64,(?=[A-Za-z0-9+/])")
_LIMITS = ("max_tokens", "max_completion_tokens", "n_predict")
_OPTIONS = ("stream", "timings_per_token", "return_progress")


@dataclass(frozen=True)
class Shown:
    """A picture of a request: the `field` in which it stands, and what it is, None where that is not known here."""

    field: str
    picture: Picture | None


@dataclass(frozen=True)
class ChatRequest:
    """A checked request; `fields` is what of the body goes on to the engine, `answer` what it says of the answer,
    `pictures` what is shown in it.
    """

    streamed: bool
    asked: Asked
    fields: Mapping[str, Any]
    answer: AnswerFields
    pictures: Sequence[Shown] = ()

    def body_for(self, alias: str, context: int | None) -> dict[str, Any]:
        """The body for an engine that knows its model as `alias`, asking for no more tokens than its context holds."""
        body = {**self.fields, "model": alias}
        if body.get("max_tokens", -1) > 0:
            body["max_tokens"] = min(body["max_tokens"], context or _MOST_TOKENS)
        return body

    def placed(self, error: WeighbridgeError) -> WeighbridgeError:
        """The engine's `error`, with the fields it may be about where it is about a picture."""
        if error.code != "message.image_unread":
            return error
        return Refused(error.code, field=", ".join(shown.field for shown in self.pictures))


def check_lease(request: ChatRequest, lease: Lease) -> None:
    """Raise Refused where what runs the model could not do what `request` asks for, or would pass over it."""
    if lease.engine is None or lease.load is None:
        return
    for capability, field in request.answer.needs.items():
        if capability not in lease.engine.capabilities:
            raise Refused("request.capability", field=field, engine=lease.engine.title)
    if passed_over := _passed_over(request.fields, lease.engine):
        raise Refused("request.capability", field=passed_over, engine=lease.engine.title)
    if request.pictures and lease.way is None:
        _check_sight(request.pictures, lease.engine, lease.load, lease.model_id)
    for place in request.answer.adapters:
        if place >= len(lease.load.adapters):
            raise Refused("request.no_adapter", field="lora", place=place, count=len(lease.load.adapters))
    try:
        if request.answer.form.schema is not None:
            lease.engine.check_schema(request.answer.form.schema)
    except RequestRefused as refusal:
        field = request.answer.form.field
        raise Refused("request.schema", field=field, reason=refusal.reason) from refusal


def _check_sight(pictures: Sequence[Shown], engine: Engine, load: Load, model_id: str) -> None:
    """An engine of ours is handed only pictures whose size is known."""
    blind = blindness(engine, load)
    if blind is Blind.ENGINE:
        raise Refused("request.capability", field=pictures[0].field, engine=engine.title)
    if blind is Blind.PROJECTOR:
        raise Refused("message.no_projector", field=pictures[0].field, model=model_id)
    unknown = next((shown.field for shown in pictures if shown.picture is None), None)
    if unknown is not None:
        raise Refused("message.image", field=unknown)


def _passed_over(fields: Mapping[str, Any], engine: Engine) -> str | None:
    """The field that asks for another answer than would come, because it is left out on the way to `engine`."""
    known = engine.dialect.fields
    asked = {"logit_bias": bool(fields.get("logit_bias")), "n": fields.get("n") not in (None, 1)}
    return next(
        (name for name, is_asked in asked.items() if is_asked and known is not None and name not in known), None
    )


def model_name(body: Mapping[str, Any]) -> str | None:
    """The model that `body` names, if any; an empty name is none."""
    name = body.get("model")
    if name is not None and not isinstance(name, str):
        raise Refused("request.not_text", field="model")
    return name or None


def chat_request(body: Mapping[str, Any], model_id: str) -> ChatRequest:
    """`body`, checked, for a model that reads text. Raises Refused with a "request." or "message." code and `field`."""
    streamed, timings, progress = (_flag(body, name) for name in _OPTIONS)
    for name in ("top_logprobs", "n_probs"):
        _few(body, name)
    answer = answer_fields(body)
    fields = {name: value for name, value in answer.fields.items() if name not in _LIMITS}
    limit = max_tokens(body)
    if limit is not None:
        fields["max_tokens"] = limit
    fields["messages"] = messages(body.get("messages"), model_id)
    return ChatRequest(
        streamed=streamed,
        asked=Asked(usage=_include_usage(body.get("stream_options")), timings=timings, progress=progress),
        fields=fields,
        answer=answer,
        pictures=_pictures(fields["messages"]),
    )


def max_tokens(body: Mapping[str, Any]) -> int | None:
    """The smallest of the limits that are given, by OpenAI's names and llama.cpp's; -1 is none. None without any."""
    given = [_limit(body, name) for name in _LIMITS if body.get(name) is not None]
    bounds = [limit for limit in given if limit > 0]
    return min(bounds) if bounds else (given[0] if given else None)


def messages(value: object, model_id: str) -> list[dict[str, Any]]:
    """The messages with known roles and text contents, in order."""
    if not isinstance(value, list) or not value:
        raise Refused("request.no_messages", field="messages")
    return [_message(message, f"messages[{number}]", model_id) for number, message in enumerate(value)]


def _message(value: object, field: str, model_id: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Refused("request.not_object", field=field)
    role = value.get("role")
    if role not in ROLES:
        raise Refused("message.role", field=f"{field}.role", role=_shown(role), known=", ".join(ROLES))
    made = {**value, "content": _content(value.get("content"), f"{field}.content", model_id)}
    # Templates know "system"; "developer" is its newer name.
    return {**made, "role": "system"} if role == "developer" else made


def _content(value: object, field: str, model_id: str) -> str | list[dict[str, Any]]:
    """The text of a content: parts joined in order, for not every template knows parts. None is empty.

    With a picture among them, parts stay parts.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise Refused("message.content", field=field)
    parts = [_part(part, f"{field}[{number}]", model_id) for number, part in enumerate(value)]
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts):
        return "".join(texts)
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]


def _picture(value: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Only what is in the request itself: an engine would fetch what an address says."""
    told = value.get("image_url")
    url = told.get("url") if isinstance(told, dict) else None
    if not isinstance(url, str) or not _PICTURE.match(url):
        raise Refused("message.image", field=f"{field}.image_url")
    return {"type": "image_url", "image_url": {"url": url}}


def _pictures(told: Sequence[Mapping[str, Any]]) -> tuple[Shown, ...]:
    """The pictures in checked messages, in order, none of them with too many pixels."""
    return tuple(
        _shown_in(part["image_url"]["url"], f"messages[{number}].content[{place}].image_url")
        for number, message in enumerate(told)
        if isinstance(message["content"], list)
        for place, part in enumerate(message["content"])
        if part["type"] == "image_url"
    )


def _shown_in(url: str, field: str) -> Shown:
    try:
        picture = picture_in(base64.b64decode(url.partition(",")[2], validate=True))
    except binascii.Error:
        raise Refused("message.image", field=field) from None
    if picture is not None and picture.megapixels > MOST_MEGAPIXELS:
        raise Refused("message.image_pixels", field=field, megapixels=picture.megapixels, limit=MOST_MEGAPIXELS)
    return Shown(field, picture)


def _part(value: object, field: str, model_id: str) -> str | dict[str, Any]:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.get("type") == "image_url":
        return _picture(value, field)
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise Refused("message.content", field=field)
    if value["type"] not in ("text", "input_text", "output_text"):
        raise Refused("message.part", field=field, part=_shown(value["type"]), model=model_id)
    if not isinstance(value.get("text"), str):
        raise Refused("message.content", field=field)
    return str(value["text"])


def _limit(body: Mapping[str, Any], name: str) -> int:
    value = body[name]
    if isinstance(value, bool) or not isinstance(value, int) or value == 0 or value < -1:
        raise Refused("request.token_limit", field=name, value=_shown(value))
    return value


def _few(body: Mapping[str, Any], name: str) -> None:
    value = body.get(name)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_LOGPROBS:
        raise Refused("request.logprobs", field=name, value=_shown(value), limit=MOST_LOGPROBS)


def _flag(body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise Refused("request.not_flag", field=name)
    return bool(value)


def _include_usage(options: object) -> bool:
    if options is None:
        return False
    if not isinstance(options, dict):
        raise Refused("request.not_object", field="stream_options")
    return _flag(options, "include_usage")


def _shown(value: object) -> str:
    """A value of the request in few words, for a message."""
    return str(value)[:60]
