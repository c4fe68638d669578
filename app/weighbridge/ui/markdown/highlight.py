"""Colours for closed code: which characters of each line play which role. No Qt here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

MOST_CHARACTERS = 40_000
"""Longer code stays plain: to colour it would take longer than it is worth."""

ROLES: Mapping[str, str] = {
    "keyword": "accent",
    "string": "fits",
    "number": "tight",
    "comment": "dim",
    "name": "partial",
}
"""The colour token of each role."""

_ROLE_OF: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "comment"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
    (String, "string"),
    (Number, "number"),
    (Name.Function, "name"),
    (Name.Class, "name"),
    (Name.Tag, "keyword"),
    (Name.Attribute, "name"),
    (Name.Decorator, "name"),
)


@dataclass(frozen=True)
class Span:
    """`length` characters of a line from `start`, in a role."""

    start: int
    length: int
    role: str


def spans(code: str, language: str) -> tuple[tuple[Span, ...], ...]:
    """Spans for each line of `code`; nothing for a language that is not known, or for code too long."""
    if len(code) > MOST_CHARACTERS:
        return ()
    try:
        lexer = get_lexer_by_name(language.lower(), stripnl=False, stripall=False, ensurenl=False)
    except ClassNotFound:
        return ()
    lines: list[list[Span]] = [[]]
    column = 0
    for kind, value in lexer.get_tokens(code):
        role = _role(kind)
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
                column = 0
            if role and piece.strip():
                lines[-1].append(Span(column, len(piece), role))
            column += len(piece)
    return tuple(tuple(line) for line in lines)


def _role(kind: _TokenType) -> str | None:
    return next((role for parent, role in _ROLE_OF if parent in kind.split()), None)
