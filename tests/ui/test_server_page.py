"""The Server page and the port behind it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from tests.ui.fakes import FakePort, running
from tests.ui.served_elsewhere import BOX, HERE, HOSTED, file, served

from weighbridge.base.errors import Refused
from weighbridge.server.requests import HUNG_UP, RequestRow
from weighbridge.ui.models.requests_model import RequestsModel, status_in_words
from weighbridge.ui.pages.server import ServerPage
from weighbridge.ui.port_control import PortState


@pytest.fixture
def page(qtbot, full):
    made = ServerPage(full)
    qtbot.addWidget(made)
    made.resize(1000, 640)
    made.show()
    made.entered()
    return made


def opened(qtbot, full):
    full.port.open()
    qtbot.waitUntil(lambda: full.port.state is PortState.ON)


def request(**changes):
    values = {
        "time_s": 1.0,
        "method": "POST",
        "route": "/v1/chat/completions",
        "model": "m",
        "status": 200,
        "complete": True,
        "prompt_tokens": 12,
        "output_tokens": 340,
        "duration_ms": 1500.0,
        "client": "127.0.0.1",
    }
    return RequestRow(**(values | changes))


def test_the_button_opens_and_closes_and_the_choice_is_kept(qtbot, page, full, ports):
    assert page._toggle.text() == "Open the port"
    qtbot.mouseClick(page._toggle, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: full.port.state is PortState.ON)
    assert page._address.text() == "http://127.0.0.1:2412/v1"
    assert full.settings.value.port_on
    qtbot.mouseClick(page._address, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "http://127.0.0.1:2412/v1"
    qtbot.mouseClick(page._toggle, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: full.port.state is PortState.OFF)
    assert ports[0].stopped
    assert not full.settings.value.port_on


def test_a_taken_port_is_passed_over_and_said(qtbot, page, full, ports):
    ports.next = FakePort(taken=(2412,))
    opened(qtbot, full)
    assert full.port.moved
    assert page._address.text() == "http://127.0.0.1:2413/v1"
    assert "2412 is taken" in page._moved.text()
    assert page._moved.isVisible()


def test_another_port_is_used_at_once(qtbot, page, full, ports):
    opened(qtbot, full)
    page._number.setValue(8080)
    page._number.editingFinished.emit()
    qtbot.waitUntil(lambda: full.port.url == "http://127.0.0.1:8080")
    assert ports[0].stopped
    assert full.settings.value.port == 8080


def test_a_port_that_does_not_open_says_why(qtbot, page, full, ports):
    ports.next = FakePort(error=Refused("port.taken_unknown", port=2412, free=2413))
    full.port.open()
    qtbot.waitUntil(page._errors.isVisible)
    assert full.port.state is PortState.OFF
    qtbot.mouseClick(page._errors.buttons[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: full.port.state is PortState.ON)
    assert not page._errors.isVisible()


def test_closing_while_it_opens_ends_closed(qtbot, full, ports):
    full.port.open()
    full.port.close()
    qtbot.waitUntil(lambda: bool(ports) and ports[0].stopped and full.port.state is PortState.OFF)


def test_damaged_models_are_not_served_and_loaded_ones_are_marked(page, full):
    full.supervisor.become(full.bus, running())
    assert "Qwen3-0.6B-Q8_0 · loaded" in page._served_lines
    assert not any("Broken" in line for line in page._served_lines)
    assert len(page._served_lines) == 6


def test_the_example_asks_the_loaded_model(page, full):
    full.supervisor.become(full.bus, running())
    assert '"Qwen3-0.6B-Q8_0"' in page._example.toPlainText()
    page._which.setCurrentText("Python")
    assert page._example.toPlainText().startswith("from openai")


def test_requests_appear_newest_first(qtbot, page, full):
    assert page._no_requests.isVisible()
    full.port.records.add(request(model="old"))
    full.port.records.add(request(model="new"))
    qtbot.waitUntil(lambda: page._requests.rowCount() == 2)
    assert page._requests.index(0, 2).data() == "new"
    assert not page._no_requests.isVisible()
    assert page._table.isVisible()


def test_a_status_says_how_it_ended():
    assert status_in_words(request()) == "200"
    assert status_in_words(request(complete=False)) == "200, broken off"
    assert status_in_words(request(status=HUNG_UP, complete=False)) == "hung up"


def test_the_item_model_keeps_qts_rules(qtmodeltester):
    model = RequestsModel()
    model.show_rows([request(prompt_tokens=None, model=None)])
    qtmodeltester.check(model)
    assert model.index(0, 4).data() == ""


def test_what_leaves_this_computer_is_marked_among_what_the_port_answers_for(page, full, monkeypatch):
    here = [served(HERE), served(BOX), served(HOSTED), file()]
    monkeypatch.setattr(type(full.library), "models", property(lambda library: tuple(here)))
    full.supervisor.become(full.bus, running("qwen3:8b@my-box", engine_id="endpoint"))
    assert page._served_lines == [
        "qwen3:8b@my-box · leaves this computer · connected",
        "qwen3:8b@ollama",
        "qwen3:8b@openrouter · leaves this computer",
        "qwen3-0.6b",
    ]


def test_the_example_asks_what_stays_here_unless_another_is_used(page, full, monkeypatch):
    full.settings.change(last_model="gone")
    monkeypatch.setattr(type(full.library), "models", property(lambda library: (served(BOX), served(HERE))))
    assert page._asked_model() == "qwen3:8b@ollama"
    full.settings.change(last_model="qwen3:8b@my-box")
    assert page._asked_model() == "qwen3:8b@my-box"
