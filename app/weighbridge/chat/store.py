"""Where conversations are kept: rows of the database, raw text.

A question and its empty answer are written before the prompt is sent, so that nothing typed is lost; what has come of
an answer is written about once a second by whoever streams it. Halves of surrogate pairs, which a text field lets
through and no file can hold, are kept as U+FFFD. All functions may be called from any thread.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from weighbridge.base.database import Database, folded
from weighbridge.base.errors import NotFound
from weighbridge.base.printable import encodable
from weighbridge.chat.conversation import Attached, Conversation, Failure, Message, MessageState, Role

_Word = TypeVar("_Word", bound=StrEnum)
_CONVERSATION = "SELECT * FROM conversations WHERE deleted IS NULL"
_SEARCH = (
    " AND (instr(folded(title), ?) OR EXISTS (SELECT 1 FROM messages"
    " WHERE conversation_id = conversations.id AND instr(folded(text), ?)))"
)


class ChatStore:
    """Conversations and messages in `database`. `clock` gives seconds since 1970."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def recover(self) -> None:
        """At the owner's start: answers left in the middle are interrupted, deleted conversations go."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE messages SET state = ?, error = ? WHERE state = ?",
                (MessageState.INTERRUPTED, _failure_json(Failure("chat.interrupted")), MessageState.STREAMING),
            )
            connection.execute("DELETE FROM conversations WHERE deleted IS NOT NULL")

    def conversations(self, search: str = "") -> tuple[Conversation, ...]:
        """Conversations, the last changed first; with `search` those with it in their title or a message."""
        words = folded(search.strip())
        query = _CONVERSATION + (_SEARCH if words else "") + " ORDER BY updated DESC, id DESC"
        return tuple(_conversation(row) for row in self._database.rows(query, (words, words) if words else ()))

    def conversation(self, conversation_id: int) -> Conversation:
        """One conversation. Raises NotFound("chat.unknown") where there is none, or it was deleted."""
        rows = self._database.rows(_CONVERSATION + " AND id = ?", (conversation_id,))
        if not rows:
            raise NotFound("chat.unknown", conversation=conversation_id)
        return _conversation(rows[0])

    def messages(self, conversation_id: int) -> tuple[Message, ...]:
        """All messages of all branches, oldest first."""
        rows = self._database.rows("SELECT * FROM messages WHERE conversation_id = ? ORDER BY id", (conversation_id,))
        pictures = self._pictures("message_id IN (SELECT id FROM messages WHERE conversation_id = ?)", conversation_id)
        return tuple(_message(row, pictures[row["id"]]) for row in rows)

    def message(self, message_id: int) -> Message:
        """One message. Raises NotFound("chat.unknown")."""
        rows = self._database.rows("SELECT * FROM messages WHERE id = ?", (message_id,))
        if not rows:
            raise NotFound("chat.unknown", message=message_id)
        return _message(rows[0], self._pictures("message_id = ?", message_id)[message_id])

    def create(
        self,
        title: str,
        model_id: str | None = None,
        system_prompt: str = "",
        settings: Mapping[str, Any] | None = None,
    ) -> Conversation:
        """A new, empty conversation."""
        now = self._clock()
        with self._database.transaction() as connection:
            made = connection.execute(
                "INSERT INTO conversations (title, created, updated, model_id, system_prompt, settings)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (encodable(title), now, now, model_id, encodable(system_prompt), json.dumps(dict(settings or {}))),
            )
        return self.conversation(_made(made))

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title."""
        self._change(conversation_id, title=encodable(title))

    def keep_settings(self, conversation_id: int, system_prompt: str, settings: Mapping[str, Any]) -> None:
        """Keep the system prompt and the settings that the next message will be sent with."""
        self._change(conversation_id, system_prompt=encodable(system_prompt), settings=json.dumps(dict(settings)))

    def choose_leaf(self, conversation_id: int, leaf_id: int | None) -> None:
        """Remember which branch is looked at."""
        self._change(conversation_id, leaf_id=leaf_id)

    def delete(self, conversation_id: int) -> None:
        """Take a conversation out of sight; `restore` brings it back until the next start."""
        self._change(conversation_id, deleted=self._clock())

    def restore(self, conversation_id: int) -> None:
        """Undo `delete`."""
        self._change(conversation_id, deleted=None)

    def ask(
        self,
        conversation_id: int,
        parent_id: int | None,
        text: str,
        model_id: str,
        settings: Mapping[str, Any],
        pictures: Sequence[Attached] = (),
    ) -> tuple[Message, Message]:
        """Save a question after `parent_id` and its empty answer, in one transaction. Returns both."""
        with self._database.transaction() as connection:
            question = self._insert(connection, Message(0, conversation_id, parent_id, Role.USER, text))
            connection.executemany(
                "INSERT INTO pictures (message_id, name, kind, width, height, data) VALUES (?, ?, ?, ?, ?, ?)",
                [(question, encodable(one.name), one.kind, one.width, one.height, one.data) for one in pictures],
            )
            answer = self._insert(connection, _empty_answer(conversation_id, question, model_id, settings))
            self._touch(connection, conversation_id, answer, model_id)
        return self.message(question), self.message(answer)

    def ask_again(self, question: Message, model_id: str, settings: Mapping[str, Any]) -> Message:
        """Save another empty answer to a question: a new branch."""
        with self._database.transaction() as connection:
            draft = _empty_answer(question.conversation_id, question.id, model_id, settings)
            answer = self._insert(connection, draft)
            self._touch(connection, question.conversation_id, answer, model_id)
        return self.message(answer)

    def write(self, message_id: int, text: str, reasoning: str) -> None:
        """Keep what has come of an answer so far."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE messages SET text = ?, reasoning = ? WHERE id = ?", (text, reasoning, message_id)
            )

    def finish(self, message: Message) -> None:
        """Keep an answer that is over: its text, state, error and figures."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE messages SET text = ?, reasoning = ?, state = ?, error = ?, figures = ? WHERE id = ?",
                (
                    message.text,
                    message.reasoning,
                    message.state,
                    _failure_json(message.error),
                    json.dumps(dict(message.figures)),
                    message.id,
                ),
            )

    def remember(self, name: str, value: object) -> None:
        """Keep a small JSON value under a name: what was open, where it was scrolled to."""
        with self._database.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO remembered VALUES (?, ?)", (name, json.dumps(value)))

    def remembered(self, name: str) -> Any:
        """The value kept under `name`, or None."""
        rows = self._database.rows("SELECT value FROM remembered WHERE name = ?", (name,))
        return json.loads(rows[0][0]) if rows else None

    def _pictures(self, condition: str, place: int) -> Mapping[int, list[Attached]]:
        """Those of the messages that `condition` means, by their message; `place` stands for its question mark."""
        found: defaultdict[int, list[Attached]] = defaultdict(list)
        for row in self._database.rows(f"SELECT * FROM pictures WHERE {condition} ORDER BY id", (place,)):
            kept = Attached(row["data"], row["kind"], row["width"], row["height"], row["name"])
            found[row["message_id"]].append(kept)
        return found

    def _change(self, conversation_id: int, **values: object) -> None:
        names = ", ".join(f"{name} = ?" for name in values)
        with self._database.transaction() as connection:
            connection.execute(f"UPDATE conversations SET {names} WHERE id = ?", (*values.values(), conversation_id))

    def _insert(self, connection: sqlite3.Connection, draft: Message) -> int:
        made = connection.execute(
            "INSERT INTO messages (conversation_id, parent_id, role, text, reasoning, model_id, settings, created,"
            " state, figures) VALUES (?, ?, ?, ?, '', ?, ?, ?, ?, '{}')",
            (
                draft.conversation_id,
                draft.parent_id,
                draft.role,
                encodable(draft.text),
                draft.model_id,
                json.dumps(dict(draft.settings)),
                self._clock(),
                draft.state,
            ),
        )
        return _made(made)

    def _touch(self, connection: sqlite3.Connection, conversation_id: int, leaf_id: int, model_id: str) -> None:
        connection.execute(
            "UPDATE conversations SET updated = ?, leaf_id = ?, model_id = ? WHERE id = ?",
            (self._clock(), leaf_id, model_id, conversation_id),
        )


