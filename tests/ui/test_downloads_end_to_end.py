"""From a name that is pasted to a row of the Library, with the real queue and client over the fake Hub."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from tests.fake_hub import Corrupt, FakeHub, Slow, Stall
from tests.fake_hub.examples import add_all, add_gated, gguf_file

from weighbridge.base.paths import default_paths
from weighbridge.hub.jobs import State
from weighbridge.ui.download_commands import Command
from weighbridge.ui.program import Program
from weighbridge.ui.showing import model_at
from weighbridge_engines.echo import ENGINE


@pytest.fixture
def fake():
    with FakeHub() as made:
        add_all(made)
        yield made


@pytest.fixture
def program(qtbot, qapp, home, fake, monkeypatch):
    for name in ("HF_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(home / "hugging"))
    made = Program(qapp, default_paths(), lambda: {ENGINE.id: ENGINE})
    made.settings.change(hub_endpoint=fake.endpoint)
    made.open()
    qtbot.waitUntil(lambda: bool(made.window.pages))
    made.window.show_page("downloads")
    yield made
    made.close()
    made.window.deleteLater()


@pytest.fixture
def page(program):
    return program.window.pages["downloads"]


def paste(qtbot, page, text):
    """Name a model and press Enter; then what was found is there."""
    field = page.finder.field
    field.setText(text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.finder.offers.isVisible() or page.finder.errors.isVisible())


def state(program):
    return [job.state for job in program.services.downloads.snapshot.jobs]


def fetch(qtbot, program, page):
    page.finder.offers._fetch.click()
    qtbot.waitUntil(lambda: state(program) in ([State.DONE], [State.FAILED]))


def test_paste_fetch_verified_and_in_the_library(qtbot, program, page, fake):
    paste(qtbot, page, "hf.co/tiny/Tiny-GGUF:Q8_0")
    assert page.finder.offers._what.text() == "tiny/Tiny-GGUF"
    fetch(qtbot, program, page)
    file = default_paths().models / "tiny/Tiny-GGUF/Tiny-Q8_0.gguf"
    assert file.read_bytes() == gguf_file(tensors=3, **{"general.file_type": 7})
    qtbot.waitUntil(lambda: [model.title for model in program.services.library.models] == ["Tiny-Q8_0"])
    page.do(Command.SHOW)
    assert program.window.page_name == "library"
    qtbot.waitUntil(lambda: program.window.pages["library"].table.chosen is not None)
    assert program.window.pages["library"].table.chosen.model.path == file
    asked = program.services.network.requests
    assert {request.host for request in asked} <= {fake.endpoint.partition("//")[2], fake.cdn.partition("//")[2]}
    assert any(request.purpose == "Tiny-Q8_0.gguf" for request in asked)


def test_a_byte_that_was_wrong_never_gets_into_the_library(qtbot, program, page, fake):
    fake.faults.always(Corrupt(at=300), "Tiny-Q4_K_M.gguf")
    paste(qtbot, page, "tiny/Tiny-GGUF")
    fetch(qtbot, program, page)
    assert state(program) == [State.FAILED]
    qtbot.waitUntil(page.errors.isVisible)
    assert page.errors.shown_report.details.startswith("hub.corrupt")
    assert not list(default_paths().models.rglob("*.gguf"))


def test_a_branch_is_looked_at_where_main_has_nothing_and_lies_beside(qtbot, program, page):
    paste(qtbot, page, "tiny/Tiny-exl2")
    assert page.finder.offers._none.isVisible()
    branches = page.finder.offers._branches
    shown = [branches.itemAt(place).widget() for place in range(branches.count() - 1)]
    next(one for one in shown if one.text() == "4.0bpw").click()
    qtbot.waitUntil(lambda: page.finder.offers.isVisible() and page.finder.offers.wanted is not None)
    fetch(qtbot, program, page)
    assert (default_paths().models / "tiny/Tiny-exl2@4.0bpw/config.json").is_file()
    qtbot.waitUntil(lambda: [model.format for model in program.services.library.models] == ["exl2"])
    page.do(Command.SHOW)
    qtbot.waitUntil(lambda: program.window.pages["library"].table.chosen is not None)


def test_into_hugging_faces_cache_and_still_in_the_library(qtbot, program, page, home):
    program.settings.change(download_target="hf_cache")
    paste(qtbot, page, "tiny/Tiny-GGUF:Q8_0")
    fetch(qtbot, program, page)
    assert list((home / "hugging/hub/models--tiny--Tiny-GGUF").rglob("Tiny-Q8_0.gguf"))
    qtbot.waitUntil(lambda: len(program.services.library.models) == 1)
    (model,) = program.services.library.models
    (done,) = program.services.downloads.snapshot.jobs
    assert model_at(done.place, [model]) == model


def test_what_was_taken_off_the_list_is_on_it_again_once_it_is_fetched_anew(qtbot, program, page):
    program.settings.change(download_target="hf_cache")
    paste(qtbot, page, "tiny/Tiny-GGUF:Q8_0")
    fetch(qtbot, program, page)
    library = program.services.library
    qtbot.waitUntil(lambda: len(library.models) == 1)
    program.services.marks.take_off(library.models[0])
    assert library.models == ()
    paste(qtbot, page, "tiny/Tiny-GGUF:Q8_0")
    fetch(qtbot, program, page)
    qtbot.waitUntil(lambda: len(library.models) == 1)


def test_a_gated_one_fails_with_the_page_to_go_to(qtbot, program, page, fake, monkeypatch):
    add_gated(fake)
    opened = []
    monkeypatch.setattr("weighbridge.ui.remedies.QDesktopServices.openUrl", lambda url: opened.append(url.toString()))
    paste(qtbot, page, "tiny/Gated-GGUF")
    assert page.finder.offers._gated.isVisible()
    fetch(qtbot, program, page)
    qtbot.waitUntil(page.errors.isVisible)
    sign_in, licence, again = page.errors.buttons
    assert (sign_in.text(), licence.text(), again.text()) == ("Sign in…", "Open the licence page", "Try again")
    licence.click()
    assert opened == ["https://huggingface.co/tiny/Gated-GGUF"]


def test_a_bad_token_is_left_aside_when_told(qtbot, program, page, fake):
    program.services.tokens.keep("hf_wrong")
    paste(qtbot, page, "tiny/Tiny-GGUF")
    qtbot.waitUntil(page.finder.errors.isVisible)
    _sign_in, without, _again = page.finder.errors.buttons
    assert without.text() == "Go on without the token"
    without.click()
    qtbot.waitUntil(page.finder.offers.isVisible)
    fetch(qtbot, program, page)
    assert state(program) == [State.DONE]


def test_offline_breaks_a_download_off_and_online_it_goes_on(qtbot, program, page, fake):
    fake.add("tiny/Large-GGUF", {"large-Q8_0.gguf": gguf_file(tensors=40)}, tags=("gguf",))
    fake.faults.next(Slow(bytes_per_second=50_000), "large-Q8_0.gguf")
    paste(qtbot, page, "tiny/Large-GGUF")
    page.finder.offers._fetch.click()
    qtbot.waitUntil(lambda: any(job.done_bytes for job in program.services.downloads.snapshot.jobs))
    program.window.show_page("network")
    program.window.pages["network"]._offline.click()
    qtbot.waitUntil(lambda: state(program) == [State.QUEUED])
    (waiting,) = program.services.downloads.snapshot.jobs
    assert 0 < waiting.done_bytes < waiting.total_bytes
    program.window.pages["network"]._offline.click()
    qtbot.waitUntil(lambda: state(program) == [State.DONE])
    _broken_off, taken_up = fake.asked(server="cdn")
    assert taken_up.headers["range"] == f"bytes={waiting.done_bytes}-"


def test_closing_waits_neither_for_a_search_nor_for_a_download_that_hangs(qtbot, qapp, program, page, fake):
    fake.faults.next(Stall(0), "Tiny-Q8_0.gguf")
    paste(qtbot, page, "tiny/Tiny-GGUF:Q8_0")
    page.finder.offers._fetch.click()
    qtbot.waitUntil(lambda: bool(fake.asked(server="cdn")))
    fake.faults.next(Stall(-1), on="api")
    page.finder.field.setText("tiny/Big-GGUF")
    page.finder.look()
    qtbot.waitUntil(lambda: fake.faults.left == 0)
    program.close()
    again = Program(qapp, default_paths(), lambda: {ENGINE.id: ENGINE})
    again.open()
    qtbot.waitUntil(lambda: bool(again.window.pages))
    qtbot.waitUntil(lambda: state(again) == [State.DONE])
    again.close()
    again.window.deleteLater()


def test_what_is_paused_goes_on_after_a_new_start(qtbot, qapp, program, page, fake):
    program.settings.change(download_mbps=1)
    fake.add("tiny/Large-GGUF", {"large-Q8_0.gguf": gguf_file(tensors=40)}, tags=("gguf",))
    paste(qtbot, page, "tiny/Large-GGUF")
    page.finder.offers._fetch.click()
    qtbot.waitUntil(lambda: state(program) == [State.RUNNING])
    page.do(Command.PAUSE)
    qtbot.waitUntil(lambda: state(program) == [State.PAUSED])
    program.close()
    again = Program(qapp, default_paths(), lambda: {ENGINE.id: ENGINE})
    again.settings.change(download_mbps=None)
    again.open()
    qtbot.waitUntil(lambda: bool(again.window.pages))
    assert state(again) == [State.PAUSED]
    again.window.show_page("downloads")
    again.window.pages["downloads"].do(Command.RESUME)
    qtbot.waitUntil(lambda: state(again) == [State.DONE])
    again.close()
    again.window.deleteLater()
