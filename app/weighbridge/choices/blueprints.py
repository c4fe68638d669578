"""The digests of models, made once for each file and each way its header was read."""

from __future__ import annotations

import threading

from weighbridge.estimates.blueprint import Blueprint, blueprint
from weighbridge.formats.model import ModelInfo
from weighbridge.library.model import Model


class Blueprints:
    """Remembers the digest of each model that it was asked for. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[ModelInfo, int, Blueprint]] = {}

    def of(self, model: Model) -> Blueprint | None:
        """The digest of `model`; None where nothing is known of it. A new header makes a new digest."""
        info = model.info
        if info is None:
            return None
        with self._lock:
            known = self._known.get(model.id)
        if known is not None and known[0] is info and known[1] == model.size_bytes:
            return known[2]
        made = blueprint(info, model.size_bytes)
        with self._lock:
            self._known[model.id] = (info, model.size_bytes, made)
        return made
