"""Cuts Markdown that is still being written into parts that will not change any more, and an open end.

No Qt here. A part is closed where what follows cannot change how it is read: after a blank line, unless a list goes
on. Code fences are parts of their own, told line by line, so that a long one costs no more per line than a short one.
The open end is capped: one that grows past `HARD_CAP` is cut between lines or words, and a table past `MOST_CELLS`
between its rows, with its head repeated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SOFT_CAP = 2_000
"""Above this many characters an open list is closed before its next item."""
HARD_CAP = 8_000
"""Above this many characters the open end is cut wherever a line or a word ends."""
MOST_CELLS = 200
"""Above this many cells an open table is closed before its next row: each is laid out anew with every change."""

_OPENING = re.compile(r"( *)(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_LIST_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")


@dataclass(frozen=True)
class Prose:
    """Closed Markdown without fences."""

    text: str


@dataclass(frozen=True)
class CodeOpened:
    """A code fence begins."""

    language: str


@dataclass(frozen=True)
class Code:
    """More text inside the fence, with its line ends."""

    text: str


@dataclass(frozen=True)
class CodeClosed:
    """The fence ends."""


Part = Prose | CodeOpened | Code | CodeClosed


@dataclass(frozen=True)
class _Fence:
    indent: int
    marks: str


class Segmenter:
    """Feed it raw Markdown cut anywhere; it gives back closed parts. `open_prose` is the end that may still change.

    After `finish` it is used up.
    """

    def __init__(self) -> None:
        self._open = ""
        self._line = ""
        self._line_told = 0
        self._table = ""
        self._cells = 0
        self._fence: _Fence | None = None
        self._dedent = 0
        self._blank = False
        self._in_list = False

    @property
    def open_prose(self) -> str:
        """Text outside of a fence that is not closed yet."""
        return "" if self._fence else self._open + self._line

    def feed(self, text: str) -> list[Part]:
        """The parts that `text` closes."""
        parts: list[Part] = []
        *lines, rest = text.split("\n")
        for line in lines:
            self._line += line
            self._take_line(parts)
        self._line += rest
        self._take_beginning(parts)
        return parts

    def finish(self) -> list[Part]:
        """What was open, once nothing more comes."""
        parts: list[Part] = []
        if self._fence is not None:
            if self._line and (self._line_told or not self._closes(self._line)):
                self._tell_code(parts, self._line)
            parts.append(CodeClosed())
        else:
            self._open, self._line = self._open + self._line, ""
            self._close_prose(parts)
        return parts

    def _take_line(self, parts: list[Part]) -> None:
        """One line is complete."""
        line, self._line = self._line, ""
        if self._fence is not None:
            if self._line_told == 0 and self._closes(line):
                parts.append(CodeClosed())
                self._dedent, self._fence = self._fence.indent, None
                return
            self._line = line
            self._tell_code(parts, self._line + "\n")
            self._line, self._line_told = "", 0
            return
        self._take_prose(parts, self._dedented(line))

    def _take_beginning(self, parts: list[Part]) -> None:
        """The line is not complete: code is told as far as it cannot be the closing mark; an endless line is cut."""
        if self._fence is not None:
            start = self._line.lstrip(" ")
            if start and (self._line_told or start[0] != self._fence.marks[0]):
                self._tell_code(parts, self._line)
        elif len(self._open) + len(self._line) > HARD_CAP:
            self._cut(parts)

    def _take_prose(self, parts: list[Part], line: str) -> None:
        opening = _OPENING.match(line)
        if opening and (len(opening.group(1)) < 4 or self._in_list):
            self._close_prose(parts)
            self._fence = _Fence(len(opening.group(1)), opening.group(2))
            parts.append(CodeOpened(opening.group(3).split(" ")[0].strip()))
            return
        if not line.strip():
            self._blank = True
        else:
            if self._begins_new(line):
                self._close_prose(parts)
            self._count_cells(parts, line)
            self._in_list = self._in_list or bool(_LIST_ITEM.match(line))
            self._blank = False
        self._open += line + "\n"
        if len(self._open) > HARD_CAP:
            self._cut(parts)

    def _count_cells(self, parts: list[Part], line: str) -> None:
        """`line` comes next: where it is one row too many, what stands before it is closed."""
        above = "" if self._blank else self._open[self._open.rfind("\n", 0, -1) + 1 :]
        if head := _table_head(f"{above}{line}\n"):
            self._table, self._cells = head, 0
        elif self._blank:
            self._table = ""
        self._cells += line.count("|")
        if self._table and self._cells > MOST_CELLS:
            parts.append(Prose(self._open))
            self._open, self._cells = self._table, line.count("|")

    def _begins_new(self, line: str) -> bool:
        """Whether `line` cannot change how the open text before it is read."""
        if line[0] in " \t":
            return False
        if _LIST_ITEM.match(line):
            return len(self._open) > SOFT_CAP if self._in_list else self._blank
        return self._blank or bool(_HEADING.match(line))

    def _close_prose(self, parts: list[Part]) -> None:
        if self._open.strip():
            parts.append(Prose(self._open))
        self._open, self._table, self._blank, self._in_list = "", "", False, False

    def _cut(self, parts: list[Part]) -> None:
        """Close the open end though it may go on, leaving the beginning of its last line or word."""
        whole = self._open + self._line
        head = _table_head(whole)
        start, before = 0, ""
        while len(before) + len(whole) - start > HARD_CAP:
            end = start + HARD_CAP - len(before)
            middle = start + HARD_CAP // 2
            at = max(whole.rfind("\n", middle, end), whole.rfind(" ", middle, end) if not head else -1) + 1
            at = at if at > middle else end
            parts.append(Prose(before + whole[start:at]))
            start, before = at, head
        lines, newline, self._line = (before + whole[start:]).rpartition("\n")
        self._open = lines + newline

    def _tell_code(self, parts: list[Part], line: str) -> None:
        """Tell what was not told of the current line, without the indentation of its fence."""
        assert self._fence is not None
        indent = min(self._fence.indent, len(line) - len(line.lstrip(" ")))
        told = max(self._line_told, indent)
        if len(line) > told:
            parts.append(Code(line[told:]))
        self._line_told = len(line)

    def _closes(self, line: str) -> bool:
        assert self._fence is not None
        mark = line.strip()
        return len(mark) >= len(self._fence.marks) and not mark.strip(self._fence.marks[0])

    def _dedented(self, line: str) -> str:
        """Text after an indented fence belongs to its list item: its indentation would make it code."""
        indent = len(line) - len(line.lstrip(" "))
        if line.strip() and indent == 0:
            self._dedent = 0
        return line[min(indent, self._dedent) :]


def _table_head(text: str) -> str:
    """The first two lines where `text` is a table, else nothing."""
    head, _, rest = text.partition("\n")
    rule, newline, _ = rest.partition("\n")
    is_table = "|" in head and newline and "-" in rule and _TABLE_RULE.match(rule)
    return f"{head}\n{rule}\n" if is_table and len(head) + len(rule) < SOFT_CAP else ""
