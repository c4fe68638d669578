"""Signing in at the Hub in the window: by the keyboard, in words, and without a trace of the token."""

import logging

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from tests.fake_hub import FakeHub, Stall

from weighbridge.base.errors import Refused
from weighbridge.hub.token import Token, TokenStore
from weighbridge.ui.account_words import account_in_words
from weighbridge.ui.pages.network import NetworkPage
from weighbridge.ui.remedies import remedies

TOKEN = "hf_TESTTOKEN"


@pytest.fixture
def fake(services):
    with FakeHub() as made:
        made.tokens[TOKEN] = "ada"
        services.settings.change(hub_endpoint=made.endpoint)
        yield made


@pytest.fixture
def page(qtbot, services, fake):
    made = NetworkPage(services)
    qtbot.addWidget(made, before_close_func=lambda page: page.shut())
    made.resize(1000, 640)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    made.entered()
    qtbot.waitUntil(lambda: made.account._looking is None)
    return made


@pytest.fixture
def account(page):
    return page.account


def stands(account):
    return account._stands.text()


def given(qtbot, account, token):
    account.open()
    qtbot.keyClicks(account.field, token)
    qtbot.keyClick(account.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: account._task is None)


def texts_of(page):
    for widget in page.findChildren(QWidget):
        yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription(), widget.whatsThis())
        yield from (getattr(widget, name)() for name in ("text", "toPlainText") if hasattr(widget, name))


def test_nothing_is_asked_by_looking(account, fake):
    assert stands(account) == "Not signed in. Most models need no account."
    assert account._open.isVisible()
    assert not account._ask.isVisible()
    assert not account._out.isVisible()
    assert not account.field.isVisible()
    assert fake.requests == []


def test_a_good_token_is_kept_and_leaves_no_trace(qtbot, page, account, services, fake, home):
    given(qtbot, account, TOKEN)
    assert stands(account) == "Signed in as ada, with the token in a file that only you can read."
    assert (home / "config/hub-token").read_text() == TOKEN
    assert services.token().value == TOKEN
    assert account.field.text() == ""
    account.field.undo()
    assert account.field.text() == ""
    assert not account.field.isVisible()
    assert [each for each in texts_of(page) if TOKEN in each] == []
    assert [request.purpose for request in services.network.requests] == ["token"]
    assert all(TOKEN not in repr(request) for request in services.network.requests)


