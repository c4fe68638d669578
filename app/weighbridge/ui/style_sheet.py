"""The thin style sheet: what a palette cannot say (radius, lines, padding), by object name and property.

There are two: one for pages and bars, and its first part alone for messages, whose widgets are many: what a widget
costs when it is made, and when the scheme changes, grows with the rules.

Widgets set the property `role`: on QLabel "title", "heading", "dim", "figure", "bad", "warning" or "tag"; on
QPushButton "primary", "quiet", "line", "chip", "address" or "page"; on QFrame "panel", "banner" or "rule"; on a text
"plain", "note" or "bubble".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template

from weighbridge.ui.tokens import Tokens

GLYPH_EMS = 1.05
"""How high a glyph beside text is, in heights of the font."""

_COMMON = """
QToolTip { color: $text; background: $panel; border: 1px solid $line; padding: 4px 8px; }
QFrame[role="panel"] { background: $panel; border: 1px solid $line; border-radius: 8px; }
QLabel { background: transparent; }
QLabel[role="heading"] { font-weight: 600; }
QLabel[role="figure"] { font-weight: 600; }
QLabel[role="dim"] { color: $dim; }
QLabel[role="bad"] { color: $no; font-weight: 600; }
QLabel[role="tag"] { color: $dim; border: 1px solid $line; border-radius: 4px; padding: 1px 6px; }
QFrame[role="rule"] { background: $line; border: none; }

QPushButton { background: $panel; color: $text; border: 1px solid $line; border-radius: 6px; padding: 6px 12px;
  icon-size: $glyph; }
QPushButton:hover { background: $accent_surface; }
QPushButton:focus { border-color: $accent; }
QPushButton:disabled { color: $dim; background: $window; }
QPushButton[role="quiet"] { background: transparent; border-color: transparent; padding: 4px 8px; }
QPushButton[role="quiet"]:hover { background: $accent_surface; }
QPushButton[role="quiet"]:focus { border-color: $accent; }

QPushButton[role="line"] { background: transparent; border: 1px solid transparent; border-radius: 0; color: $dim;
  padding: 4px 0; margin-right: 12px; }
QPushButton[role="line"]:hover { color: $accent; }
QPushButton[role="line"]:focus { border-bottom-color: $accent; }
QPushButton[role="line"]:disabled { color: $others; }

QPlainTextEdit, QTextEdit { background: $panel; color: $text; border: 1px solid $line; border-radius: 6px;
  padding: 5px 8px; selection-background-color: $accent; selection-color: $on_accent;
  placeholder-text-color: $dim; }
QPlainTextEdit:focus, QTextEdit:focus { border-color: $accent; }
*[role="plain"] { background: transparent; border: none; padding: 0; }
QTextEdit[role="bubble"] { background: $accent_surface; border: none; border-radius: 8px; padding: 8px 12px; }

QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: 10px; }
QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: $others; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }

