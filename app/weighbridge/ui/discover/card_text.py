"""A model's card as plain Markdown: without what is only for the Hub's page. No Qt here.

Cards are written by strangers, in Markdown mixed with HTML. Tags are taken out and their text stays; pictures are named
in one word, for none is fetched; code is left as it is.
"""

from __future__ import annotations

import re

MOST_CHARACTERS = 200_000
_FRONT = re.compile(r"\A\ufeff?\s*---\s*\n.{0,200000}?\n---\s*(?:\n|\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"</?(?P<name>[A-Za-z][A-Za-z0-9]{0,15})(?P<rest>\s[^<>]{0,2000})?/?>")
_HREF = re.compile(r"""href\s*=\s*["']?(https?://[^\s"'<>]{1,1000})""", re.IGNORECASE)
_HEADINGS = {f"h{level}": f"\n{'#' * level} " for level in range(1, 7)}
_LINES = frozenset({"br", "p", "div", "li", "tr", "table", "ul", "ol", "details", "summary", "center", "hr"})
_UNSEEN = frozenset({"script", "style"})
_TAGS = (
    _LINES
    | _UNSEEN
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
    body = _FRONT.sub("", card[:MOST_CHARACTERS], count=1)
    kept: list[str] = []
    prose: list[str] = []
    fenced = False
    for line in body.split("\n"):
        if _FENCE.match(line):
            kept += [*_without_tags(prose), line] if not fenced else [line]
            prose, fenced = [], not fenced
        elif fenced:
            kept.append(line)
        else:
            prose.append(line)
    return "\n".join([*kept, *_without_tags(prose)]).strip()


def _without_tags(lines: list[str]) -> list[str]:
    if not lines:
        return []
    text = _COMMENT.sub("", "\n".join(lines))
    for name in _UNSEEN:
        text = re.sub(rf"<{name}\b[^<>]*>.*?</{name}\s*>", "", text, flags=re.DOTALL | re.IGNORECASE)
    open_links: list[str] = []
    shown = _TAG.sub(lambda tag: _told(tag, open_links), text)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", shown)).split("\n")


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
