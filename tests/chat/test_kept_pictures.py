"""Pictures of messages: kept with them, gone with them, sent to a model that sees."""

import pytest
from tests.engines.made_vision import data_url, png

from weighbridge.base.database import Database
from weighbridge.chat.conversation import Attached, request_messages
from weighbridge.chat.store import ChatStore

RED, BLUE = Attached(png(), "png", 64, 64, "red.png"), Attached(png(9, 7, (0, 0, 9)), "png", 9, 7)


@pytest.fixture
def database(tmp_path):
    one = Database(tmp_path / "w.sqlite3")
    yield one
    one.close()


@pytest.fixture
def store(database):
    return ChatStore(database)


def test_they_are_read_as_they_were_attached(store):
    chat = store.create("Harbour")
    question, answer = store.ask(chat.id, None, "What is this?", "m", {}, (RED, BLUE))
    assert question.pictures == (RED, BLUE)
    other, _ = store.ask(chat.id, answer.id, "And now?", "m", {})
    assert [one.pictures for one in store.messages(chat.id)] == [(RED, BLUE), (), (), ()]
    assert store.message(other.id).pictures == ()


def test_they_go_with_their_conversation(store, database):
    chat = store.create("Harbour")
    store.ask(chat.id, None, "What is this?", "m", {}, (RED,))
    store.delete(chat.id)
    assert len(database.rows("SELECT id FROM pictures")) == 1
    store.recover()
    assert database.rows("SELECT id FROM pictures") == []


def test_a_name_that_no_file_can_hold_is_kept_all_the_same(store):
    chat = store.create("Harbour")
    question, _ = store.ask(chat.id, None, "x", "m", {}, (Attached(png(), "png", 64, 64, "a\ud800.png"),))
    assert question.pictures[0].name == "a\ufffd.png"


def test_only_a_model_that_sees_is_sent_them(store):
    chat = store.create("Harbour")
    path = store.ask(chat.id, None, "What is this?", "m", {}, (RED,))
    assert request_messages(path) == [{"role": "user", "content": "What is this?"}]
    (sent,) = request_messages(path, sees=True)
    shown = {"type": "image_url", "image_url": {"url": data_url(png())}}
    assert sent["content"] == [shown, {"type": "text", "text": "What is this?"}]