QMenu { background: $panel; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: $accent_surface; color: $text; }
QMenu::item:disabled { color: $dim; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
"""

_PAGES = """
QFrame[role="banner"] { background: $accent_surface; border: 1px solid $accent; border-radius: 8px; }
QFrame#palette { border-color: $others; }
QFrame#topBar { background: $panel; border: none; border-bottom: 1px solid $line; }
QFrame#sidebar { background: $panel; border: none; border-right: 1px solid $line; }
QLabel[role="warning"] { color: $tight; }
QLabel[role="title"] { font-size: large; font-weight: 600; }

QPushButton[role="primary"] { background: $accent; color: $on_accent; border-color: $accent; font-weight: 600; }
QPushButton[role="primary"]:hover { background: $accent_pressed; border-color: $accent_pressed; }
QPushButton[role="primary"]:focus { border: 2px solid $text; padding: 5px 11px; }
QPushButton[role="primary"]:disabled { background: $unknown_surface; color: $dim; border-color: $line; }
QPushButton[role="chip"] { border-radius: $pill; padding: 3px 12px; }
QPushButton[role="chip"]:checked { background: $accent_surface; color: $accent; border-color: $accent; }
QPushButton[role="chip"]:checked:focus { border-width: 2px; padding: 2px 11px; }
QPushButton#switcher { font-weight: 600; padding-right: $room; }
QPushButton::menu-indicator { image: url("$down_glyph"); width: $glyph; height: $glyph; right: 8px;
  subcontrol-origin: padding; subcontrol-position: right center; }
QPushButton[role="address"] { background: transparent; border: 1px solid transparent; padding: 2px 0;
  font-weight: 600; text-align: left; }
QPushButton[role="address"]:hover { color: $accent; }
QPushButton[role="address"]:focus { border-bottom-color: $accent; border-radius: 0; }
QPushButton[role="address"]:disabled { color: $dim; }
QPushButton[role="page"] { background: transparent; border: 1px solid transparent; color: $dim; text-align: left;
  padding: 8px 10px; icon-size: $icon; }
QPushButton[role="page"]:hover { color: $text; }
QPushButton[role="page"]:focus { border-color: $accent; }
QPushButton[role="page"]:checked { background: $accent_surface; color: $accent; font-weight: 600; }

QLineEdit, QAbstractSpinBox, QComboBox { background: $panel; color: $text;
  border: 1px solid $line; border-radius: 6px; padding: 5px 8px; selection-background-color: $accent;
  selection-color: $on_accent;
  placeholder-text-color: $dim; }
QLineEdit[role="search"] { padding-left: 0; }
QLineEdit[role="note"] { background: transparent; border: none; border-bottom: 1px solid transparent; border-radius: 0;
  padding: 3px 0; }
QLineEdit[role="note"]:hover { border-bottom-color: $line; }
QLineEdit[role="note"]:focus { border-bottom-color: $accent; }
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus { border-color: $accent; }
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled { color: $dim; background: $window; }
QAbstractSpinBox QLineEdit, QComboBox QLineEdit { border: none; padding: 0; background: transparent; }
QComboBox { padding-right: $room; }
QComboBox::drop-down { border: none; width: $room; }
QComboBox::down-arrow { image: url("$down_glyph"); width: $glyph; height: $glyph; }
QComboBox QAbstractItemView { background: $panel; border: 1px solid $line; }
QAbstractSpinBox { padding: 4px $room 4px 0; }
QAbstractSpinBox::up-button { border: none; width: $room; subcontrol-position: top right; margin: 3px 2px 0 0; }
QAbstractSpinBox::down-button { border: none; width: $room; subcontrol-position: bottom right; margin: 0 2px 3px 0; }
QAbstractSpinBox::up-arrow { image: url("$up_glyph"); width: $small; height: $small; }
QAbstractSpinBox::down-arrow { image: url("$down_glyph"); width: $small; height: $small; }

QCheckBox::indicator { width: $box; height: $box; border: 1px solid $dim; border-radius: 4px; background: $panel; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url("$check_glyph"); }
QCheckBox::indicator:focus { border: 2px solid $text; width: $box_focused; height: $box_focused; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $line; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: $accent; }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -5px 0; border-radius: 7px; background: $accent; }
QSlider::handle:horizontal:focus { border: 2px solid $text; width: 10px; height: 10px; }

QTableView { background: $panel; border: none; border-radius: 8px; outline: none; selection-color: $text;
  selection-background-color: $accent_surface; gridline-color: $line; }
QTableView::item { border-bottom: 1px solid $line; padding: 0 8px; }
QTableView::item:selected { background: $accent_surface; color: $text; }
QTreeView { background: $panel; border: none; border-radius: 8px; outline: none; selection-color: $text;
  selection-background-color: $accent_surface; }
QTreeView::item { border-bottom: 1px solid $line; padding: 0 8px; }
QTreeView::item:selected, QTreeView::branch:selected { background: $accent_surface; color: $text; }
QTreeView::branch { border-bottom: 1px solid $line; }
QTreeView::branch:has-children:closed { image: url("$right_glyph"); }
QTreeView::branch:has-children:open { image: url("$down_glyph"); }
QHeaderView { background: $panel; border-radius: 8px; }
QHeaderView::section { background: $panel; color: $dim; border: none; border-bottom: 1px solid $line;
  padding: 8px 11px; }
QHeaderView::up-arrow { image: url("$up_glyph"); width: $small; height: $small; subcontrol-origin: padding;
  subcontrol-position: top center; }
QHeaderView::down-arrow { image: url("$down_glyph"); width: $small; height: $small; subcontrol-origin: padding;
  subcontrol-position: top center; }
QListView { background: $panel; border: none; outline: none; }
QListView::item { padding: 8px 10px; border-radius: 6px; }
QListView::item:selected { background: $accent_surface; color: $text; }

QProgressBar { background: $track; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QScrollArea { background: transparent; border: none; }
QScrollArea > QWidget > QWidget#scrolled { background: transparent; }
QSplitter::handle { background: transparent; }
"""


@dataclass(frozen=True)
class Sheets:
    """The style sheets of one scheme."""

    pages: str
    messages: str


def style_sheets(tokens: Tokens, glyphs: Mapping[str, str], em: int) -> Sheets:
    """The sheets in the colours of `tokens`; `glyphs` are the files of their images, `em` is the height of the font."""
    sizes = {
        "small": round(em * 0.7),
        "glyph": round(em * GLYPH_EMS),
        "box": round(em * 0.95),
        "box_focused": round(em * 0.95) - 2,
        "room": round(em * 1.35),
        "icon": round(em * 1.3),
        "pill": (em + 8) // 2,
    }
    values = {**vars(tokens), **glyphs, **{name: f"{size}px" for name, size in sizes.items()}}
    common = Template(_COMMON).substitute(values)
    return Sheets(pages=common + Template(_PAGES).substitute(values), messages=common)
