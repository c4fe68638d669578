"""How a command ends that has told by itself why it failed."""

from __future__ import annotations


class Told(Exception):
    """The command has failed, and has said why: the exit code is 1, and nothing more is said."""
