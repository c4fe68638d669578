"""Tinted glyphs as files: a style sheet takes images only by address."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QTemporaryDir

from weighbridge.ui.icons import tinted
from weighbridge.ui.tokens import Tokens

_GLYPHS: Mapping[str, tuple[str, str]] = {
    "down_glyph": ("down", "dim"),
    "up_glyph": ("up", "dim"),
    "check_glyph": ("check", "on_accent"),
}


class GlyphFiles:
    """A temporary folder of glyphs, gone with this object."""

    def __init__(self) -> None:
        self._folder = QTemporaryDir()

    def addresses(self, tokens: Tokens) -> dict[str, str]:
        """The file of each glyph in the colours of `tokens`, by the name that the style sheet uses."""
        return {name: self._file(glyph, getattr(tokens, colour)) for name, (glyph, colour) in _GLYPHS.items()}

    def _file(self, glyph: str, colour: str) -> str:
        made = Path(self._folder.path()) / f"{glyph}_{colour[1:]}.svg"
        if not made.exists():
            made.write_text(tinted(glyph, colour), "utf-8")
        return made.as_posix()
