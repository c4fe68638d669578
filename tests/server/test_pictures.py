"""Pictures in chat requests: which go on, and what is said of those that do not."""

import struct

import pytest
from tests.engines.made_vision import data_url, image_part, png
from tests.server.fakes import chat

from weighbridge_engines.api import Load
from weighbridge_engines.echo import ENGINE as ECHO
from weighbridge_engines.llama_server import ENGINE

SEEING = Load("tiny", projector="/p.gguf")
HUGE = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", 60000, 60000)
PLACE = "messages[0].content[1].image_url"


def asked(*parts):
    return chat({"model": "tiny", "messages": [{"role": "user", "content": ["What is this?", *parts]}]})


def at(url):
    return {"type": "image_url", "image_url": {"url": url}}


def test_two_go_on_as_they_are(house):
    house.engines.engine, house.engines.load = ENGINE, SEEING
    house.engine.use(lambda line: line.whole({"choices": []}))
    house.send(asked(image_part(png()), image_part(png(9, 9))))
    sent = house.engine.body["messages"][0]["content"]
    assert sent == [{"type": "text", "text": "What is this?"}, image_part(png()), image_part(png(9, 9))]


@pytest.mark.parametrize(
    ("engine", "load", "part", "code"),
    [
        (ENGINE, SEEING, at("https://example.org/a.png"), "message.image"),
        (ENGINE, SEEING, at("file:///etc/passwd"), "message.image"),
        (ENGINE, SEEING, at("data:image/png;base64,AAAA*AAA"), "message.image"),
        (ENGINE, SEEING, at("data:image/png;base64,AAAAA"), "message.image"),
        (ENGINE, SEEING, at(data_url(b"no picture at all")), "message.image"),
        (ENGINE, SEEING, at(data_url(HUGE)), "message.image_pixels"),
        (ENGINE, Load("tiny"), image_part(png()), "message.no_projector"),
        (ECHO, Load("tiny", projector="/p.gguf"), image_part(png()), "request.capability"),
    ],
)
def test_what_would_not_be_seen_is_refused_before_it_goes_anywhere(house, engine, load, part, code):
    house.engines.engine, house.engines.load = engine, load
    reply = house.send(asked(part))
    assert (reply.status, reply.error["code"], reply.error["param"]) == (400, code, PLACE)
    assert not house.engine.lines


def test_one_that_the_engine_cannot_decode_is_named(house):
    house.engines.engine, house.engines.load = ENGINE, SEEING
    said = {"error": {"code": 400, "message": "Failed to load image or audio file", "type": "invalid_request_error"}}
    house.engine.use(lambda line: line.whole(said, status=400))
    reply = house.send(asked(image_part(png()[:-40]), image_part(png())))
    told = (reply.status, reply.error["code"], reply.error["param"])
    assert told == (400, "message.image_unread", f"{PLACE}, messages[0].content[2].image_url")


def test_another_error_of_the_engine_stays_its_own(house):
    house.engines.engine, house.engines.load = ENGINE, SEEING
    house.engine.use(lambda line: line.whole({"error": {"code": 400, "message": "no such thing"}}, status=400))
    assert house.send(asked(image_part(png()))).error["code"] == "engine.answered"
