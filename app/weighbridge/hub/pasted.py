"""Whether somebody has typed words to search for, or has pasted what names one model. Pure."""

from __future__ import annotations

import re

from weighbridge.base.errors import Refused
from weighbridge.hub.reference import HOSTS, Reference, parse

_COMMAND = re.compile(r"(?:hf|huggingface-cli|huggingface-hub)\s+download\b|(?:ollama|weighbridge)\s+(?:run|pull)\b")
_OPTION = re.compile(r"\s(?:-hfr?|--hf-repo)\s")


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
    return "://" in text or host in hosts or bool(_COMMAND.match(text) or _OPTION.search(text))
