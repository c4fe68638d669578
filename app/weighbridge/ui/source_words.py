"""Whose a model is, in words. No Qt here."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark, text
from weighbridge.library.model import ADDED, OWN

_OURS: Mapping[str, str] = {OWN: "Weighbridge", ADDED: mark("Added")}


def source_in_words(source: str) -> str:
    """ "Weighbridge", "Added", or the name of the program that brought the model here."""
    return text(_OURS[source]) if source in _OURS else source
