"""Other quantisations of one model among those that are here. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from weighbridge.formats.quant import without_quant
from weighbridge.library.model import Model

_SEPARATORS = re.compile(r"[-._ ]+")
_FORMATS = re.compile(r"(?:^|-)(?:gguf|mlx|exl[23]|[\d-]+bpw|[2-8]bit|awq|gptq|fp8|imatrix|i1)(?=$|-)")


def siblings(model: Model, models: Iterable[Model]) -> tuple[Model, ...]:
    """Those of `models` that are the same model in fewer bytes, the largest first.

    The same: of as many layers, and called alike but for quantisation and format.
    """
    family = _family(model)
    alike = [one for one in models if one.size_bytes < model.size_bytes and one.problem is None]
    return tuple(sorted((one for one in alike if _family(one) == family), key=lambda one: -one.size_bytes))


def _family(model: Model) -> tuple[str, int | None]:
    name = _SEPARATORS.sub("-", without_quant(model.title).casefold())
    return _FORMATS.sub("", name).strip("-"), model.info.layers if model.info else None
