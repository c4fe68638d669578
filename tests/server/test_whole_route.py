"""Embeddings and ranks through the port."""

import json

import pytest
from tests.server.fakes import chat, request

from weighbridge_engines.api import Load
from weighbridge_engines.llama_server import ENGINE

TOLD = {"object": "list", "model": "/secret", "data": [{"index": 0, "embedding": [0.5]}], "usage": {"prompt_tokens": 3}}
RANKS = {"model": "/secret", "results": [{"index": 0, "relevance_score": 0.5}], "usage": {"prompt_tokens": 4}}


def post(path, body):
    return request("POST", path, body=json.dumps(body).encode())


@pytest.fixture
def embedding(house):
    house.engines.loaded, house.engines.engine = ("tiny",), ENGINE
    house.engines.load = Load("tiny", task="embedding")
    house.engine.use(lambda line: line.whole(TOLD))
    return house


@pytest.fixture
def ranking(house):
    house.engines.loaded, house.engines.engine = ("tiny",), ENGINE
    house.engines.load = Load("tiny", task="rerank")
    house.engine.use(lambda line: line.whole(RANKS))
    return house


@pytest.mark.parametrize("asked", ["text", ["a", "b"], [1, 2], [[1, 2], [3]]])
def test_embeddings(embedding, asked):
    reply = embedding.send(post("/v1/embeddings", {"model": "tiny", "input": asked, "user": "x"}))
    assert (reply.status, reply.json) == (200, {**TOLD, "model": "tiny"})
    assert embedding.engine.body == {"input": asked, "encoding_format": "float", "model": "tiny"}
    row = embedding.last_row()
    assert (row.model, row.prompt_tokens) == ("tiny", 3)


def test_the_form_of_the_numbers_is_the_callers_choice(embedding):
    embedding.send(post("/v1/embeddings", {"input": "a", "encoding_format": "base64"}))
    assert embedding.engine.body["encoding_format"] == "base64"


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "embedding.input", "input"),
        ({"input": []}, "embedding.input", "input"),
        ({"input": ""}, "embedding.input", "input"),
        ({"input": ["a", ""]}, "embedding.input", "input"),
        ({"input": ["a", 1]}, "embedding.input", "input"),
        ({"input": [True]}, "embedding.input", "input"),
        ({"input": [[]]}, "embedding.input", "input"),
        ({"input": ["a"] * 2049}, "embedding.input", "input"),
        ({"input": {"a": 1}}, "embedding.input", "input"),
        ({"input": "a", "encoding_format": "int8"}, "embedding.encoding", "encoding_format"),
        ({"input": "a", "dimensions": 64}, "embedding.dimensions", "dimensions"),
        ({"input": "a", "model": 5}, "request.not_text", "model"),
    ],
)
def test_what_is_no_request_for_embeddings(embedding, body, code, field):
    reply = embedding.send(post("/v1/embeddings", body))
    assert (reply.status, reply.error["code"], reply.error["param"]) == (400, code, field)
    assert not embedding.engine.lines


def test_ranks(ranking):
    body = {"model": "tiny", "query": "tide", "documents": ["a", "b"], "top_n": 1}
    reply = ranking.send(post("/v1/rerank", body))
    assert (reply.status, reply.json) == (200, {**RANKS, "model": "tiny"})
    assert ranking.engine.body == body


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"documents": ["a"]}, "request.not_text", "query"),
        ({"query": "q"}, "rerank.documents", "documents"),
        ({"query": "q", "documents": []}, "rerank.documents", "documents"),
        ({"query": "q", "documents": ["a", 5]}, "rerank.documents", "documents"),
        ({"query": "q", "documents": ["a"], "top_n": 0}, "request.number", "top_n"),
    ],
)
def test_what_is_no_request_for_ranks(ranking, body, code, field):
    reply = ranking.send(post("/v1/rerank", body))
    assert (reply.status, reply.error["code"], reply.error["param"]) == (400, code, field)


def test_a_model_is_asked_for_what_it_is_loaded_for(embedding):
    for raw, code in (
        (post("/v1/rerank", {"query": "q", "documents": ["a"]}), "model.not_for_rerank"),
        (chat({"messages": [{"role": "user", "content": "hi"}]}), "model.not_for_chat"),
    ):
        reply = embedding.send(raw)
        assert (reply.status, reply.error["code"]) == (400, code)
    embedding.engines.load = Load("tiny")
    reply = embedding.send(post("/v1/embeddings", {"input": "a"}))
    assert (reply.status, reply.error["code"]) == (400, "model.not_for_embedding")


def test_an_engine_that_refuses_or_answers_nonsense(embedding):
    embedding.engine.use(lambda line: line.whole({"error": {"message": "input is too large"}}, 500))
    reply = embedding.send(post("/v1/embeddings", {"input": "a"}))
    assert reply.status == 502 and "too large" in reply.error["message"]
    embedding.engine.use(lambda line: line.whole([1]))
    assert embedding.send(post("/v1/embeddings", {"input": "a"})).error["code"] == "stream.malformed"
