"""Conversations as chat templates want them: other forms of the same, for templates that take not every order. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Messages = Sequence[Mapping[str, Any]]


def forms(messages: Messages) -> Iterator[Messages]:
    """`messages` as they are, then, where that is something else: turns of one role in a row made one; what the system
    says later put before what the user says next; all that it says put there.
    """
    seen: list[Messages] = []
    for form in (list(messages), merged(messages), merged(system_first(messages)), merged(without_system(messages))):
        if form not in seen:
            seen.append(form)
            yield form


def merged(messages: Messages) -> Messages:
    """One turn for each row of turns of the same role. What is more than a text stays alone."""
    made: list[Mapping[str, Any]] = []
    for message in messages:
        if made and made[-1]["role"] == message["role"] and _is_plain(made[-1]) and _is_plain(message):
            made[-1] = {**message, "content": _joined(made[-1]["content"], message["content"])}
        else:
            made.append(message)
    return made


def system_first(messages: Messages) -> Messages:
    """What the system says after the beginning, put to the beginning of the user's next turn."""
    lead = next((place for place, one in enumerate(messages) if one["role"] != "system"), len(messages))
    return [*messages[:lead], *without_system(messages[lead:])]


def without_system(messages: Messages) -> Messages:
    """All that the system says, put to the beginning of the user's next turn; at the end it is a turn of the user's."""
    made: list[Mapping[str, Any]] = []
    waiting = ""
    for message in messages:
        if message["role"] == "system":
            waiting = _joined(waiting, message["content"])
        elif message["role"] == "user" and waiting:
            made.append({**message, "content": _joined(waiting, message["content"])})
            waiting = ""
        else:
            made.append(message)
    return [*made, {"role": "user", "content": waiting}] if waiting else made


def _is_plain(message: Mapping[str, Any]) -> bool:
    return set(message) <= {"role", "content"} and message["role"] != "tool"


def _joined(first: str, second: str) -> str:
    return f"{first}\n\n{second}" if first and second else first or second
