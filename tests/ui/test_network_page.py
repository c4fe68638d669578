"""The Network page: what was asked, in words; its table, its filter, and the switch."""

import time

import pytest
from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtWidgets import QApplication

from weighbridge.hub.access import access_of
from weighbridge.hub.network import NetworkLog, Request
from weighbridge.hub.remote_source import HEADER
from weighbridge.ui import network_words as words
from weighbridge.ui.models.network_model import NetworkModel
from weighbridge.ui.pages.network import NetworkPage
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.cells import CellDelegate

THIN = "\u202f"


def request(number=1, **changes):
    told = {"host": "huggingface.co", "purpose": "repository", "method": "GET", "when": 1e9 + number}
    return Request(number, **(told | {"status": 200, "received_bytes": 4096, "seconds": 0.25} | changes))


def ask(log, host="huggingface.co", purpose="repository", status=200, received_bytes=4096):
    line = log.begin(host, purpose)
    line.answered(status)
    line.ended(received_bytes)


@pytest.fixture
def page(qtbot, services):
    made = NetworkPage(services)
    qtbot.addWidget(made, before_close_func=lambda page: page.shut())
    made.resize(1000, 640)
    made.show()
    made.entered()
    return made


def shown(page):
    model = page._model
    return [[model.index(row, column).data() for column in (1, 2, 3, 5)] for row in range(model.rowCount())]


def test_reading_a_header_is_told_in_words():
    assert words.purpose_in_words(request(purpose=HEADER)) == "Header of a model"


def test_before_any_request_it_says_so(page):
    assert page._none.isVisible()
    assert page._none.text() == "Nothing was asked of anyone yet."
    assert not page._copy.isEnabled()


def test_requests_are_there_newest_first_with_their_sum(page, services):
    ask(services.network)
    ask(services.network, "cdn.example", "Q4_K_M/big.gguf", received_bytes=3 << 20)
    services.bus.network_changed.emit()
    assert shown(page) == [
        ["cdn.example", "Q4_K_M/big.gguf", f"3.0{THIN}MiB", "200"],
        ["huggingface.co", "Files of a model", f"4.0{THIN}KiB", "200"],
    ]
    assert page._sum.text() == f"2 requests to 2 hosts, 3.0{THIN}MiB received"


def test_out_of_sight_it_does_nothing_and_catches_up(page, services):
    page.hide()
    ask(services.network)
    services.bus.network_changed.emit()
    assert shown(page) == []
    page.show()
    page.entered()
    assert len(shown(page)) == 1


def test_the_filter_keeps_what_says_each_word(qtbot, page, services):
    ask(services.network, status=404)
    ask(services.network, purpose="branches")
    ask(services.network, "pypi.org", "package index")
    qtbot.keyClicks(page._filter, "HUGGING 404")
    assert shown(page) == [["huggingface.co", "Files of a model", f"4.0{THIN}KiB", "404"]]
    qtbot.keyClicks(page._filter, "5")
    assert page._none.text() == "No request says that."
    assert page.escape()
    assert len(shown(page)) == 3
    assert not page.escape()


def test_what_is_shown_is_copied_as_text(qtbot, page, services):
    ask(services.network)
    services.bus.network_changed.emit()
    qtbot.mouseClick(page._copy, Qt.MouseButton.LeftButton)
    (made,) = services.network.requests
    day = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(made.when))
    copied = QApplication.clipboard().text().split("\t")
    assert copied[:5] == [day, "GET", "huggingface.co", "Files of a model", f"4.0{THIN}KiB"]
    assert copied[-1] == "200"


def test_clearing_forgets_what_is_over(qtbot, page, services):
    ask(services.network)
    services.network.begin("huggingface.co", "search")
    services.bus.network_changed.emit()
    qtbot.mouseClick(page._clear, Qt.MouseButton.LeftButton)
    assert [made.purpose for made in services.network.requests] == ["search"]
    assert shown(page) == [["huggingface.co", "Search", "", "Under way"]]


def test_the_switch_is_the_setting(qtbot, page, services):
    page._offline.click()
    assert services.settings.value.offline
    assert services.access.offline()
    services.settings.change(offline=False)
    assert not page._offline.isChecked()


def test_the_environment_that_keeps_offline_is_told(qtbot, services):
    forced = access_of(lambda: services.settings.value, lambda: None, {"HF_HUB_OFFLINE": "1"})
    made = NetworkPage(Services(**{**vars(services), "access": forced}))
    qtbot.addWidget(made, before_close_func=lambda page: page.shut())
    assert made._forced.text() == "HF_HUB_OFFLINE keeps you offline now, whatever is set here."


@pytest.mark.parametrize(
    ("changes", "badge"),
    [
        ({}, ("fits", "200")),
        ({"status": None, "seconds": None}, ("unknown", "Under way")),
        ({"seconds": None}, ("unknown", "200, under way")),
        ({"status": 403}, ("no", "403")),
        ({"status": None, "error": "hub.stalled"}, ("no", "Stalled")),
        ({"status": None, "error": "hub.address"}, ("no", "Failed")),
        ({"error": "hub.unreachable"}, ("no", "200, broken off")),
        ({"status": None, "error": "cancelled"}, ("unknown", "Cancelled")),
    ],
)
def test_the_status_says_how_it_ended(changes, badge):
    assert words.badge_of(request(**changes)) == badge


def test_a_table_that_grows_keeps_qts_rules(qtmodeltester):
    model = NetworkModel()
    rows = [request(number) for number in range(1, 8)]
    model.show_requests(rows[:3])
    qtmodeltester.check(model)
    for step in (rows[1:6], rows[1:6], rows[4:7], [rows[0]], [], rows):
        model.show_requests(step)
        assert list(model.requests) == step[::-1]


def test_new_rows_come_without_a_reset(qtbot):
    model = NetworkModel()
    begun = request(2, seconds=None)
    model.show_requests([request(1), begun])
    told = []
    model.modelReset.connect(lambda: told.append("reset"))
    model.rowsInserted.connect(lambda _parent, first, last: told.append(("new", first, last)))
    model.rowsRemoved.connect(lambda _parent, first, last: told.append(("gone", first, last)))
    model.dataChanged.connect(lambda first, last: told.append(("changed", first.row(), last.row())))
    model.show_requests([request(2), request(3), request(4)])
    assert told == [("gone", 1, 1), ("new", 0, 1), ("changed", 2, 2)]
    assert isinstance(model, QAbstractItemModel)


def test_the_log_forgets_the_oldest_and_so_does_the_table(page, services):
    log = NetworkLog(most=3)
    for number in range(5):
        ask(log, purpose=str(number))
    page._model.show_requests(log.requests)
    assert [row[1] for row in shown(page)] == ["4", "3", "2"]


def test_two_thousand_requests_are_shown_by_measuring_those_in_sight(page, services, monkeypatch):
    measured = []
    size_hint = CellDelegate.sizeHint
    monkeypatch.setattr(CellDelegate, "sizeHint", lambda *given: measured.append(1) or size_hint(*given))
    for _ in range(2000):
        ask(services.network)
    services.bus.network_changed.emit()
    assert page._model.rowCount() == 2000
    assert 0 < len(measured) < 2000
