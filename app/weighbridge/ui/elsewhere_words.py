"""What is said of a model that an endpoint serves, and how far what is asked of it goes. No Qt here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weighbridge.base.units import tokens
from weighbridge.base.words import mark, text
from weighbridge.formats.architectures import Kind
from weighbridge.library.model import Model, Reach, Remote

_REACHES: Mapping[Reach, tuple[str, str, str]] = {
    Reach.HERE: ("fits", mark("On this computer"), "check"),
    Reach.NETWORK: ("tight", mark("Leaves this computer, stays in your network"), "network"),
    Reach.INTERNET: ("partial", mark("Leaves this computer"), "network"),
}
_KINDS: Mapping[Kind, str] = {
    Kind.CHAT: mark("for chat"),
    Kind.EMBEDDING: mark("for embeddings"),
    Kind.RERANK: mark("for reranking"),
    Kind.IMAGE: mark("for pictures"),
    Kind.AUDIO: mark("for sound"),
}


def reach_badge(reach: Reach) -> tuple[str, str, str]:
    """The kind of a badge, its words and its icon: how far what is asked goes."""
    kind, words, glyph = _REACHES[reach]
    return kind, text(words), glyph


def reach_in_row(reach: Reach) -> str:
    """The words of that badge where room is dear: in a row."""
    return text("Leaves to your network") if reach is Reach.NETWORK else reach_badge(reach)[1]


def leaving_in_words(model: Model) -> str:
    """ "leaves this computer", beside the name of a model in a list; "" where what is asked of it stays here."""
    return text("leaves this computer") if model.leaves else ""


def where_it_goes(remote: Remote) -> str:
    """Who gets what is asked of it, and how far away that is: a sentence."""
    if remote.reach is Reach.HERE:
        return text("{endpoint} answers, on this computer.", endpoint=remote.endpoint)
    if remote.reach is Reach.NETWORK:
        return text(
            "What you write leaves this computer: {endpoint} answers, in your network.", endpoint=remote.endpoint
        )
    return text("What you write leaves this computer: {endpoint} answers.", endpoint=remote.endpoint)


def served_in_words(remote: Remote) -> str:
    """ "Called qwen3:8b there, for chat, 32,768 tokens of context, takes pictures.", and what is not told."""
    told, kind = [text("Called {name} there", name=remote.name)], _KINDS.get(remote.kind or Kind.UNKNOWN)
    if kind is not None:
        told.append(text(kind))
    if remote.context is not None:
        told.append(text("{tokens} of context", tokens=tokens(remote.context)))
    if remote.sees is not None:
        told.append(text("takes pictures") if remote.sees else text("takes no pictures"))
    said = f"{', '.join(told)}."
    untold = text("How much context it has is not told.") if remote.context is None else ""
    return " ".join(filter(None, (said, untold)))


def endpoint_titles(remotes: Iterable[Remote], taken: Iterable[str]) -> dict[str, str]:
    """What endpoints are called beside other sources, which are called as `taken` says: by their titles, each once."""
    titles, others = sorted({remote.endpoint for remote in remotes}, key=str.casefold), set(taken)
    return {title: text("{title} (server)", title=title) if title in others else title for title in titles}
