"""The schemes: contrast computed from the tokens, and following or choosing one."""

import gc
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QScrollArea, QWidget

from weighbridge.base.settings import SettingsStore
from weighbridge.ui.glyph_files import GlyphFiles
from weighbridge.ui.theme import Theme
from weighbridge.ui.tokens import DARK, LIGHT

TEXTS = [(text, surface) for text in ("text", "dim", "accent", "no") for surface in ("window", "panel")] + [
    ("text", "accent_surface"),
    ("accent", "accent_surface"),
    ("dim", "track"),
    ("dim", "unknown_surface"),
    ("tight", "accent_surface"),
    *((text, "accent_surface") for text in ("dim", "no", "fits", "partial", "unknown")),
    *((verdict, surface) for verdict in ("fits", "tight", "partial") for surface in ("window", "panel")),
    ("text", "track"),
    ("on_accent", "accent"),
    ("on_accent", "accent_pressed"),
    *((verdict, f"{verdict}_surface") for verdict in ("fits", "tight", "partial", "no", "unknown")),
]
PARTS = ("weights", "kv", "state", "compute", "engine", "others", "no")


def luminance(colour):
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_formula_itself():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=lambda tokens: tokens.name)
@pytest.mark.parametrize(("text", "surface"), TEXTS)
def test_texts_can_be_read(tokens, text, surface):
    assert contrast(getattr(tokens, text), getattr(tokens, surface)) >= 4.5


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=lambda tokens: tokens.name)
@pytest.mark.parametrize("part", PARTS)
def test_parts_of_a_bar_stand_out_from_the_panel(tokens, part):
    assert contrast(getattr(tokens, part), tokens.panel) >= 3


def test_a_choice_is_taken_and_remembered(qapp, tmp_path):
    store = SettingsStore(tmp_path / "settings.toml")
    theme = Theme(qapp, store)
    for choice, tokens in (("dark", DARK), ("light", LIGHT)):
        theme.choose(choice)
        assert theme.tokens == tokens
        assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(tokens.window)
    assert SettingsStore(tmp_path / "settings.toml").value.theme == "light"


def test_a_part_in_sight_changes_at_once_and_another_once_it_is_seen(qtbot, qapp, tmp_path):
    theme = Theme(qapp, SettingsStore(tmp_path / "settings.toml"))
    theme.choose("light")
    shown, hidden = QWidget(), QWidget()
    for part in (shown, hidden):
        qtbot.addWidget(part)
    shown.show()
    theme.dress(shown, hidden)
    theme.choose("dark")
    assert shown.styleSheet() == theme.sheets.pages
    assert hidden.styleSheet() != theme.sheets.pages
    hidden.show()
    assert hidden.styleSheet() == theme.sheets.pages


def test_a_message_out_of_sight_changes_once_it_is_scrolled_to(qtbot, qapp, tmp_path):
    theme = Theme(qapp, SettingsStore(tmp_path / "settings.toml"))
    theme.choose("light")
    area, inner, far = QScrollArea(), QWidget(), QWidget()
    qtbot.addWidget(area)
    inner.setFixedSize(100, 2000)
    far.setParent(inner)
    far.setGeometry(0, 1900, 100, 100)
    area.setWidget(inner)
    area.resize(120, 200)
    area.show()
    theme.dress(far, as_message=True)
    theme.choose("dark")
    assert far.styleSheet() != theme.sheets.messages
    area.verticalScrollBar().setValue(2000)
    qtbot.waitUntil(lambda: far.styleSheet() == theme.sheets.messages)


def test_glyphs_stay_in_their_folder_and_are_written_anew_where_damaged(tmp_path):
    first = GlyphFiles(tmp_path / "glyphs").addresses(LIGHT)
    assert {Path(address).parent for address in first.values()} == {tmp_path / "glyphs"}
    whole = Path(first["down_glyph"]).read_text("utf-8")
    Path(first["down_glyph"]).write_bytes(b"\xff")
    assert GlyphFiles(tmp_path / "glyphs").addresses(LIGHT) == first
    assert Path(first["down_glyph"]).read_text("utf-8") == whole


@pytest.mark.parametrize("name", ["file/glyphs", 'a "quoted" folder', "a\nline", "\udcff"])
def test_without_a_folder_that_can_be_used_glyphs_are_temporary(tmp_path, name):
    (tmp_path / "file").write_text("")
    files = GlyphFiles(tmp_path / name)
    addresses = files.addresses(LIGHT)
    assert all(Path(address).is_file() for address in addresses.values())
    folder = Path(addresses["down_glyph"]).parent
    del files
    gc.collect()
    assert not folder.exists()
