"""Tells what a model thinks from what it answers, while the text arrives in pieces cut anywhere.

Models think between `<think>` and `</think>` at the start of their answer. Some templates put the opening tag into
the prompt, so that only the closing one arrives; a limit may end the answer before any closing tag. An answer about
such tags must keep them. The rules, the same for streamed and for whole text:

- an opening tag counts only where nothing but white space came before it;
- a closing tag counts once: the first after an opening tag, or the first at all where none was opened; what came
before it was thought;
- a tag within backticks on its line is text; outside of a thought so is one in a code fence;
- where the engine itself tells thought from answer (`reasoning_content`), tags are text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

OPEN_TAG = "<think>"
CLOSE_TAG = "</think>"
_LINE_KEPT = 200
"""Characters of a line that are kept to tell a fence: a line may be megabytes long."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True)
class Piece:
    """What was added to the answer and to the thought. `restart`: all text before this piece was thought, not
    answer."""

    text: str = ""
    reasoning: str = ""
    restart: bool = False


@dataclass
class Answer:
    """Text and thought put together from pieces."""

    text: str = ""
    reasoning: str = ""

    def add(self, piece: Piece) -> None:
        """Take one piece."""
        if piece.restart:
            self.reasoning += self.text
            self.text = ""
        self.reasoning += piece.reasoning
        self.text += piece.text


class _Place(Enum):
    START = "start"
    THOUGHT_BEGINS = "thought begins"
    THOUGHT = "thought"
    UNTAGGED = "untagged"
    ANSWER_BEGINS = "answer begins"
    ANSWER = "answer"


_BEGINNINGS = {_Place.THOUGHT_BEGINS: _Place.THOUGHT, _Place.ANSWER_BEGINS: _Place.ANSWER}
"""Places where white space is left out, and what follows them."""


class ThinkSplitter:
    """Feeds on an answer's text and gives it back as answer and thought. One for each answer."""

    def __init__(self) -> None:
        self._place = _Place.START
        self._held = ""
        self._line = ""
        self._ticks = 0
        self._fence = ""
        self._written = False

    def feed(self, text: str, reasoning: str = "") -> Piece:
        """The next text, and what the engine itself called thought."""
        if reasoning and self._place is _Place.START:
            self._place = _Place.ANSWER_BEGINS
        piece = self._take(text, final=False)
        return Piece(piece.text, piece.reasoning + reasoning, piece.restart)

    def end(self) -> Piece:
        """What was held back, once the answer is over."""
        return self._take("", final=True)

    def _take(self, text: str, final: bool) -> Piece:
        self._held += text
        out = _Out(self._written)
        while self._held and self._step(out, final):
            pass
        piece = out.piece()
        self._written = (self._written and not piece.restart) or bool(piece.text)
        return piece

    def _step(self, out: _Out, final: bool) -> bool:
        if self._place is _Place.START:
            return self._open(final)
        if self._place in _BEGINNINGS:
            self._held = self._held.lstrip()
            self._place = _BEGINNINGS[self._place] if self._held else self._place
            return bool(self._held)
        if self._place is _Place.ANSWER:
            out.text, self._held = out.text + self._held, ""
            return False
        return self._until_tag(out, final)

    def _open(self, final: bool) -> bool:
        start = self._held.lstrip()
        if start.startswith(OPEN_TAG):
            self._held = start[len(OPEN_TAG) :]
            self._place = _Place.THOUGHT_BEGINS
            return True
        if OPEN_TAG.startswith(start) and not final:
            return False
        self._place = _Place.UNTAGGED
        return True

    def _until_tag(self, out: _Out, final: bool) -> bool:
        """Pass on text up to the closing tag, or up to where one may begin."""
        at = self._held.find(CLOSE_TAG)
        if at < 0:
            keep = 0 if final else _beginning_of_tag(self._held)
            self._pass(out, len(self._held) - keep)
            return False
        if at > 0:
            self._pass(out, at)
            return True
        literal = self._literal(final)
        if literal is None:
            return False
        if literal:
            self._pass(out, len(CLOSE_TAG))
            return True
        self._close(out)
        return True

    def _literal(self, final: bool) -> bool | None:
        """Whether the tag at the start of what is held is text; None until the rest of its line tells."""
        if self._place is _Place.UNTAGGED and self._fence:
            return True
        if self._ticks % 2 == 0:
            return False
        rest, newline, _ = self._held[len(CLOSE_TAG) :].partition("\n")
        if "`" in rest:
            return True
        return False if newline or final else None

    def _close(self, out: _Out) -> None:
        if self._place is _Place.UNTAGGED:
            out.restart_here()
        self._held = self._held[len(CLOSE_TAG) :]
        self._place = _Place.ANSWER_BEGINS

    def _pass(self, out: _Out, length: int) -> None:
        text, self._held = self._held[:length], self._held[length:]
        if self._place is _Place.THOUGHT:
            out.reasoning += text
        else:
            out.text += text
        for line in text.splitlines(keepends=True):
            self._line += line[: _LINE_KEPT - len(self._line)]
            self._ticks += line.count("`")
            if line.endswith("\n"):
                self._fence = fence_after(self._line.rstrip("\n"), self._fence)
                self._line, self._ticks = "", 0


class _Out:
    """Gathers one piece."""

    def __init__(self, written: bool) -> None:
        self.text = ""
        self.reasoning = ""
        self._written = written
        self._restart = False

    def restart_here(self) -> None:
        """What was gathered as answer was thought, and what was given out before as well."""
        self.reasoning, self.text = self.reasoning + self.text, ""
        self._restart = self._written

    def piece(self) -> Piece:
        return Piece(self.text, self.reasoning, self._restart)


def split(text: str) -> Answer:
    """A whole answer, told apart."""
    splitter = ThinkSplitter()
    answer = Answer()
    answer.add(splitter.feed(text))
    answer.add(splitter.end())
    return answer


def fence_after(line: str, fence: str) -> str:
    """The code fence that is open after `line`, where `fence` ("" for none) was open before it."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    marks = found.group(1)
    if not fence:
        return "" if marks[0] == "`" and "`" in line[found.end() :] else marks
    closes = marks[0] == fence[0] and len(marks) >= len(fence) and not line[found.end() :].strip()
    return "" if closes else fence


def _beginning_of_tag(text: str) -> int:
    """How many characters at the end of `text` may be the beginning of a closing tag."""
    for length in range(min(len(CLOSE_TAG) - 1, len(text)), 0, -1):
        if CLOSE_TAG.startswith(text[-length:]):
            return length
    return 0
