"""What answers and broken connections mean."""

import pytest

from weighbridge.running.endpoints.faults import answered, seconds_to_wait


@pytest.mark.parametrize(
    ("told", "seconds"),
    [(None, None), ("30", 30), ("1.2", 2), ("0", 1), ("", None), ("soon", None), ("-5", None), ("1" * 20, None),
     ("Wed, 21 Oct 2015 07:28:00 GMT", None)],
)  # fmt: skip
def test_how_long_to_wait(told, seconds):
    assert seconds_to_wait(told) == seconds


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (200, None),
        (400, None),
        (404, None),
        (422, None),
        (302, "endpoint.redirect"),
        (401, "endpoint.key"),
        (402, "endpoint.credit"),
        (403, "endpoint.denied"),
        (407, "endpoint.proxy"),
        (429, "endpoint.limit"),
        (500, "endpoint.server"),
        (529, "endpoint.server"),
    ],
)
def test_what_an_answer_means(status, code):
    cause = answered(status, "words", {}, "Groq", "https://x")
    assert (cause and cause.code) == code


def test_a_limit_says_for_how_long():
    cause = answered(429, "slow \x1b[31m down", {"retry-after": "7"}, "Groq", "https://x")
    assert (cause.code, cause.values["seconds"], cause.values["status"]) == ("endpoint.wait", 7, 429)
    assert "\x1b" not in cause.values["message"]
