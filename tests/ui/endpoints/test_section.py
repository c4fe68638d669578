"""Servers that someone else runs, in the window: added, asked, given a key, removed."""

import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from PySide6.QtWidgets import QLineEdit

from weighbridge.base.database import Database
from weighbridge.base.errors import Refused
from weighbridge.hub.network import NetworkLog
from weighbridge.running.endpoints import table
from weighbridge.running.endpoints.endpoint import Reached
from weighbridge.running.endpoints.endpoints import Endpoints
from weighbridge.running.endpoints.keys import Keys
from weighbridge.ui.endpoints.driving import EndpointsDriving
from weighbridge.ui.endpoints.section import EndpointsSection
from weighbridge_engines.api import Cause


class _Server(BaseHTTPRequestHandler):
    def do_GET(self):
        wanted = self.server.key
        good = self.path == "/v1/models" and (not wanted or self.headers.get("Authorization") == f"Bearer {wanted}")
        body = b'{"object":"list","data":[{"id":"one"},{"id":"two"}]}' if good else b'{"error":{"message":"no"}}'
        self.send_response(200 if good else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


@pytest.fixture
def server():
    made = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    made.key = ""
    thread = threading.Thread(target=made.serve_forever, args=(0.005,))
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture
def endpoints(tmp_path):
    database = Database(tmp_path / "data.db")
    yield Endpoints(database, Keys(tmp_path, lambda: None), NetworkLog(), lambda: False)
    database.close()


@pytest.fixture
def section(qtbot, services, endpoints):
    driving = EndpointsDriving(endpoints, services.background)
    made = EndpointsSection(services.theme, driving)
    qtbot.addWidget(made)
    made.resize(700, 600)
    made.show()
    made.show_all()
    yield made
    driving.close()


def address(server):
    return f"http://127.0.0.1:{server.server_address[1]}"


def add(section, where, **fields):
    section.add.click()
    section.form.address.setText(where)
    for name, typed in fields.items():
        getattr(section.form, name).setText(typed)
    section.form.go.click()


def test_a_server_is_added_by_its_address_and_asked_what_it_serves(qtbot, section, endpoints, server):
    add(section, address(server), title="My box")
    qtbot.waitUntil(lambda: bool(section.rows))
    (row,) = section.rows.values()
    qtbot.waitUntil(lambda: "2 models" in row.said.text())
    assert row._names.text() == "one, two"
    assert row._reach.accessibleName() == "On this computer"
    assert [model.id for model in endpoints.models()] == ["one@my-box", "two@my-box"]
    assert section.form.isHidden()
    assert not section._none.isVisible()


def test_a_bad_address_says_so_and_what_was_typed_stays(qtbot, section, endpoints):
    add(section, "ftp://example.com", title="X")
    qtbot.waitUntil(section.form.errors.isVisible)
    assert section.form.address.text() == "ftp://example.com"
    assert endpoints.all == ()
    assert section.escape()
    assert section.form.isHidden()
    assert not section.escape()


def test_a_key_that_is_wrong_is_told_and_another_can_be_given(qtbot, section, endpoints, server):
    server.key = "right"
    add(section, address(server), key="wrong")
    qtbot.waitUntil(lambda: bool(section.rows))
    (row,) = section.rows.values()
    qtbot.waitUntil(lambda: "does not accept the key" in row.said.text())
    row.key_wanted.emit(row.endpoint_id)
    assert section.form.address.isHidden()
    assert section.form.key.echoMode() is QLineEdit.EchoMode.Password
    section.form.key.setText("right")
    section.form.go.click()
    qtbot.waitUntil(section.form.isHidden)
    assert section.form.key.text() == ""
    row.look.click()
    qtbot.waitUntil(lambda: "2 models" in row.said.text())
    row.no_key_wanted.emit(row.endpoint_id)
    qtbot.waitUntil(lambda: row._key.text() == "without a key")


def test_a_key_goes_unprotected_only_where_the_user_agrees(qtbot, section, endpoints, monkeypatch):
    monkeypatch.setattr(endpoints, "reach", lambda name, task=None: pytest.fail("asked"))
    section._driving.added.disconnect(section._added)
    add(section, "http://api.example.com", key="secret")
    qtbot.waitUntil(section.form.agreed.isVisible)
    assert endpoints.all == ()
    monkeypatch.setattr(section._driving, "look", lambda name: None)
    section.form.agreed.setChecked(True)
    section.form.go.click()
    qtbot.waitUntil(lambda: [one.plain_key for one in endpoints.all] == [True])


def test_where_its_list_is_elsewhere_one_press_goes_there(qtbot, section, endpoints, server):
    endpoints.add(f"{address(server)}/v9", title="Box")
    qtbot.waitUntil(lambda: bool(section.rows))
    (row,) = section.rows.values()
    assert row.use_found.isHidden()
    table.write_reached(endpoints._database, "box", Reached(1.0, Cause("endpoint.base_path", {}), found_path="/v1"))
    endpoints._read()
    section.show_all()
    assert (row.use_found.isHidden(), row.use_found.text()) == (False, "Use /v1")
    row.use_found.click()
    qtbot.waitUntil(lambda: "2 models" in row.said.text())
    assert row.use_found.isHidden()


def test_a_server_is_changed_and_asked_again(qtbot, section, endpoints, server):
    endpoints.add(f"{address(server)}/v9", title="Box", preset="groq")
    endpoints.reach("box")
    qtbot.waitUntil(lambda: bool(section.rows))
    (row,) = section.rows.values()
    assert row._known.text() == "How Groq is spoken to: from its documentation; not tried."
    row.change_wanted.emit(row.endpoint_id)
    form = section.form
    assert (form.address.text(), form.title.text(), form.key.isHidden()) == (f"{address(server)}/v9", "Box", True)
    assert form.known.text() == "How it is spoken to: from its documentation; not tried."
    form.preset.setCurrentIndex(form.preset.findData("llama_server"))
    form.preset.activated.emit(form.preset.currentIndex())
    form.address.setText(address(server))
    form.title.setText("My box")
    form.go.click()
    qtbot.waitUntil(lambda: "2 models" in row.said.text())
    assert form.isHidden() and row._known.isHidden()
    (changed,) = endpoints.all
    assert (changed.id, changed.title, changed.preset_id) == ("box", "My box", "llama_server")
    assert changed.address == f"{address(server)}/v1"


def test_where_nobody_answers_it_says_why(qtbot, section, server):
    where = address(server)
    server.shutdown()
    server.server_close()
    add(section, where)
    qtbot.waitUntil(lambda: bool(section.rows))
    (row,) = section.rows.values()
    qtbot.waitUntil(lambda: row.said.property("role") == "bad")
    assert row.look.isEnabled()


def test_it_is_removed_only_once_that_was_asked(qtbot, section, endpoints, server):
    endpoints.add(address(server), title="Box")
    qtbot.waitUntil(lambda: bool(section.rows))
    (row,) = section.rows.values()
    row.remove_wanted.emit(row.endpoint_id)
    section.question.buttons[1].click()
    assert len(endpoints.all) == 1
    row.remove_wanted.emit(row.endpoint_id)
    section.question.buttons[0].click()
    qtbot.waitUntil(lambda: section.rows == {})
    assert endpoints.all == ()
    assert section._none.isVisible()


def test_what_another_process_has_added_is_there_at_the_next_look(qtbot, section, endpoints, tmp_path):
    with closing(Database(tmp_path / "data.db")) as beside:
        Endpoints(beside, Keys(tmp_path, lambda: None), NetworkLog(), lambda: False).add("localhost:1", title="Box")
    section._driving.refresh()
    qtbot.waitUntil(lambda: set(section.rows) == {"box"})


def test_a_refusal_to_ask_stands_beside_it(qtbot, section, endpoints, monkeypatch):
    def offline(name, task=None):
        raise Refused("endpoint.offline", endpoint="Box", address="https://api.example.com")

    endpoints.add("https://api.example.com", title="Box")
    qtbot.waitUntil(lambda: bool(section.rows))
    monkeypatch.setattr(endpoints, "reach", offline)
    (row,) = section.rows.values()
    assert row._reach.accessibleName() == "Leaves this computer"
    row.look.click()
    qtbot.waitUntil(row.errors.isVisible)


def test_a_preset_fills_in_what_is_usual(section):
    section.open("ollama")
    assert section.form.address.text() == "http://127.0.0.1:11434"
    assert section.form.title.placeholderText() == "Ollama"
