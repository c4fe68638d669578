"""How far the slider of the context goes. No Qt here."""

from __future__ import annotations

from collections.abc import Iterable

from weighbridge.library.model import Model


def longest_stated(chosen: Model | None, longest: int | None) -> int | None:
    """The longest context, in tokens, that the chosen model was trained for; where that is not stated, `longest`."""
    own = chosen.info.context_length if chosen and chosen.info else None
    return own or longest


def longest_attended(models: Iterable[Model]) -> int | None:
    """The longest context, in tokens, of all that attend to each token. Those that keep only a state state what they
    like, for it costs them nothing.
    """
    attending = (model.info.context_length or 0 for model in models if model.info and any(model.info.heads or ()))
    return max(attending, default=0) or None
