"""Lists of models in the forms that servers have, and what is wrong in them."""

import json

import pytest

from weighbridge.formats.architectures import Kind
from weighbridge.running.endpoints.endpoint import Listed
from weighbridge.running.endpoints.listing import MOST_MODELS, NoListing, read_listing, with_more, with_own


def read(value):
    listing = read_listing(json.dumps(value).encode())
    return listing.models, listing.left_out


@pytest.mark.parametrize(
    ("value", "models"),
    [
        ({"data": [{"id": "a"}]}, [Listed("a")]),
        ([{"id": "t", "type": "chat", "context_length": 8192}], [Listed("t", 8192, Kind.CHAT)]),
        ({"models": [{"name": "x:1b", "model": "x:1b"}]}, [Listed("x:1b")]),
        ({"data": [{"id": "l", "meta": {"n_ctx": 2048, "n_ctx_train": 8192}}]}, [Listed("l", 2048)]),
        ({"data": [{"id": "l", "meta": {"n_ctx_train": 8192}}]}, [Listed("l", 8192)]),
        ({"data": [{"id": "v", "max_model_len": 4096}]}, [Listed("v", 4096)]),
        ({"data": [{"id": "g", "context_window": 131072}]}, [Listed("g", 131072)]),
        (
            {"data": [{"id": "s", "type": "vlm", "max_context_length": 9, "loaded_context_length": 7}]},
            [Listed("s", 7, Kind.CHAT, sees=True)],
        ),
        ({"data": [{"id": "e", "type": "embeddings"}]}, [Listed("e", None, Kind.EMBEDDING)]),
        ({"data": [{"id": "on@groq", "leaves_computer": True}]}, [Listed("on@groq", sent_on=True)]),
        ({"data": [{"id": "a"}, {"id": "a", "context_length": 5}]}, [Listed("a", 5)]),
        ({"data": []}, []),
        ({"data": None}, []),
    ],
)
def test_the_forms_of_lists(value, models):
    assert read(value) == (tuple(models), 0)


@pytest.mark.parametrize("context", [0, -1, True, "8192", 1.5, 1 << 40, None, {}])
def test_a_context_that_is_none(context):
    assert read({"data": [{"id": "a", "context_length": context, "meta": context}]}) == ((Listed("a"),), 0)


@pytest.mark.parametrize("name", ["", " a", "a\nb", "a\u202eb", "\x1b[31m", "x" * 201, 5, None, ["a"]])
def test_a_name_that_nobody_can_show_is_left_out_and_counted(name):
    assert read({"data": [{"id": name}, {"id": "b"}, 7, None]}) == ((Listed("b"),), 3)


def test_a_list_without_end_is_cut():
    rows = [{"id": str(number)} for number in range(MOST_MODELS + 5)]
    listing = read_listing(json.dumps({"data": rows}).encode())
    assert (len(listing.models), listing.left_out, listing.beyond) == (MOST_MODELS, 0, 5)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"{", b"[" * 100_000, b'"x"', b"{}", b'{"data": 5}', b'{"object": "list"}', b"\xff", b"7"]
)
def test_what_is_no_list(body):
    with pytest.raises(NoListing):
        read_listing(body)


@pytest.mark.parametrize(
    ("row", "sees"),
    [
        ({}, None),
        ({"type": "vlm", "capabilities": ["tool_use"]}, True),
        ({"type": "llm", "capabilities": ["tool_use"]}, False),
        ({"architecture": {"input_modalities": ["text", "image"]}}, True),
        ({"architecture": {"input_modalities": ["text"]}}, False),
        ({"architecture": "llama", "input_modalities": ["image"]}, True),
        ({"architecture": {"input_modalities": []}}, None),
        ({"capabilities": {"vision": True}}, True),
        ({"capabilities": {"vision": "yes"}}, None),
        ({"supports_image_input": False}, False),
        ({"capabilities": ["completion", "vision"]}, True),
        ({"capabilities": ["completion", "tools"]}, False),
        ({"capabilities": ["completion", "multimodal"]}, None),
        ({"capabilities": ["embedding"]}, None),
        ({"capabilities": 5, "architecture": 5, "input_modalities": "image", "type": ["vlm"]}, None),
    ],
)
def test_whether_a_model_takes_pictures(row, sees):
    ((listed,), _) = read({"data": [{"id": "a", **row}]})
    assert listed.sees is sees


def more(value, *models):
    return with_more(models, json.dumps(value).encode())


def test_a_further_list_tells_more():
    told = {"data": [{"id": "b", "context_length": 7, "type": "embeddings"}, {"id": "c", "context_length": 1}]}
    assert more(told, Listed("a", 5), Listed("b", 3)) == (Listed("a", 5), Listed("b", 7, Kind.EMBEDDING))
    told = {"models": [{"name": "a", "context_length": 7}]}
    assert more(told, Listed("a", sees=True)) == (Listed("a", 7, sees=True),)


def test_llama_cpp_tells_what_its_model_takes():
    assert more({"modalities": {"vision": True, "audio": False}}, Listed("a")) == (Listed("a", sees=True),)
    assert more({"modalities": {"vision": False}}, Listed("a")) == (Listed("a", sees=False),)
    assert more({"modalities": {"vision": 1}}, Listed("a")) == (Listed("a"),)


def test_what_is_told_of_one_model_alone():
    assert with_own(Listed("a", 5), b'{"capabilities": ["completion", "vision"]}') == Listed("a", 5, sees=True)
    assert with_own(Listed("a", sees=True), b"{}") == Listed("a", sees=True)
    for body in (b"[]", b"<html>"):
        with pytest.raises(NoListing):
            with_own(Listed("a"), body)


def test_which_weighbridge_a_list_comes_from():
    assert read_listing(b'{"data": [], "weighbridge": "ab12"}').house == "ab12"
    assert [read_listing(body).house for body in (b'{"data": [], "weighbridge": 5}', b"[]")] == ["", ""]
