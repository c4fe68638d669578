"""Whose a model is, in words. No Qt here."""

from __future__ import annotations

from weighbridge.base.words import text
from weighbridge.library.model import ADDED
from weighbridge.library.shelves import known


def source_in_words(source: str) -> str:
    """ "Weighbridge", "Added", or the name of the program that brought the model here."""
    return text("Added") if source == ADDED else known.source_in_words(source)
