"""Conversations kept and found again."""

import sqlite3
from dataclasses import replace

import pytest

from weighbridge.base.database import Database
from weighbridge.base.errors import NotFound
from weighbridge.chat.conversation import Failure, MessageState, Role, branch, path_to
from weighbridge.chat.store import ChatStore


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "a.sqlite3")
    yield database
    database.close()


@pytest.fixture
def store(database):
    seconds = iter(range(1, 1000))
    return ChatStore(database, clock=lambda: float(next(seconds)))


def test_question_and_empty_answer_are_there_before_anything_is_sent(store):
    talk = store.create("Load lines", "m", "Be brief.", {"temperature": 0.7})
    question, answer = store.ask(talk.id, None, "Hello", "m", {"context": 4096})
    assert (question.role, question.text, question.state) == (Role.USER, "Hello", MessageState.COMPLETE)
    assert (answer.role, answer.text, answer.state) == (Role.ASSISTANT, "", MessageState.STREAMING)
    assert answer.settings == {"context": 4096}
    kept = store.conversation(talk.id)
    assert (kept.leaf_id, kept.model_id, kept.system_prompt) == (answer.id, "m", "Be brief.")
    assert path_to(store.messages(talk.id), kept.leaf_id) == (question, answer)


def test_after_a_kill_the_answer_reads_as_interrupted_with_what_had_come(store, database):
    talk = store.create("x")
    _, answer = store.ask(talk.id, None, "Hello", "m", {})
    store.write(answer.id, "Half an ans", "hm")
    after = ChatStore(database)
    after.recover()
    found = after.message(answer.id)
    assert (found.text, found.reasoning, found.state) == ("Half an ans", "hm", MessageState.INTERRUPTED)
    assert found.error == Failure("chat.interrupted")


def test_finished_answer(store):
    talk = store.create("x")
    _, answer = store.ask(talk.id, None, "Hello", "m", {})
    error = Failure("engine.died", {"exit_code": -9}, ("last line",))
    done = replace(answer, text="Hi", state=MessageState.FAILED, error=error, figures={"decode_tps": 61.4})
    store.finish(done)
    assert store.message(answer.id) == done
    store.recover()
    assert store.message(answer.id) == done


def test_editing_and_asking_again_make_branches(store):
    talk = store.create("x")
    question, first = store.ask(talk.id, None, "Hello", "m", {})
    second = store.ask_again(question, "other", {})
    edited, _ = store.ask(talk.id, question.parent_id, "Good day", "m", {})
    messages = store.messages(talk.id)
    assert branch(messages, second) == (2, 2)
    assert branch(messages, edited) == (2, 2)
    assert store.message(first.id).text == ""
    assert store.message(question.id).text == "Hello"


def test_search_in_titles_and_messages(store):
    lines = store.create("Plimsoll lines")
    tango = store.create("Letra de tango")
    store.ask(tango.id, None, "Una canción 100% triste", "m", {})
    assert [one.id for one in store.conversations()] == [tango.id, lines.id]
    assert [one.id for one in store.conversations("PLIM")] == [lines.id]
    assert [one.id for one in store.conversations("cancion")] == [tango.id]
    assert [one.id for one in store.conversations("100%")] == [tango.id]
    assert store.conversations("%") == store.conversations("100%")
    assert store.conversations("nothing") == ()


def test_delete_can_be_undone_until_the_next_start(store):
    talk = store.create("x")
    store.ask(talk.id, None, "Hello", "m", {})
    store.delete(talk.id)
    assert store.conversations() == ()
    with pytest.raises(NotFound):
        store.conversation(talk.id)
    store.restore(talk.id)
    assert store.conversation(talk.id).title == "x"
    store.delete(talk.id)
    store.recover()
    store.restore(talk.id)
    assert store.conversations() == ()
    assert store.messages(talk.id) == ()


def test_rename_settings_leaf_and_remembered_values(store):
    talk = store.create("x")
    store.rename(talk.id, "y")
    store.keep_settings(talk.id, "Be brief.", {"seed": 7})
    question, answer = store.ask(talk.id, None, "Hello", "m", {})
    store.choose_leaf(talk.id, question.id)
    kept = store.conversation(talk.id)
    assert (kept.title, kept.system_prompt, kept.settings, kept.leaf_id) == ("y", "Be brief.", {"seed": 7}, question.id)
    assert store.remembered("open") is None
    store.remember("open", {"conversation": talk.id})
    store.remember("open", {"conversation": 2})
    assert store.remembered("open") == {"conversation": 2}
    with pytest.raises(NotFound):
        store.message(answer.id + 1)


def test_half_a_pair_is_kept_as_a_replacement(store):
    conversation = store.create("a\ud83d", system_prompt="b\udcff")
    question, _ = store.ask(conversation.id, None, "c\ud800 😀", "m", {})
    store.rename(conversation.id, "d\ud83d")
    kept = store.conversation(conversation.id)
    assert (kept.title, kept.system_prompt, question.text) == ("d\ufffd", "b\ufffd", "c\ufffd 😀")


def test_damaged_words_and_values_do_not_hide_the_rest(store, tmp_path):
    conversation = store.create("t")
    store.ask(conversation.id, None, "question", "m", {})
    with sqlite3.connect(tmp_path / "a.sqlite3") as other:
        other.execute("UPDATE messages SET role = 'nobody', state = 'gone', figures = '{', settings = '[1]'")
        other.execute("UPDATE conversations SET settings = 'x'")
    other.close()
    question, _ = store.messages(conversation.id)
    assert (question.text, question.role, question.state) == ("question", Role.USER, MessageState.INTERRUPTED)
    assert (question.figures, question.settings) == ({}, {})
    assert store.conversation(conversation.id).settings == {}
