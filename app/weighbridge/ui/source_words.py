"""Whose a model is, in words. No Qt here."""

from __future__ import annotations

from weighbridge.base.words import text
from weighbridge.library.model import ADDED, Model
from weighbridge.library.shelves import known


def source_in_words(source: str) -> str:
    """ "Weighbridge", "Added", or the name of the program that brought the model here."""
    return text("Added") if source == ADDED else known.source_in_words(source)


def whose_in_words(model: Model) -> str:
    """The same of a model; of one that is served elsewhere, its endpoint by the name that people know it by."""
    return source_in_words(model.source) if model.remote is None else model.remote.endpoint


def format_in_words(model: Model) -> str:
    """ "GGUF"; "served" for what is no file here."""
    return model.format.upper() if model.remote is None else text("served")