def _empty_answer(conversation_id: int, question_id: int, model_id: str, settings: Mapping[str, Any]) -> Message:
    return Message(
        0,
        conversation_id,
        question_id,
        Role.ASSISTANT,
        model_id=model_id,
        settings=settings,
        state=MessageState.STREAMING,
    )


def _made(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _conversation(row: sqlite3.Row) -> Conversation:
    return Conversation(
        id=row["id"],
        title=row["title"],
        created=row["created"],
        updated=row["updated"],
        model_id=row["model_id"],
        system_prompt=row["system_prompt"],
        settings=_values(row["settings"]),
        leaf_id=row["leaf_id"],
    )


def _message(row: sqlite3.Row, pictures: Sequence[Attached]) -> Message:
    return Message(
        id=row["id"],
        conversation_id=row["conversation_id"],
        parent_id=row["parent_id"],
        role=_known(Role, row["role"], Role.USER),
        text=row["text"],
        reasoning=row["reasoning"],
        model_id=row["model_id"],
        settings=_values(row["settings"]),
        created=row["created"],
        state=_known(MessageState, row["state"], MessageState.INTERRUPTED),
        error=_failure(row["error"]),
        figures=_values(row["figures"]),
        pictures=tuple(pictures),
    )


def _known(kind: type[_Word], word: str, otherwise: _Word) -> _Word:
    """A damaged word must not keep the rest of a conversation from being read."""
    return kind(word) if word in set(kind) else otherwise


def _values(stored: object) -> dict[str, Any]:
    """A JSON object; an empty one where it is damaged."""
    try:
        read = json.loads(stored) if isinstance(stored, str) else {}
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _failure_json(failure: Failure | None) -> str | None:
    if failure is None:
        return None
    values = {"code": failure.code, "values": dict(failure.values), "log": failure.log}
    return json.dumps(values, default=str)


def _failure(stored: str | None) -> Failure | None:
    if stored is None:
        return None
    values = json.loads(stored)
    return Failure(values["code"], values["values"], tuple(values["log"]))
