"""What an answer means, by its status, its headers, and whether a token was sent."""

import ssl

import httpcore2
import httpx2
import pytest

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.base.explain import explain
from weighbridge.hub.errors import About, Answer, broken, fault, seconds_to_wait

ABOUT = About("owner/name", "main", "m.gguf")


def answer(status, code="", message="", *, token=False, at_hub=True, **headers):
    told = {"x-error-code": code, "x-error-message": message, **{k.replace("_", "-"): v for k, v in headers.items()}}
    return Answer(status, httpx2.Headers({k: v for k, v in told.items() if v}), "h.example", at_hub, token)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (answer(401, "GatedRepo", "restricted"), "hub.gated_sign_in"),
        (answer(403, "GatedRepo", "not in the authorized list. Visit to ask for access.", token=True), "hub.gated"),
        (answer(403, "GatedRepo", "Your request is awaiting a review", token=True), "hub.gated_waiting"),
        (answer(403, "GatedRepo", "Your request has been rejected", token=True), "hub.gated_waiting"),
        (answer(401, "", "Invalid credentials in Authorization header", token=True), "hub.token"),
        (answer(401, "RepoNotFound", "Invalid credentials in Authorization header", token=True), "hub.token"),
        (answer(401, "", 'User Access Token "x" is expired', token=True), "hub.token"),
        (answer(401, "", "", token=True), "hub.token"),
        (answer(401, "RepoNotFound", "Invalid username or password."), "hub.private"),
        (answer(401, "", "Invalid username or password."), "hub.private"),
        (answer(404, "RepoNotFound", "Repository not found", token=True), "hub.private"),
        (answer(404, "RevisionNotFound"), "hub.no_revision"),
        (answer(404, "EntryNotFound"), "hub.no_file"),
        (answer(404), "hub.no_file"),
        (answer(403, "", "Access to this resource is disabled."), "hub.disabled"),
        (answer(403, "", "Forbidden", token=True), "hub.denied"),
        (answer(451), "hub.denied"),
        (answer(404, "EntryNotFound", at_hub=False), "hub.no_file"),
    ],
)
def test_what_stays_until_the_user_changes_something(given, code):
    error = fault(given, ABOUT)
    assert isinstance(error, Refused)
    assert error.code == code
    assert "{" not in str(explain(error))


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (answer(403, at_hub=False), "hub.expired"),
        (answer(404, at_hub=False), "hub.expired"),
        (answer(500), "hub.server"),
        (answer(503, at_hub=False), "hub.server"),
        (answer(408), "hub.server"),
        (answer(418), "hub.server"),
        (answer(407), "hub.proxy"),
        (answer(511), "hub.portal"),
        (answer(429), "hub.rate_limit"),
        (answer(429, at_hub=False), "hub.rate_limit"),
    ],
)
def test_what_can_be_tried_again(given, code):
    error = fault(given, ABOUT)
    assert isinstance(error, Unreachable)
    assert error.code == code
    assert "{" not in str(explain(error))


def test_a_gated_model_names_its_page():
    words = str(explain(fault(answer(403, "GatedRepo", token=True), ABOUT)))
    assert "https://huggingface.co/owner/name" in words


def test_a_repository_without_a_file_in_question():
    assert fault(answer(404), About("owner/name")).code == "hub.private"


@pytest.mark.parametrize("status", [401, 403, 404, 407, 451])
def test_where_no_repository_is_asked_for_none_is_named_and_the_status_is(status):
    error = fault(answer(status), About())
    assert isinstance(error, Unreachable)
    assert error.values["reason"] == f"HTTP {status}"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"ratelimit": '"api";r=0;t=55'}, 55),
        ({"ratelimit": '"resolvers"; r = 0; t = 7', "retry-after": "99"}, 7),
        ({"ratelimit": '"api";r=12;t=55'}, 60),
        ({"retry-after": "120"}, 120),
        ({"retry-after": "0"}, 1),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 1),
        ({"retry-after": "soon"}, 60),
        ({"retry-after": "99999999999999"}, 60),
        ({"retry-after": "86400"}, 3600),
        ({}, 60),
    ],
)
def test_how_long_to_wait(headers, seconds):
    assert seconds_to_wait(headers) == seconds


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (httpcore2.ReadTimeout("x"), "hub.stalled"),
        (httpcore2.ConnectTimeout("x"), "hub.unreachable"),
        (httpcore2.ConnectError("refused"), "hub.unreachable"),
        (httpcore2.RemoteProtocolError("x"), "hub.unreachable"),
        (httpcore2.ProxyError("407 Proxy Authentication Required"), "hub.proxy"),
        (httpcore2.ConnectError(ssl.SSLCertVerificationError("self-signed")), "hub.certificate"),
    ],
)
def test_a_connection_that_fails(error, code):
    told = broken(error, "h.example")
    assert isinstance(told, Unreachable)
    assert told.code == code
    assert "{" not in str(explain(told))
