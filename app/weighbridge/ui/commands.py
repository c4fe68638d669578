"""What the palette and the model switcher offer: pages, actions, models, appearance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from PySide6.QtGui import QAction, QKeySequence

from weighbridge.base.settings import THEMES
from weighbridge.base.words import mark, text
from weighbridge.running.state import State
from weighbridge.ui.elsewhere_words import leaving_in_words
from weighbridge.ui.matching import Entry
from weighbridge.ui.running_words import running_of, word_of
from weighbridge.ui.services import Services
from weighbridge.ui.sidebar import PAGES

_APPEARANCE: Mapping[str, str] = {
    "system": mark("Appearance: as the system"),
    "light": mark("Appearance: light"),
    "dark": mark("Appearance: dark"),
}


def keys_in_words(keys: QKeySequence | str) -> str:
    """Keys as this system writes them."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def page_entries(show: Callable[[str], object]) -> list[Entry]:
    """One entry a page."""
    return [_page_entry(name=page.name, title=page.title, keys=page.keys, show=show) for page in PAGES]


def _page_entry(name: str, title: str, keys: str, show: Callable[[str], object]) -> Entry:
    return Entry(text("Go to {page}", page=text(title)), keys_in_words(keys), lambda: show(name))


def action_entries(actions: Iterable[QAction]) -> list[Entry]:
    """One entry an action that can be taken now."""
    return [
        Entry(action.text().replace("&", ""), keys_in_words(action.shortcut()), action.trigger)
        for action in actions
        if action.isEnabled() and action.isVisible() and action.text()
    ]


def appearance_entries(choose: Callable[[str], object]) -> list[Entry]:
    """One entry an appearance."""
    return [Entry(text(_APPEARANCE[choice]), "", _calling(choose, choice)) for choice in THEMES]


def model_entries(services: Services) -> list[Entry]:
    """One entry a model that can be chatted with, the loaded ones first."""
    running = services.supervisor.running()
    entries: list[tuple[bool, Entry]] = []
    for model in services.library.models:
        if model.problem is not None:
            continue
        process = running_of(model.id, running)
        doing = word_of(process) if process else (model.quant or "")
        hint = " · ".join(filter(None, (leaving_in_words(model), doing)))
        title = text("Chat with {model}", model=model.title)
        ready = process is not None and process.state is State.READY
        entries.append((not ready, Entry(title, hint, _calling(services.bus.chat_wanted.emit, model.id))))
    return [entry for _, entry in sorted(entries, key=lambda pair: pair[0])]


def all_entries(
    services: Services, actions: Sequence[QAction], show: Callable[[str], object], choose_theme: Callable[[str], object]
) -> list[Entry]:
    """All that the palette offers."""
    found = [*action_entries(actions), *page_entries(show), *model_entries(services), *appearance_entries(choose_theme)]
    return list({entry.title: entry for entry in found}.values())


def _calling(act: Callable[[str], object], value: str) -> Callable[[], object]:
    return lambda: act(value)
