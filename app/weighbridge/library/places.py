"""Where models are looked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from weighbridge.base.paths import Paths, user_path
from weighbridge.base.settings import Settings
from weighbridge.hub.layout import Layout, cache_folder


def library_folders(paths: Paths, settings: Settings, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Our own folder, the one where downloads go, then those of the settings; each once."""
    found = (paths.models, downloads_folder(paths, settings, environment), *map(user_path, settings.model_folders))
    return tuple(dict.fromkeys(found))


def downloads_folder(paths: Paths, settings: Settings, environment: Mapping[str, str]) -> Path:
    """Where downloads go, as set: our own folder, or Hugging Face's cache."""
    in_cache = Layout(settings.download_target) is Layout.CACHE
    return cache_folder(environment, Path.home()) if in_cache else paths.models
