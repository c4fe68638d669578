"""What libraries of the Hub read from the environment when they are imported, set once at the program's start."""

from __future__ import annotations

from collections.abc import MutableMapping

QUIET = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_SYMLINKS_WARNING": "1",
    "HF_HUB_VERBOSITY": "error",
    "HF_XET_TELEMETRY_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}
"""No telemetry, and nothing on stderr: a window may have none, and a Hub's warnings are written by strangers."""

SMALL = {
    "HF_XET_RECONSTRUCTION_DOWNLOAD_BUFFER_SIZE": "32000000",
    "HF_XET_RECONSTRUCTION_DOWNLOAD_BUFFER_PERFILE_SIZE": "16000000",
    "HF_XET_RECONSTRUCTION_DOWNLOAD_BUFFER_LIMIT": "64000000",
    "HF_XET_RECONSTRUCTION_MIN_PREFETCH_BUFFER": "16000000",
    "HF_XET_CLIENT_CONNECT_TIMEOUT": "10s",
    "HF_XET_CLIENT_READ_TIMEOUT": "10s",
    "HF_XET_CLIENT_RETRY_MAX_ATTEMPTS": "1",
    "HF_XET_CLIENT_RETRY_MAX_DURATION": "10s",
}
"""Xet's own buffers take up to 6 GB, and it waits for minutes before it tells of a fault; we go on from the last byte
at once. What the user has set stands."""


def prepare(environment: MutableMapping[str, str]) -> None:
    """Put both into `environment`, before anything of the Hub is imported."""
    environment.update(QUIET)
    for name, value in SMALL.items():
        environment.setdefault(name, value)
