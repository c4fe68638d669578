"""Where Weighbridge keeps things. Built once at the start and passed on."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True)
class Paths:
    """The folders in use; none is made before something is written to it."""

    data: Path
    config: Path
    models: Path

    @property
    def database(self) -> Path:
        """Chats and, later, downloads and measured speeds."""
        return self.data / "weighbridge.sqlite3"

    @property
    def headers(self) -> Path:
        """What the headers of models say, kept so that none is read twice. Deleting it costs time alone."""
        return self.data / "headers"

    @property
    def listing(self) -> Path:
        """The last list of models, shown at the next start until the folders were looked at. Deleting it costs time."""
        return self.data / "listing.kept"

    @property
    def glimpse(self) -> Path:
        """What the table of models said last, shown at the next start before all else. Deleting it costs time."""
        return self.data / "glimpse.json"

    @property
    def settings(self) -> Path:
        """The settings, TOML."""
        return self.config / "settings.toml"

    @property
    def described_programs(self) -> Path:
        """Server programs that the user has described as engines, TOML."""
        return self.config / "programs.toml"

    @property
    def log(self) -> Path:
        """The program's own log."""
        return self.data / "weighbridge.log"


def user_path(text: str) -> Path:
    """`text` as a path, with "~" for the home folder; a "~name" of nobody stays as it is."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def default_paths() -> Paths:
    """The platform's folders; `WEIGHBRIDGE_HOME` moves all of them, `WEIGHBRIDGE_MODELS` the models alone."""
    home = os.environ.get("WEIGHBRIDGE_HOME")
    data = Path(home) / "data" if home else platformdirs.user_data_path("weighbridge", appauthor=False)
    config = Path(home) / "config" if home else platformdirs.user_config_path("weighbridge", appauthor=False)
    models = os.environ.get("WEIGHBRIDGE_MODELS")
    return Paths(data=data, config=config, models=Path(models) if models else data / "models")
