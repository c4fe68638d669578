"""A conversation as a tree of messages: editing a question or asking again makes a branch, and nothing is overwritten.

Pure functions over immutable messages. `messages` is any collection of one conversation's messages; siblings are in
the order in which they were made.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

TITLE_LENGTH = 48


class Role(StrEnum):
    """Who wrote a message."""

    USER = "user"
    ASSISTANT = "assistant"


class MessageState(StrEnum):
    """How far a message is. `stopped`: by the user. `interrupted`: cut off, by the engine or by the end of the
    program."""

    COMPLETE = "complete"
    STREAMING = "streaming"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True)
class Failure:
    """What went wrong with an answer, as it is kept: a code of `base.explain`, its values, and the engine's last
    lines."""

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)
    log: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attached:
    """A picture of a message, as it is kept and sent: a file of the `kind` "png" or "jpeg" of `width` by `height`
    pixels. `name` is that of the file it was made of, "" where there was none.
    """

    data: bytes
    kind: str
    width: int
    height: int
    name: str = ""

    @property
    def url(self) -> str:
        """The picture itself as an address, for a request."""
        return f"data:image/{self.kind};base64,{base64.b64encode(self.data).decode('ascii')}"


@dataclass(frozen=True)
class Message:
    """One message. `text` is what was written, `reasoning` what was thought before it; both raw.

    `settings` holds the load and the sampling as JSON values, `figures` what was measured (see `chat.answering`).
    `created` is in seconds since 1970, UTC.
    """

    id: int
    conversation_id: int
    parent_id: int | None
    role: Role
    text: str = ""
    reasoning: str = ""
    model_id: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    created: float = 0.0
    state: MessageState = MessageState.COMPLETE
    error: Failure | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)
    pictures: tuple[Attached, ...] = ()


@dataclass(frozen=True)
class Conversation:
    """What a list of conversations shows. `leaf_id` is the message at the end of the branch last looked at."""

    id: int
    title: str
    created: float
    updated: float
    model_id: str | None = None
    system_prompt: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    leaf_id: int | None = None


def path_to(messages: Iterable[Message], leaf_id: int | None) -> tuple[Message, ...]:
    """The messages from the first to `leaf_id`; empty where there is no such message."""
    by_id = {message.id: message for message in messages}
    found: list[Message] = []
    here = by_id.get(leaf_id) if leaf_id is not None else None
    while here is not None and len(found) < len(by_id):
        found.append(here)
        here = by_id.get(here.parent_id) if here.parent_id is not None else None
    return tuple(reversed(found))


def siblings(messages: Iterable[Message], message: Message) -> tuple[Message, ...]:
    """`message` and the others that answer the same parent, oldest first."""
    return tuple(sorted((one for one in messages if one.parent_id == message.parent_id), key=_age))


def branch(messages: Iterable[Message], message: Message) -> tuple[int, int]:
    """Which branch this is, and of how many: (1, 2) is the first of two."""
    family = siblings(messages, message)
    return [one.id for one in family].index(message.id) + 1, len(family)


def neighbour(messages: Sequence[Message], message: Message, step: int) -> Message | None:
    """The sibling `step` (-1 or +1) beside this one, or None at the end of the row."""
    family = siblings(messages, message)
    place = [one.id for one in family].index(message.id) + step
    return family[place] if 0 <= place < len(family) else None


def newest_leaf(messages: Iterable[Message], start_id: int | None) -> int | None:
    """The end of the branch below `start_id`, taking the newest child at each fork; None starts at the roots."""
    children: dict[int | None, Message] = {}
    for message in messages:
        known = children.get(message.parent_id)
        if known is None or _age(message) > _age(known):
            children[message.parent_id] = message
    here = start_id
    for _ in range(len(children)):
        child = children.get(here)
        if child is None:
            break
        here = child.id
    return here


def request_messages(path: Sequence[Message], system_prompt: str = "", *, sees: bool = False) -> list[dict[str, Any]]:
    """What a model is sent for this path: the system prompt, then the messages that have a text, without thoughts; the
    pictures only to one that `sees`.
    """
    system: list[dict[str, Any]] = [{"role": "system", "content": system_prompt}] if system_prompt.strip() else []
    return system + [
        {"role": str(one.role), "content": content(one.text, one.pictures if sees else ())} for one in path if one.text
    ]


def content(text: str, pictures: Sequence[Attached]) -> str | list[dict[str, Any]]:
    """What a message of a request holds: the text alone where there are no pictures."""
    if not pictures:
        return text
    shown: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": one.url}} for one in pictures]
    return [*shown, {"type": "text", "text": text}]


def title_from(first_message: str) -> str:
    """A title: the first line that has words, cut between words to at most `TITLE_LENGTH` characters."""
    line = next((line.strip(" #>*`-\t") for line in first_message.splitlines() if line.strip(" #>*`-\t")), "")
    line = " ".join(line.split())
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[: TITLE_LENGTH - 1]
    whole_words = cut.rsplit(" ", 1)[0] if " " in cut[TITLE_LENGTH // 2 :] else cut
    return whole_words.rstrip(" ,;:.") + "…"


def _age(message: Message) -> tuple[float, int]:
    return message.created, message.id
