"""A model's card as plain Markdown: without what is only for the Hub's page. No Qt here.

Cards are written by strangers, in Markdown mixed with HTML. Tags are taken out and their text stays; pictures are named
in one word, for none is fetched; code is left as it is. What would take seconds to draw is cut, and ends in a sign
for that.
"""

from __future__ import annotations

import re

MOST_CHARACTERS = 200_000
MOST_LINES, MOST_IN_LINE = 3_000, 10_000
MOST_CELLS = 1_500
"""Of all tables together: with each, all of them are laid out anew."""

CUT = "…"
_DASHES = "---"
_COMMENT = re.compile(r"<!--"), re.compile(r"-->")
_TAG = re.compile(r"</?(?P<name>[A-Za-z][A-Za-z0-9]{0,15})(?P<rest>\s[^<>]{0,2000})?/?>")
_HREF = re.compile(r"""href\s*=\s*["']?(https?://[^\s"'<>]{1,1000})""", re.IGNORECASE)
_HEADINGS = {f"h{level}": f"\n{'#' * level} " for level in range(1, 7)}
_LINES = frozenset({"br", "p", "div", "li", "tr", "table", "ul", "ol", "details", "summary", "center", "hr"})
_UNSEEN = tuple(
    (re.compile(rf"<{name}\b", re.IGNORECASE), re.compile(rf"</{name}[ ]{{0,9}}>", re.IGNORECASE))
    for name in ("script", "style")
)
_TAGS = (
    _LINES
    | set(_HEADINGS)
    | {"a", "b", "i", "u", "em", "strong", "span", "font", "sub", "sup", "small", "code", "kbd", "mark"}
    | {
        "img",
        "picture",
        "source",
        "svg",
        "path",
        "video",
        "iframe",
        "td",
        "th",
        "thead",
        "tbody",
        "section",
        "blockquote",
    }
)
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")


def plain_markdown(card: str) -> str:
    """The card without its head of facts, comments and tags."""
    kept: list[str] = []
    prose: list[str] = []
    fenced = False
    for line in _without_front(card[:MOST_CHARACTERS].split("\n")):
        if _FENCE.match(line):
            kept += [*_without_tags(prose), line] if not fenced else [line]
            prose, fenced = [], not fenced
        elif fenced:
            kept.append(line)
        else:
            prose.append(line)
    return "\n".join(_bounded([*kept, *_without_tags(prose)])).strip()


def _bounded(lines: list[str]) -> list[str]:
    """As many lines, and as much of each, as are drawn in no time."""
    kept: list[str] = []
    cells, fenced = 0, False
    for line in lines[:MOST_LINES]:
        if _FENCE.match(line):
            fenced = not fenced
        in_table = "|" in line and not fenced
        cells += line.count("|") if in_table else 0
        if cells <= MOST_CELLS or not in_table:
            kept.append(line if len(line) <= MOST_IN_LINE else f"{line[:MOST_IN_LINE]}{CUT}")
        elif kept[-1:] != [CUT]:
            kept += ["", CUT]
    return kept if len(lines) <= MOST_LINES or kept[-1:] == [CUT] else [*kept, "", CUT]


def _without_front(lines: list[str]) -> list[str]:
    """Without the facts between two lines of three dashes at the very beginning."""
    first = next((place for place, line in enumerate(lines) if line.strip("\ufeff \t\r")), 0)
    if not lines or lines[first].strip("\ufeff \t\r") != _DASHES:
        return lines
    last = next((place for place in range(first + 1, len(lines)) if lines[place].rstrip() == _DASHES), None)
    return lines if last is None else lines[last + 1 :]


def _without_tags(lines: list[str]) -> list[str]:
    if not lines:
        return []
    text = "\n".join(lines)
    for opening, closing in (_COMMENT, *_UNSEEN):
        text = _cut(text, opening, closing)
    open_links: list[str] = []
    shown = _TAG.sub(lambda tag: _told(tag, open_links), text)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in shown.split("\n"))).split("\n")


def _cut(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    """Without what lies between the two. A text is gone through once, whatever is in it: one pattern for both would
    look for its end anew at each beginning.
    """
    kept, at = [], 0
    while (begin := opening.search(text, at)) and (end := closing.search(text, begin.end())):
        kept.append(text[at : begin.start()])
        at = end.end()
    return "".join((*kept, text[at:]))


def _told(tag: re.Match[str], open_links: list[str]) -> str:
    """What stands for a tag: a new line, the sign of a heading, a link. What is no tag of HTML stays."""
    name, closes = tag["name"].lower(), tag[0].startswith("</")
    if name not in _TAGS:
        return tag[0]
    if name == "a":
        return _link(tag, open_links, closes=closes)
    if name in _HEADINGS:
        return "\n" if closes else _HEADINGS[name]
    return "\n" if name in _LINES else ""


def _link(tag: re.Match[str], open_links: list[str], *, closes: bool) -> str:
    if closes:
        return f"]({address})" if open_links and (address := open_links.pop()) else ""
    found = _HREF.search(tag["rest"] or "")
    open_links.append(found[1] if found else "")
    return "[" if found else ""
