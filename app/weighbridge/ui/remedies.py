"""What a person can do, with one press, about an error of the Hub."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.words import text
from weighbridge.ui.services import Services

Remedies = tuple[tuple[str, Callable[[], object]], ...]
"""Buttons: their words, and what they do."""

_PAGES = frozenset({"hub.denied", "hub.gated", "hub.gated_sign_in", "hub.gated_waiting"})
_SIGN_IN = frozenset({"hub.gated_sign_in", "hub.private", "hub.token"})
_FINAL = frozenset({"hub.bad_name", "hub.no_file_there", "hub.no_quant", "hub.reference", "hub.several"})
"""Another try with the same words would end the same way."""


def remedies(error: BaseException, services: Services, again: Callable[[], object]) -> Remedies:
    """The buttons for `error`; `again` is another try."""
    if not isinstance(error, WeighbridgeError) or error.code in _FINAL:
        return ()
    try_again = (text("Try again"), again)
    sign_in = ((text("Sign in…"), services.bus.sign_in_wanted.emit),) if error.code in _SIGN_IN else ()
    page = error.values.get("page")
    if error.code in _PAGES and isinstance(page, str):
        title = text("Open its page") if error.code == "hub.denied" else text("Open the licence page")
        return *sign_in, (title, lambda: open_page(page)), try_again
    if error.code == "hub.token":
        without = (text("Go on without the token"), partial(_after, partial(_do_without_token, services), again))
        return *sign_in, without, try_again
    if error.code == "hub.offline":
        return ((text("Go online"), partial(_after, partial(services.settings.change, offline=False), again)),)
    return *sign_in, try_again


def _after(first: Callable[[], object], then: Callable[[], object]) -> None:
    first()
    then()


def _do_without_token(services: Services) -> None:
    services.token.do_without()
    services.bus.account_changed.emit()


def open_page(address: str) -> None:
    """Show a page of the Hub in the browser."""
    url = QUrl(address, QUrl.ParsingMode.StrictMode)
    if url.isValid() and url.scheme() == "https":
        QDesktopServices.openUrl(url)
