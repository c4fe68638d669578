"""Whether somebody has typed words to search for, or has pasted what names one model. Pure."""

from __future__ import annotations

from weighbridge.base.errors import Refused
from weighbridge.hub.command_lines import is_line
from weighbridge.hub.reference import HOSTS, Reference, parse


def pasted(text: str, hosts: frozenset[str] = HOSTS) -> Reference | None:
    """The model on the Hub that `text` names; None where it is words to search for.

    Raises Refused("hub.reference", text=) for an address or a command that leads to none: a data set, another site.
    """
    try:
        return parse(text, hosts)
    except Refused:
        if _is_meant(text.strip().strip("`<>").strip(), hosts):
            raise
        return None


def _is_meant(text: str, hosts: frozenset[str]) -> bool:
    """Whether it is an address or a command, though of no model."""
    host = text.partition("/")[0].casefold()
    return "://" in text or host in hosts or is_line(text)
