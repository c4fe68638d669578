"""Other quantisations of one model among those that are here. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from weighbridge.formats.family_names import family_name
from weighbridge.library.model import Model


def siblings(model: Model, models: Iterable[Model]) -> tuple[Model, ...]:
    """Those of `models` that are the same model in fewer bytes, the largest first.

    The same: of as many layers, and called alike but for quantisation and format.
    """
    family = _family(model)
    alike = [one for one in models if one.size_bytes < model.size_bytes and one.problem is None]
    return tuple(sorted((one for one in alike if _family(one) == family), key=lambda one: -one.size_bytes))


def _family(model: Model) -> tuple[str, int | None]:
    return family_name(model.title), model.info.layers if model.info else None
