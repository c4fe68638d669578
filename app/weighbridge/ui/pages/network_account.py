"""Whose token the Hub is given, where it is kept, and signing in and out. The Hub is asked only after a press."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QWidget

from weighbridge.base.errors import Cancelled, Unreachable, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.hub.access import ENDPOINT
from weighbridge.hub.signing_in import sign_in, user_of
from weighbridge.hub.token import Token
from weighbridge.ui.account_words import account_in_words
from weighbridge.ui.remedies import Remedies, open_page
from weighbridge.ui.services import Services
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.parts import button, column, give_role, label, row, selectable

TOKENS_PAGE = "https://huggingface.co/settings/tokens"
_SECRET = Qt.InputMethodHint.ImhSensitiveData | Qt.InputMethodHint.ImhNoPredictiveText


class AccountPanel(QFrame):
    """Shows `services.tokens` and changes them. What is typed stands in the field alone, not for long. `opened`: a
    token can be pasted.
    """

    opened = Signal()

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._services = services
        self._token: Token | None = None
        self._user: str | None = None
        self._looking: Task | None = None
        self._task: Task | None = None
        self._stands = selectable(label("", wrap=True))
        self._ask = button(text("Ask whose it is"), self.ask, name=text("Ask the Hub whose token it is"))
        self._out = button(text("Sign out"), self.sign_out, name=text("Sign out of the Hugging Face Hub"))
        self._open = button(text("Sign in…"), self._turn_fold)
        self._field = self._make_field()
        self._show = button(text("Show"), self._turn_show, name=text("Show the token"))
        self._show.setCheckable(True)
        self._go = button(text("Sign in"), self.sign_in, "primary")
        self._note = label("", "dim", wrap=True)
        self._fold = self._make_fold()
        self._errors = ErrorPanel(services.theme)
        self._lay_out()
        self._show_all()

    @property
    def field(self) -> QLineEdit:
        """Where a token is pasted."""
        return self._field

    @property
    def errors(self) -> ErrorPanel:
        """Why it did not go."""
        return self._errors

    def look(self) -> None:
        """Look for the token in use: on this computer, where a keyring may take its time."""
        if self._looking is None:
            self._looking = self._services.background.run(
                lambda _task: self._services.tokens.token(), self._found, self._lost
            )

    def open(self) -> None:
        """Let a token be pasted."""
        self._fold.show()
        self._show_all()
        self._field.setFocus()
        self.opened.emit()

    def close_it(self) -> None:
        """Forget what was typed, and stop what is under way."""
        if self._task is not None:
            self._task.cancel()
        self._empty()
        self._fold.hide()
        self._errors.hide()
        self._show_all()

    def escape(self) -> bool:
        """Stop, or close what is open. False where there is nothing."""
        if self._task is not None:
            self._task.cancel()
        elif not self._errors.isHidden():
            self._errors.hide()
        elif not self._fold.isHidden():
            self.close_it()
        else:
            return False
        return True

    def sign_in(self) -> None:
        """Keep the token in the field once the Hub takes it; at a second press, stop."""
        if self._task is not None:
            self._task.cancel()
            return
        services, given = self._services, self._field.text()

        def work(task: Task) -> tuple[str, Token]:
            made = sign_in(given, services.access, services.network, services.tokens, task)
            return made.user, made.token

        self._begin(services.background.stream(work, self._signed_in, self._refused, name="sign in"))

    def ask(self) -> None:
        """Ask the Hub whose token is in use."""
        services, token = self._services, self._token
        if token is None or self._task is not None:
            return

        def work(task: Task) -> tuple[str, Token]:
            return user_of(token, services.access, services.network, task), token

        self._begin(services.background.stream(work, self._told, self._failed, name="whoami"))

    def sign_out(self) -> None:
        """Forget the token that is ours; another program's is left alone, and used."""
        tokens = self._services.tokens
        self._token = self._user = None

        def work(_task: Task) -> Token | None:
            tokens.forget()
            return tokens.token()

        self._services.background.run(work, self._signed_out, self._lost)
        self._show_all()

    def _make_field(self) -> QLineEdit:
        made = QLineEdit()
        made.setPlaceholderText("hf_…")
        made.setAccessibleName(text("Token for the Hugging Face Hub"))
        made.setEchoMode(QLineEdit.EchoMode.Password)
        made.setInputMethodHints(_SECRET)
        made.textChanged.connect(self._show_all)
        made.returnPressed.connect(self._entered)
        return made

    def _make_fold(self) -> QWidget:
        page = button(text("Make one at huggingface.co/settings/tokens"), partial(open_page, TOKENS_PAGE), "quiet")
        line = row(self._field, self._show, self._go)
        line.setStretch(0, 1)
        made = QWidget()
        column(line, row(page, None), self._note, owner=made, gap=1)
        made.hide()
        return made

    def _lay_out(self) -> None:
        heading = label(text("Hugging Face account"), "heading")
        said = column(heading, self._stands, gap=0)
        head = row(said, self._ask, self._out, self._open, gap=2)
        head.setStretch(0, 1)
        column(head, self._fold, self._errors, owner=self, margin=3).setContentsMargins(
            4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP
        )

    def _begin(self, task: Task) -> None:
        self._task = task
        self._errors.hide()
        self._show_all()

    def _found(self, token: Token | None) -> None:
        self._looking = None
        if token != self._token:
            self._token, self._user = token, None
        self._show_all()

    def _signed_out(self, token: Token | None) -> None:
        self._found(token)
        self._services.bus.account_changed.emit()

    def _lost(self, error: BaseException) -> None:
        self._looking = None
        self._errors.show_error(error)

    def _told(self, said: tuple[str, Token]) -> None:
        self._task = None
        self._user, self._token = said
        self._show_all()

    def _signed_in(self, said: tuple[str, Token]) -> None:
        self._services.token.use_again()
        self._empty()
        self._fold.hide()
        self._errors.hide()
        self._told(said)
        self._open.setFocus()
        self._services.bus.account_changed.emit()

    def _refused(self, error: BaseException) -> None:
        """A token that was not taken is forgotten; where nobody could be asked it waits for another try."""
        if not isinstance(error, Unreachable | Cancelled) and getattr(error, "code", "") != "hub.offline":
            self._empty()
        self._field.setFocus()
        self._failed(error)

    def _failed(self, error: BaseException) -> None:
        self._task = None
        self._show_all()
        if not isinstance(error, Cancelled):
            self._errors.show_error(error, self._ways_out(error))

    def _ways_out(self, error: BaseException) -> Remedies:
        if isinstance(error, WeighbridgeError) and error.code == "hub.offline":
            return ((text("Go online"), self._go_online),)
        return ()

    def _go_online(self) -> None:
        self._services.settings.change(offline=False)
        self._errors.hide()

    def _entered(self) -> None:
        if self._task is None and self._go.isEnabled():
            self.sign_in()

    def _turn_fold(self) -> None:
        (self.open if self._fold.isHidden() else self.close_it)()

    def _turn_show(self) -> None:
        shown = self._show.isChecked()
        self._field.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        self._field.setInputMethodHints(_SECRET)

    def _empty(self) -> None:
        self._field.setText("")  # which, unlike clear(), cannot be undone
        self._show.setChecked(False)
        self._turn_show()

    def _show_all(self) -> None:
        busy, token = self._task is not None, self._token
        used = token is not None and self._services.token() == token
        self._stands.setText(text("Asking the Hub…") if busy else account_in_words(token, used, self._user))
        _offer(self._ask, token is not None and self._user is None, not busy)
        _offer(self._out, token is not None and token.ours, not busy)
        self._open.setText(_unfolding(token) if self._fold.isHidden() else text("Close"))
        self._open.setAccessibleName(self._open.text())
        self._open.setEnabled(not busy)
        self._field.setReadOnly(busy)
        self._go.setText(text("Stop") if busy else text("Sign in"))
        self._go.setAccessibleName(self._go.text())
        self._go.setEnabled(busy or bool(self._field.text().strip()))
        give_role(self._go, "" if busy else "primary")
        self._note.setText(_note(self._services.access.endpoint()))


def _offer(made: QPushButton, there: bool, enabled: bool) -> None:
    made.setVisible(there)
    made.setEnabled(enabled)


def _unfolding(token: Token | None) -> str:
    return text("Sign in…") if token is None else text("Use another token…")


def _note(endpoint: str) -> str:
    kept = text(
        "One that may only read is enough. It is kept in the system's keyring, or in a file that only you can read."
    )
    if endpoint == ENDPOINT:
        return kept
    return " ".join((text("It will be given to {address}.", address=endpoint), kept))