def test_the_field_hides_what_is_pasted_until_show_is_pressed(qtbot, account):
    account.open()
    assert account.field.hasFocus()
    assert account.field.accessibleName() == "Token for the Hugging Face Hub"
    QApplication.clipboard().setText(f" {TOKEN}\n")
    qtbot.keyClick(account.field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert account.field.text().strip() == TOKEN
    assert account.field.echoMode() is QLineEdit.EchoMode.Password
    account._show.click()
    assert account.field.echoMode() is QLineEdit.EchoMode.Normal
    assert account.escape()
    assert account.field.text() == ""
    assert account.field.echoMode() is QLineEdit.EchoMode.Password
    assert not account.escape()
    QApplication.clipboard().clear()


@pytest.mark.parametrize(
    ("token", "what"),
    [("hf_WRONG", "does not take your token"), ("two words", "That cannot be a token")],
)
def test_a_bad_token_is_told_forgotten_and_not_kept(qtbot, page, account, home, token, what):
    given(qtbot, account, token)
    assert what in account.errors.shown_report.what
    assert account.field.text() == ""
    assert account.field.hasFocus()
    assert not (home / "config/hub-token").exists()
    assert [each for each in texts_of(page) if token in each] == []


def test_where_nobody_can_be_asked_it_waits_for_another_try(qtbot, account, services, fake):
    services.settings.change(offline=True)
    given(qtbot, account, TOKEN)
    assert account.errors.buttons[0].text() == "Go online"
    assert account.field.text() == TOKEN
    assert fake.requests == []
    account.errors.buttons[0].click()
    assert not services.settings.value.offline
    with fake.away():
        account._go.click()
        qtbot.waitUntil(lambda: account._task is None)
    assert "could not be reached" in account.errors.shown_report.what
    account._go.click()
    qtbot.waitUntil(lambda: account._user == "ada")


def test_it_can_be_stopped(qtbot, account, fake, home):
    fake.faults.next(Stall(0), on="api")
    account.open()
    account.field.setText(TOKEN)
    account._go.click()
    qtbot.waitUntil(lambda: bool(fake.requests))
    assert stands(account) == "Asking the Hub…"
    assert account._go.text() == "Stop"
    account._go.click()
    qtbot.waitUntil(lambda: account._task is None)
    assert not account.errors.isVisible()
    assert not (home / "config/hub-token").exists()


def test_leaving_the_page_forgets_what_was_typed(account, page):
    account.open()
    account.field.setText(TOKEN)
    page.left()
    assert account.field.text() == ""


def test_signing_out_forgets_ours(qtbot, account, services, home):
    given(qtbot, account, TOKEN)
    assert account._open.text() == "Use another token…"
    account._out.click()
    qtbot.waitUntil(lambda: not (home / "config/hub-token").exists())
    assert stands(account) == "Not signed in. Most models need no account."
    assert services.token() is None


def test_the_login_of_others_is_told_asked_on_a_press_and_cannot_be_removed(qtbot, account, services, monkeypatch):
    store = TokenStore(services.paths.config, {"HF_TOKEN": TOKEN}, lambda: None)
    monkeypatch.setattr(services.tokens, "token", store.token)
    account.look()
    qtbot.waitUntil(account._ask.isVisible)
    assert stands(account) == "The Hub is given the token in the environment."
    assert not account._out.isVisible()
    assert services.network.requests == ()
    account._ask.click()
    qtbot.waitUntil(lambda: account._user is not None)
    assert stands(account) == "Signed in as ada, with the token in the environment."


def test_a_token_that_was_set_aside_is_used_again_once_the_hub_takes_it(qtbot, account, services):
    given(qtbot, account, TOKEN)
    services.token.do_without()
    account._show_all()
    assert "not used until the program ends" in stands(account)
    given(qtbot, account, TOKEN)
    assert stands(account).startswith("Signed in as ada")


def test_where_tokens_are_made(account, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    account.open()
    (link,) = [each for each in account.findChildren(QWidget) if "settings/tokens" in each.accessibleName()]
    link.click()
    assert opened == ["https://huggingface.co/settings/tokens"]


def test_a_mirror_that_gets_the_token_is_named(account, services, fake):
    account.open()
    assert f"It will be given to {fake.endpoint}." in account._note.text()
    services.settings.change(hub_endpoint=None)
    account.open()
    assert "given to" not in account._note.text()


@pytest.mark.parametrize("code", ["hub.gated_sign_in", "hub.private", "hub.token"])
def test_errors_that_ask_for_a_login_lead_there(page, account, services, code):
    error = Refused(code, repo_id="o/r", page="https://huggingface.co/o/r", host="huggingface.co")
    words, act = remedies(error, services, lambda: None)[0]
    assert words == "Sign in…"
    act()
    assert account.field.hasFocus()


@pytest.mark.parametrize(
    ("origin", "where"),
    [
        ("keyring", "the system's keyring"),
        ("file", "a file that only you can read"),
        ("environment", "the environment"),
        ("login", "the login of other Hugging Face programs"),
    ],
)
def test_each_place_has_words(origin, where):
    told = Token("x", origin)
    assert account_in_words(told, True, "ada") == f"Signed in as ada, with the token in {where}."
    assert account_in_words(told, True, None) == f"The Hub is given the token in {where}."


def test_a_log_never_holds_it(qtbot, account, caplog):
    caplog.set_level(logging.DEBUG)
    given(qtbot, account, TOKEN)
    given(qtbot, account, "hf_WRONG")
    assert TOKEN not in caplog.text
    assert "hf_WRONG" not in caplog.text
