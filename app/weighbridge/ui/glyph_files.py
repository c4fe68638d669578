"""Tinted glyphs as files: a style sheet takes images only by address."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QTemporaryDir

from weighbridge.ui.icons import tinted
from weighbridge.ui.tokens import Tokens

_GLYPHS: Mapping[str, tuple[str, str]] = {
    "down_glyph": ("down", "dim"),
    "right_glyph": ("right", "dim"),
    "up_glyph": ("up", "dim"),
    "check_glyph": ("check", "on_accent"),
}


class GlyphFiles:
    """The glyphs in `folder`, which stay for the next start: a program that is killed takes nothing away.

    Without a folder, or where it cannot be written to or named in a style sheet, they are in a temporary one, gone
    with this object.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder if folder is not None and _can_be_quoted(folder) else None
        self._temporary: QTemporaryDir | None = None

    def addresses(self, tokens: Tokens) -> dict[str, str]:
        """The file of each glyph in the colours of `tokens`, by the name that the style sheet uses."""
        return {name: self._file(glyph, getattr(tokens, colour)) for name, (glyph, colour) in _GLYPHS.items()}

    def _file(self, glyph: str, colour: str) -> str:
        name, drawn = f"{glyph}_{colour[1:]}.svg", tinted(glyph, colour)
        try:
            if self._folder is not None:
                return _written(self._folder / name, drawn)
        except OSError:
            self._folder = None
        self._temporary = self._temporary or QTemporaryDir()
        return _written(Path(self._temporary.path()) / name, drawn)


def _can_be_quoted(folder: Path) -> bool:
    shown = folder.as_posix()
    return shown.isprintable() and not {'"', "\\"} & set(shown)


def _written(file: Path, text: str) -> str:
    """The address of `file`, which holds `text` from now on."""
    if not file.is_file() or file.read_text("utf-8", "replace") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return file.as_posix()
