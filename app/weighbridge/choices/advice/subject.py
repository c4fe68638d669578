"""What is to be run, and for whom: what an engine is judged by. Values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weighbridge.choices.advice.answers import OPEN, Need
from weighbridge.estimates.fit import Fit
from weighbridge_engines.api import FileFacts


@dataclass(frozen=True)
class Subject:
    """A file, or files of a format (OPEN: of any), for so many `users` at once. `facts` are what its header tells, None
    where no file is meant; `fits` is how it stands here by the ids of engines, without those of which that is unknown.
    """

    format: str = OPEN
    facts: FileFacts | None = None
    fits: Mapping[str, Fit] = field(default_factory=dict)
    users: int = 1
    needs: frozenset[Need] = frozenset()
