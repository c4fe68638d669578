import json

import pytest

from weighbridge.base.errors import EngineFailed, Refused
from weighbridge.chat.failure import failure

TOO_LARGE = "input (601 tokens) is too large to process. increase the physical batch size (current batch size: 512)"


def body(**error):
    return json.dumps({"error": error}).encode()


@pytest.mark.parametrize(
    ("status", "told", "prompt_tokens", "context"),
    [
        (400, body(type="exceed_context_size_error", n_prompt_tokens=600, n_ctx=512), 600, 512),
        (500, body(message=TOO_LARGE, type="server_error"), 601, 512),
    ],
)
def test_what_is_too_long_is_told_with_both_numbers(status, told, prompt_tokens, context):
    error = failure(status, told)
    assert isinstance(error, Refused)
    assert (error.code, error.values) == ("context.exceeded", {"prompt_tokens": prompt_tokens, "context": context})


@pytest.mark.parametrize("told", [body(message="no"), b'{"message": "no"}', b"no", b'{"detail": "no"}'])
def test_other_refusals_are_told_in_the_engines_words(told):
    error = failure(500, told)
    assert isinstance(error, EngineFailed)
    assert (error.code, error.values["status"], error.values["message"]) == ("engine.answered", 500, "no")


def test_the_field_that_an_engine_names_is_told():
    named = body(message="one answer", param="n")
    assert failure(400, named).values == {"status": 400, "message": "one answer", "field": "n"}
    assert "field" not in failure(400, body(message="no", param=None)).values


def test_a_picture_that_cannot_be_decoded_is_no_fault_of_the_engine():
    error = failure(400, body(code=400, message="Failed to load image or audio file", type="invalid_request_error"))
    assert isinstance(error, Refused)
    assert (error.code, error.values) == ("message.image_unread", {"field": "messages"})
