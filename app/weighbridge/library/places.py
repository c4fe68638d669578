"""Where models are looked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.paths import Paths, user_path
from weighbridge.base.settings import Settings
from weighbridge.hub.layout import Layout, cache_folder
from weighbridge.library.model import ADDED, OWN
from weighbridge.library.shelves.hf_cache import HF_CACHE
from weighbridge.library.shelves.known import PROGRAMS
from weighbridge.library.shelves.program import Where


@dataclass(frozen=True)
class Root:
    """A place where models are looked for: a folder, or a single file. Its models have `source`."""

    path: Path
    source: str = OWN


def as_root(place: Root | Path) -> Root:
    """`place`; a mere path is one of our own."""
    return place if isinstance(place, Root) else Root(place)


def library_roots(paths: Paths, settings: Settings, where: Where) -> tuple[Root, ...]:
    """Our own folder and the one where downloads go, the user's, then those of other programs; each path once.

    A model that lies in several of them is that of the first. Where the user has made another program's folder ours,
    what lies there is that program's all the same: it is not ours to remove.
    """
    downloads = downloads_folder(paths, settings, where.environment)
    found = [
        Root(paths.models, _whose(paths.models, where)),
        *([Root(downloads, HF_CACHE.id)] if downloads != paths.models else []),
    ]
    found += [Root(user_path(told), ADDED) for told in (*settings.model_folders, *settings.model_files)]
    if settings.other_programs:
        found += [Root(folder, program.id) for program in PROGRAMS for folder in program.folders(where)]
    return tuple(root for place, root in enumerate(found) if root.path not in {each.path for each in found[:place]})


def _whose(folder: Path, where: Where) -> str:
    """The source of what lies in our own `folder`: that of the program whose it is, too, or is within."""
    real = Path(os.path.realpath(folder))
    for program in PROGRAMS:
        if any(real.is_relative_to(os.path.realpath(place)) for place in program.folders(where)):
            return program.id
    return OWN


def downloads_folder(paths: Paths, settings: Settings, environment: Mapping[str, str]) -> Path:
    """Where downloads go, as set: our own folder, or Hugging Face's cache."""
    in_cache = Layout(settings.download_target) is Layout.CACHE
    return cache_folder(environment, Path.home()) if in_cache else paths.models
