"""What is looked for: words or a reference, chips for formats, and finer filters that fold away."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QWidget

from weighbridge.base.words import mark, text
from weighbridge.hub.hits import FORMATS, Query, Sort
from weighbridge.ui.discover.wish import BILLION, SIZES, Wish, size_up_to
from weighbridge.ui.icons import icon
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.chips import Chip, Chips
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.parts import button, column, label, row

PATIENCE_MS = 400
"""Words that are typed are looked for once there were no more for so long."""

_PASTED = 4
_WIDE_EMS, _TITLE_EMS = 68, 36
LICENSES = ("apache-2.0", "mit", "llama3.1", "llama3.2", "llama3.3", "gemma", "cc-by-4.0", "cc-by-nc-4.0", "openrail")
_SORTS = {
    Sort.DOWNLOADS: mark("Most downloads"),
    Sort.TRENDING: mark("Trending"),
    Sort.LIKES: mark("Most likes"),
    Sort.CHANGED: mark("Changed last"),
    Sort.MADE: mark("Newest"),
}


class Filters(QWidget):
    """`wish_changed`: something else is looked for, of words once typing rests. `reference_pasted` tells a text that
    may name one model: one that was pasted, or on which Enter was pressed.
    """

    wish_changed = Signal()
    reference_pasted = Signal(str)

    def __init__(self, theme: Theme, title: QWidget, opener: QWidget) -> None:
        super().__init__()
        self._theme = theme
        self._title = title
        self._search = self._make_search()
        self._chat = _toggle(text("Chat"), text("Only models that one can talk to"))
        self._chat.setChecked(True)
        self._formats = Chips(text("Format"))
        self._formats.show_chips([Chip(each, each.upper()) for each in FORMATS])
        self._more = button("", self.fold)
        self._size = _choice(text("Size"), [_size_in_words(each) for each in SIZES])
        self._license = _choice(text("Licence"), [text("Any licence"), *LICENSES])
        self._author = QLineEdit(clearButtonEnabled=True)
        self._author.setPlaceholderText(text("Any author"))
        self._author.setAccessibleName(text("Author"))
        self._sort = _choice(text("Sorted by"), [text(words) for words in _SORTS.values()])
        self._folded = QWidget()
        self._lay_out(opener)
        self._later = QTimer(self, interval=PATIENCE_MS, singleShot=True)
        self._later.timeout.connect(self._tell)
        self._connect()
        self._told = self.wish
        self._typed_before = ""
        self._name_fold()

    @property
    def search(self) -> QLineEdit:
        """Words, or a reference."""
        return self._search

    @property
    def formats(self) -> Chips:
        """The formats; none chosen: any."""
        return self._formats

    @property
    def chat(self) -> QPushButton:
        """Whether only models to talk to are wanted."""
        return self._chat

    @property
    def finer(self) -> tuple[QComboBox, QComboBox, QLineEdit, QComboBox]:
        """Size, licence, author, order."""
        return self._size, self._license, self._author, self._sort

    @property
    def wish(self) -> Wish:
        """What is looked for."""
        return Wish(
            words=self._search.text(),
            formats=tuple(each for each in FORMATS if each in self._formats.chosen),
            chat_only=self._chat.isChecked(),
            size=self._size.currentIndex(),
            license=self._license.currentText() if self._license.currentIndex() > 0 else None,
            author=self._author.text().strip() or None,
            sort=list(_SORTS)[self._sort.currentIndex()],
        )

    def ask_for(self, query: Query) -> None:
        """Look for the words of `query`, in its format, as large and for what it says; all else as it is."""
        self._search.setText(query.words)
        if query.most_parameters is not None:
            self._size.setCurrentIndex(size_up_to(query.most_parameters))
        if query.task is not None:
            self._chat.setChecked(query.task == "text-generation")
        self._typed_before = query.words
        self._formats.choose({query.format} if query.format in FORMATS else ())
        self.look()

    def look(self) -> None:
        """Look now, though nothing was changed."""
        self._later.stop()
        self._told = self.wish
        self._name_fold()
        self.wish_changed.emit()

    def fold(self) -> None:
        """Show the finer filters, or fold them away."""
        self._folded.setVisible(self._folded.isHidden())
        self._name_fold()

    def quiet(self) -> None:
        """What was typed is not looked for."""
        self._later.stop()

    def tint(self) -> None:
        """Draw the glyphs in the colours in use."""
        glyph = icon("search", self._theme.tokens.dim)
        for old in self._search.actions():
            if old.objectName() == "glyph":
                self._search.removeAction(old)
        self._search.addAction(glyph, QLineEdit.ActionPosition.LeadingPosition).setObjectName("glyph")

    def _make_search(self) -> QLineEdit:
        made = QLineEdit(clearButtonEnabled=True)
        made.setProperty("role", "search")
        made.setPlaceholderText(text("Search, or paste owner/name or an address"))
        made.setAccessibleName(text("Search the Hub, or paste a model's name or address"))
        made.setMinimumWidth(made.fontMetrics().height() * 10)
        return made

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def _lay_out(self, opener: QWidget) -> None:
        self._head = row(self._title, self._search, self._chat, self._formats, self._formats.menu_button, gap=3)
        self._head.addWidget(self._more)
        self._head.addWidget(opener)
        self._head.setStretch(1, 1)
        self._head.setAlignment(self._formats, Qt.AlignmentFlag.AlignVCenter)
        named, said = QWidget(), label(text("Author"), "dim")
        said.setBuddy(self._author)
        row(said, self._author, owner=named, gap=2)
        self._folded.setLayout(Flow(self._size, self._license, named, self._sort, gap=2))
        self._folded.hide()
        self.tint()
        column(self._head, self._folded, owner=self, gap=2)
        self._turn()

    def _turn(self) -> None:
        """The formats as a menu where they have no room beside each other; the title is told by the sidebar too."""
        em = self.fontMetrics().height()
        wide = self.width() >= em * _WIDE_EMS
        self._title.setVisible(self.width() >= em * _TITLE_EMS)
        self._formats.setVisible(wide)
        self._formats.menu_button.setVisible(not wide)

    def _connect(self) -> None:
        self._search.textEdited.connect(self._typed)
        self._search.textChanged.connect(self._emptied)
        self._search.returnPressed.connect(self._entered)
        self._author.editingFinished.connect(self._tell)
        self._chat.toggled.connect(lambda _on: self._tell())
        self._formats.changed.connect(self._tell)
        for box in (self._size, self._license, self._sort):
            box.currentIndexChanged.connect(lambda _place: self._tell())
        self._theme.changed.connect(self.tint)

    def _typed(self, words: str) -> None:
        """Whoever pastes adds many letters at once."""
        is_pasted = len(words) - len(self._typed_before) >= _PASTED
        self._typed_before = words
        if is_pasted and "/" in words:
            self._later.stop()
            self._mean(words)
        else:
            self._later.start()

    def _emptied(self, words: str) -> None:
        if not words:
            self._typed_before = ""
            self._tell()

    def _entered(self) -> None:
        self._later.stop()
        words = self._search.text()
        if "/" in words:
            self._mean(words)
        else:
            self.look()

    def _mean(self, words: str) -> None:
        self._told = self.wish
        self.reference_pasted.emit(words)

    def _tell(self) -> None:
        if self.wish != self._told:
            self.look()

    def _name_fold(self) -> None:
        """How many are set is said where they cannot be seen."""
        count = self.wish.set_aside
        if self._folded.isHidden():
            shown = text("Filters ({count})", count=str(count)) if count else text("Filters")
        else:
            shown = text("Hide filters")
        self._more.setText(shown)
        self._more.setAccessibleName(shown)


def _toggle(shown: str, name: str) -> QPushButton:
    made = QPushButton(shown)
    made.setCheckable(True)
    made.setAutoDefault(False)
    made.setProperty("role", "chip")
    made.setAccessibleName(name)
    made.setToolTip(name)
    return made


def _choice(name: str, items: Sequence[str]) -> QComboBox:
    made = QComboBox()
    made.addItems(list(items))
    made.setAccessibleName(name)
    made.setToolTip(name)
    return made


def _size_in_words(size: tuple[int | None, int | None]) -> str:
    least, most = (None if bound is None else str(bound // BILLION) for bound in size)
    if least is None and most is None:
        return text("Any size")
    if least is None:
        return text("Up to {most} B", most=most or "")
    return text("Over {least} B", least=least) if most is None else text("{least} to {most} B", least=least, most=most)
