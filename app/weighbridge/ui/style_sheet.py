"""The thin style sheet: what a palette cannot say (radius, lines, padding), by object name and property.

Properties that pages set: `role` on QLabel ("title", "heading", "dim", "figure", "mono"), on QPushButton ("primary",
"quiet", "danger") and on QFrame ("panel", "bar", "separator").
"""

from __future__ import annotations

from string import Template

from weighbridge.ui.tokens import Tokens

_SHEET = Template("""
QToolTip { color: $text; background: $panel; border: 1px solid $line; padding: 4px 8px; }
QFrame[role="panel"] { background: $panel; border: 1px solid $line; border-radius: 8px; }
QFrame[role="separator"] { background: $line; border: none; max-height: 1px; min-height: 1px; }
QFrame#topBar { background: $panel; border: none; border-bottom: 1px solid $line; }
QFrame#sidebar { background: $panel; border: none; border-right: 1px solid $line; }
QLabel { background: transparent; }
QLabel[role="title"] { font-size: large; font-weight: 600; }
QLabel[role="heading"] { font-weight: 600; }
QLabel[role="dim"] { color: $dim; }
QLabel[role="figure"] { font-weight: 600; }
QLabel[role="bad"] { color: $no; font-weight: 600; }

QPushButton { background: $panel; color: $text; border: 1px solid $line; border-radius: 6px; padding: 6px 12px; }
QPushButton:hover { background: $accent_surface; }
QPushButton:focus { border-color: $accent; }
QPushButton:disabled { color: $dim; background: $window; }
QPushButton[role="primary"] { background: $accent; color: $on_accent; border-color: $accent; font-weight: 600; }
QPushButton[role="primary"]:hover { background: $accent_pressed; border-color: $accent_pressed; }
QPushButton[role="primary"]:focus { border: 2px solid $text; padding: 5px 11px; }
QPushButton[role="primary"]:disabled { background: $unknown_surface; color: $dim; border-color: $line; }
QPushButton[role="quiet"] { background: transparent; border-color: transparent; padding: 4px 8px; }
QPushButton[role="quiet"]:hover { background: $accent_surface; }
QPushButton[role="quiet"]:focus { border-color: $accent; }
QPushButton[role="page"] { background: transparent; border: 1px solid transparent; color: $dim; text-align: left;
  padding: 8px 10px; }
QPushButton[role="page"]:hover { color: $text; }
QPushButton[role="page"]:focus { border-color: $accent; }
QPushButton[role="page"]:checked { background: $accent_surface; color: $accent; font-weight: 600; }

QLineEdit, QSpinBox, QComboBox, QPlainTextEdit, QTextEdit { background: $panel; color: $text; border: 1px solid $line;
  border-radius: 6px; padding: 5px 8px; selection-background-color: $accent; selection-color: $on_accent; }
QLineEdit:focus, QSpinBox:focus, QComboBox:focus, QPlainTextEdit:focus, QTextEdit:focus { border-color: $accent; }

QTableView { background: $panel; border: none; border-radius: 8px; outline: none; selection-color: $text;
  selection-background-color: $accent_surface; gridline-color: $line; }
QTableView::item { border-bottom: 1px solid $line; padding: 0 10px; }
QTableView::item:selected { background: $accent_surface; color: $text; }
QHeaderView { background: $panel; border-radius: 8px; }
QHeaderView::section { background: $panel; color: $dim; border: none; border-bottom: 1px solid $line;
  padding: 8px 10px; }
QListView { background: $panel; border: none; outline: none; }
QListView::item { padding: 8px 10px; border-radius: 6px; }
QListView::item:selected { background: $accent_surface; color: $text; }

QMenu { background: $panel; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: $accent_surface; color: $text; }
QMenu::item:disabled { color: $dim; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }

QProgressBar { background: $track; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QScrollArea { background: transparent; border: none; }
QScrollArea > QWidget > QWidget#scrolled { background: transparent; }
QSplitter::handle { background: transparent; }
""")


def style_sheet(tokens: Tokens) -> str:
    """The sheet in the colours of `tokens`."""
    return _SHEET.substitute(vars(tokens))
