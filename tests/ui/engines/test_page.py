"""The page Engines: cards, hints, installing, choosing, asking, removing; offline, closed, left."""

import subprocess
import time
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication, QFileDialog
from tests.running.made_builds import PROCESSOR, llama_server
from tests.ui.engines.made_engines import ABSENT, CPU, CUDA, MADE, PLAIN, RTX, put_environment
from tests.ui.fakes import running

from weighbridge.running.installing import command_for
from weighbridge.ui.engines.looks import Act
from weighbridge_engines.api import Cause, Hardware

SLOW = "while True: time.sleep(0.05)"
SERVER = replace(MADE, id="llama_server", title="llama.cpp")


def menu(row):
    row._fill_menu()
    return {one.text(): one for one in row._menu.actions() if one.text()}


def ids(made):
    return list(made.page.rows)


def in_use(made):
    return [build.id for build in made.engines.builds if build.in_use]


def said(made):
    return made.page.question.what if not made.page.question.isHidden() else ""


@pytest.fixture
def cuda(services):
    """A build that sees the card is installed."""
    return put_environment(services.paths.data, "made-cuda", "CUDA 12", (CPU, RTX))


def test_a_card_shows_what_is_here_and_what_can_be_had(make):
    made = make()
    assert ids(made) == ["made", "made-cuda", "made-plain"]
    assert made.page.rows["made"].shown[0] == "With Weighbridge"
    assert made.page.rows["made"].shown[-1] == "Sees CPU (A Processor)"
    assert [row.first.text() for row in made.page.rows.values() if not row.first.isHidden()] == ["Install", "Install"]
    assert made.page.rows["made-cuda"].first.accessibleName() == "Install: Made, CUDA 12"


def test_builds_for_other_machines_are_folded_and_unfold_for_who_looks_for_one(qtbot, make):
    made = make(card=None)
    row, (card,) = made.page.rows["made-cuda"], made.page.cards.values()
    assert not row.isVisible()
    assert card.fold.line.text() == "2 more builds"
    assert card.fold.line.accessibleName() == "2 more builds: Made"
    made.services.bus.build_wanted.emit("made-cuda")
    qtbot.waitUntil(row.first.hasFocus)


def test_a_card_that_nothing_uses_has_one_button_that_installs_the_build(qtbot, make):
    made = make()
    made.answers.devices = (PROCESSOR, RTX)
    (banner,) = made.page.banners
    assert banner.hint.said == "NVIDIA GeForce RTX 3090 is not used: the CUDA 12 build of Made can use it."
    qtbot.mouseClick(banner.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: in_use(made) == ["made-cuda"])
    qtbot.waitUntil(lambda: said(made).startswith("The CUDA 12 build of Made is installed and in use. Sees CPU"))
    qtbot.waitUntil(lambda: made.builds.known.bytes_of.get("made-cuda") is not None)
    row = made.page.rows["made-cuda"]
    assert row.shown[1].startswith("Version 1.5 · ")
    assert "Update" not in menu(row)
    assert {"Ask what it sees", "Log of its installation", "Copy the command", "Remove…"} <= set(menu(row))


def test_after_an_installation_all_else_asks_the_engines_anew(qtbot, make):
    made = make()
    made.answers.devices = (PROCESSOR, RTX)
    made.page.do(Act.INSTALL, "made-cuda")
    qtbot.waitUntil(lambda: [one.devices for one in made.facts.told] == [(PROCESSOR, RTX)])


def test_an_installation_tells_how_it_goes_and_can_be_given_up(qtbot, make):
    made = make()
    made.uv.does(SLOW)
    made.page.do(Act.INSTALL, "made-cuda")
    row = made.page.rows["made-cuda"]
    assert not row.installing.isHidden()
    assert row.badge.accessibleName() == "Being installed"
    assert row.first.isHidden()
    assert not made.page.rows["made-plain"].first.isEnabled()
    assert not made.page.banners[0].button.isEnabled()
    qtbot.waitUntil(lambda: "uv says venv" in row.installing.log.shown)
    assert row.installing.stage.startswith("Fetching and unpacking · ")
    qtbot.mouseClick(row.installing.cancel, Qt.MouseButton.LeftButton)
    assert row.installing.stage == "Giving it up…"
    qtbot.waitUntil(lambda: made.builds.installation is None)
    assert not row.installing.isVisible()
    assert row.badge.accessibleName() == "Can be installed"
    assert row.errors.isHidden()
    assert row.first.isEnabled()
    assert not made.page._timer.isActive()
    assert not (made.engines.folder / "made-cuda").exists()


def test_an_installation_that_fails_says_why_with_its_last_lines(qtbot, make):
    made = make()
    made.uv.does("print('error: no such wheel', flush=True); sys.exit(2)")
    made.page.do(Act.INSTALL, "made-cuda")
    row = made.page.rows["made-cuda"]
    qtbot.waitUntil(row.errors.isVisible)
    assert "no such wheel" in row.errors.shown_report.what
    assert "uv says venv" in row.errors.shown_report.details
    row.errors.copy_report()
    assert "no such wheel" in QApplication.clipboard().text()
    made.uv.does("")
    qtbot.mouseClick(row.errors.buttons[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "made-cuda" in {build.id for build in made.engines.builds})
    assert row.errors.isHidden()


def test_a_build_that_sees_no_card_is_installed_and_not_used(qtbot, make):
    made = make()
    made.page.do(Act.INSTALL, "made-cuda")
    qtbot.waitUntil(lambda: "sees no card here" in said(made))
    assert in_use(made) == ["made"]


def test_the_log_of_an_installation_is_shown_until_it_is_folded(qtbot, make, cuda):
    made = make()
    row = made.page.rows["made-cuda"]
    made.page.do(Act.LOG, "made-cuda")
    qtbot.waitUntil(row.log.isVisible)
    assert "Resolved 1 package" in row.log.shown
    assert row.log.fold.is_open
    row.log.fold.toggle()
    qtbot.waitUntil(lambda: not row.log.isVisible())


def test_using_another_build_can_be_undone(qtbot, make, cuda):
    made = make()
    qtbot.mouseClick(made.page.rows["made-cuda"].first, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: said(made) == "Made is loaded as CUDA 12 from now on; what is loaded goes on as it is.")
    assert in_use(made) == ["made-cuda"]
    qtbot.mouseClick(made.page.question.buttons[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: in_use(made) == ["made"])


def test_a_build_that_is_asked_anew_shows_what_it_tells(qtbot, make, cuda):
    made = make()
    row = made.page.rows["made-cuda"]
    assert "CUDA0" in row.shown[2]
    made.page.do(Act.PROBE, "made-cuda")
    assert row.shown[-1] == "Asking what it sees…"
    qtbot.waitUntil(lambda: row.shown[2:] == ["Sees CPU (A Processor)"])


def test_a_newer_one_is_looked_for_where_the_user_asks_and_can_be_had_with_one_button(qtbot, make, cuda):
    made = make()
    row = made.page.rows["made-cuda"]
    listed = '[{"name": "echo-wheel", "version": "1.5", "latest_version": "1.6"}]'
    made.uv.does(f"if argv[:2] == ['pip', 'list']: print({listed!r})")
    assert made.uv.calls == []
    made.page.do(Act.NEWER, "made-cuda")
    assert row.shown[-1] == "Asking the package index for a newer one…"
    qtbot.waitUntil(lambda: said(made) == "1.6 of Made can be had; the CUDA 12 build here is 2026.10.11549.")
    made.answers.devices = (PROCESSOR, RTX)
    qtbot.mouseClick(made.page.question.buttons[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: said(made).startswith("The CUDA 12 build of Made is installed and in use."))


def test_where_there_is_no_newer_one_that_is_said(qtbot, make, cuda):
    made = make()
    made.uv.does("print('[]')")
    made.page.do(Act.NEWER, "made-cuda")
    qtbot.waitUntil(lambda: said(made).startswith("The package index has no newer one than 2026.10.11549"))
    assert made.page.question.buttons == []


def test_that_the_index_did_not_answer_is_told_with_the_build(qtbot, make, cuda):
    made = make()
    made.uv.does("sys.exit('error: Failed to fetch: connection reset')")
    made.page.do(Act.NEWER, "made-cuda")
    row = made.page.rows["made-cuda"]
    qtbot.waitUntil(row.errors.isVisible)
    assert "connection reset" in row.errors.shown_report.what


def test_engines_that_are_for_other_machines_are_folded_under_one_line(qtbot, make):
    made = make(engine=ABSENT, card=None, recipes=(CUDA,))
    card, sections = made.page.cards["made"], made.page.sections
    assert (sections.headings, sections.fold.line.text()) == ([], "1 engine for other machines")
    assert not card.isVisible()
    made.services.bus.build_wanted.emit("made-cuda")
    qtbot.waitUntil(made.page.rows["made-cuda"].first.hasFocus)


def test_a_card_moves_to_its_section_and_stays_unfolded(qtbot, make):
    made = make(engine=ABSENT, recipes=(PLAIN, CUDA))
    card = made.page.cards["made"]
    assert made.page.sections.headings == ["For this machine"]
    card.fold.toggle()
    made.page.do(Act.INSTALL, "made-plain")
    qtbot.waitUntil(lambda: made.page.sections.headings == ["Installed engines"])
    assert (made.page.cards["made"], card.fold.is_open) == (card, True)


def test_what_should_be_known_unfolds_in_the_card(qtbot, make):
    made = make(engine=replace(MADE, notes=("Slow on Mondays.",)))
    card = made.page.cards["made"]
    assert (card.known.line.text(), card.known.is_open) == ("1 thing to know", False)
    assert card.known.line.accessibleName() == "1 thing to know: Made"
    qtbot.mouseClick(card.known.line, Qt.MouseButton.LeftButton)
    assert (card.known.is_open, card.notes) == (True, "Slow on Mondays.")


def test_servers_of_others_stand_among_the_engines_and_what_is_open_there_is_closed_first(qtbot, make):
    made = make()
    section = made.page.endpoints
    assert section.isVisible()
    qtbot.mouseClick(section.add, Qt.MouseButton.LeftButton)
    assert section.form.isVisible()
    assert made.page.escape()
    assert not section.form.isVisible()
    assert not made.page.escape()


def test_what_is_wrong_with_engines_that_the_user_has_described_is_said(make, tmp_path):
    assert make().page.problems == ""
    described = tmp_path / "programs.toml"
    described.write_text('[[program]]\nid = "mine"\n')
    said = make(described=described).page.problems
    assert "mine" in said and "programs.toml" in said


def test_removing_asks_first_and_says_what_goes(qtbot, make, cuda):
    made = make()
    made.page.do(Act.REMOVE, "made-cuda")
    assert said(made).startswith("Remove the CUDA 12 build of Made? The folder ")
    assert "made-cuda is deleted, which frees 3." in said(made)
    _, keep = made.page.question.buttons
    assert keep.hasFocus() or not made.page.isActiveWindow()
    qtbot.mouseClick(keep, Qt.MouseButton.LeftButton)
    assert cuda.exists()
    made.page.do(Act.REMOVE, "made-cuda")
    qtbot.mouseClick(made.page.question.buttons[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: said(made) == "The CUDA 12 build of Made is removed.")
    assert not cuda.parent.exists()
    qtbot.waitUntil(lambda: made.page.rows["made-cuda"].first.text() == "Install")


def test_a_build_that_runs_a_model_can_have_it_stopped_there_and_then(qtbot, make, cuda, services):
    services.supervisor.now = (replace(running(), build="made-cuda"),)
    with subprocess.Popen([cuda / "bin" / "python", "-c", "input()"], stdin=subprocess.PIPE) as engine:
        made = make()
        made.builds.remove("made-cuda")
        row = made.page.rows["made-cuda"]
        qtbot.waitUntil(row.errors.isVisible)
        engine.kill()
    [stop] = row.errors.buttons
    assert stop.text() == "Stop the model"
    stop.click()
    assert services.supervisor.stops == [running().model_id]
    services.supervisor.endings[0].set_result(None)
    qtbot.waitUntil(lambda: not row.errors.isVisible())


def test_a_build_that_runs_for_another_program_cannot_be_freed_here(qtbot, make, cuda):
    with subprocess.Popen([cuda / "bin" / "python", "-c", "input()"], stdin=subprocess.PIPE) as engine:
        made = make()
        made.builds.remove("made-cuda")
        row = made.page.rows["made-cuda"]
        qtbot.waitUntil(row.errors.isVisible)
        engine.kill()
    assert row.errors.buttons == []


def test_a_program_is_added_shown_and_taken_off_the_list_again(qtbot, make, tmp_path, monkeypatch):
    path = llama_server(tmp_path)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *given: (str(path), ""))
    made = make(engine=SERVER)
    made.engines.ask_child = None
    qtbot.mouseClick(made.page._add, Qt.MouseButton.LeftButton)
    assert said(made) == f"Asking {path} what it is, and trying it…"
    assert [one.text() for one in made.page.question.buttons] == ["Cancel"]
    qtbot.waitUntil(lambda: said(made).startswith(f"{path} is on the list. Sees CPU · CUDA0"))
    assert in_use(made) == ["llama_server"]
    (build,) = [one for one in made.engines.builds if one.place]
    qtbot.waitUntil(lambda: build.id in made.page.rows)
    assert "Take off the list" in menu(made.page.rows[build.id])
    made.page.do(Act.FORGET, build.id)
    qtbot.waitUntil(lambda: build.id not in made.page.rows)
    assert path.exists()
    qtbot.mouseClick(made.page.question.buttons[0], Qt.MouseButton.LeftButton)  # Undo
    qtbot.waitUntil(lambda: build.id in made.page.rows)


def test_a_file_that_is_no_program_is_told_above_the_cards(qtbot, make, tmp_path):
    made = make(engine=SERVER)
    made.builds.add(tmp_path / "nothing")
    qtbot.waitUntil(made.page.errors.isVisible)
    assert said(made) == ""
    assert "nothing" in made.page.errors.shown_report.what
    assert made.page.escape()
    assert made.page.errors.isHidden()


def test_a_program_that_is_on_the_list_and_fails_its_trial_says_so_in_its_row_until_it_is_closed(qtbot, make, tmp_path):
    path = llama_server(tmp_path)
    made = make(engine=SERVER)
    made.engines.ask_child = None
    build = made.engines.add(path)
    qtbot.waitUntil(lambda: build.id in made.page.rows)
    row = made.page.rows[build.id]
    path.unlink()
    made.builds.add(path)
    qtbot.waitUntil(row.errors.isVisible)
    assert "There is no program" in row.errors.shown_report.what
    assert row.errors.buttons == []
    row.errors.hide()
    made.builds.changed.emit()
    assert row.errors.isHidden()
    llama_server(tmp_path)
    made.builds.add(path)
    qtbot.waitUntil(lambda: said(made).startswith(f"{path} is on the list."))
    assert made.builds.errors == {}


@pytest.mark.parametrize(("known_as", "asked"), [("served", "getOpenFileName"), ("main.py", "getExistingDirectory")])
def test_of_an_engine_that_we_never_install_the_user_shows_his_own_copy(qtbot, make, monkeypatch, known_as, asked):
    shown = ("/nowhere/copy", "") if asked == "getOpenFileName" else "/nowhere/copy"
    titles = []
    monkeypatch.setattr(QFileDialog, asked, lambda page, title: titles.append(title) or shown)
    cause = Cause("program.to_get", {"program": "made", "get": "elsewhere"})
    engine = replace(ABSENT, missing=lambda: cause, placed=lambda path: ABSENT, known_as=known_as, hardware=Hardware())
    made = make(engine=engine, recipes=())
    row = made.page.rows["made"]
    assert (row.shown[0], row.first.text(), row.first.accessibleName()) == (
        "Your own copy",
        "Add it…",
        "Add it…: Made, Your own copy",
    )
    qtbot.mouseClick(row.first, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(made.page.errors.isVisible)
    assert titles == ["Where is Made?"]
    assert "/nowhere/copy" in made.page.errors.shown_report.what


def test_asking_a_program_can_be_given_up(qtbot, make, tmp_path):
    path = tmp_path / "llama-server"
    path.write_text("#!/bin/sh\nsleep 2\n")
    path.chmod(0o755)
    made = make(engine=SERVER)
    made.engines.ask_child = None
    made.builds.add(path)
    made.page.question.buttons[0].click()
    qtbot.waitUntil(lambda: not made.builds.doing)
    assert (said(made), made.builds.errors) == ("", {})


def test_offline_nothing_is_fetched_and_wheels_can_be_installed(qtbot, make, tmp_path, monkeypatch):
    made = make()
    made.services.settings.change(offline=True)
    row = made.page.rows["made-plain"]
    assert "You are offline" in made.page.offline_note
    assert not row.first.isEnabled()
    assert row.first.toolTip() == "You are offline."
    assert not made.page.banners[0].button.isEnabled()
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "made-1.whl").write_bytes(b"")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *given: str(tmp_path / "wheels"))
    assert menu(row)["Install from wheels…"].isEnabled()
    menu(row)["Install from wheels…"].trigger()
    qtbot.waitUntil(lambda: in_use(made) == ["made-plain"])
    assert made.services.network.requests == ()
    made.services.settings.change(offline=False)
    assert made.page.offline_note == ""


def test_the_command_is_copied(make):
    made = make()
    made.page.do(Act.COPY, "made-cuda")
    assert QApplication.clipboard().text() == "weighbridge engines install made-cuda"


def test_without_any_engine_one_button_installs_the_one_that_suits(qtbot, make):
    made = make(engine=replace(ABSENT, id="llama_server", title="llama.cpp"), card=None, show=False)
    made.page.show()
    made.page.entered()
    qtbot.waitUntil(lambda: bool(made.page.banners))
    assert made.page.banners[0].hint.said.startswith("No engine is installed, so no model can run yet.")


def test_an_engine_that_cannot_be_had_as_a_build_tells_the_command(make, qtbot):
    engine = replace(ABSENT, id="other", title="Other", install="pip install other")
    made = make(engine=engine)
    row = made.page.rows["other"]
    assert "Other is not installed" in row.shown[1]
    made.page.do(Act.COPY, "other")
    assert QApplication.clipboard().text() == command_for(engine)


def test_out_of_sight_nothing_is_drawn_and_an_installation_goes_on(qtbot, make):
    made = make()
    made.uv.does("time.sleep(0.3)")
    made.page.do(Act.INSTALL, "made-plain")
    made.page.left()
    made.page.hide()
    assert not made.page._timer.isActive()
    qtbot.waitUntil(lambda: in_use(made) == ["made-plain"])
    made.page.show()
    made.page.entered()
    qtbot.waitUntil(
        lambda: made.page.rows["made-plain"].shown[0] == "CPU" and made.page.rows["made-plain"].first.isHidden()
    )


def test_closing_the_window_gives_an_installation_up_and_leaves_nothing(qtbot, make):
    made = make()
    made.uv.does(SLOW)
    made.page.do(Act.INSTALL, "made-cuda")
    qtbot.waitUntil(lambda: bool(made.builds.installation.lines))
    began = time.monotonic()
    made.services.background.close()
    assert time.monotonic() - began < 20
    assert not (made.engines.folder / "made-cuda").exists()


def test_a_change_by_another_process_is_seen_when_the_window_is_come_back_to(qtbot, make, services):
    made = make()
    put_environment(services.paths.data, "made-cuda", "CUDA 12", (CPU, RTX))
    QApplication.sendEvent(made.page, QEvent(QEvent.Type.WindowActivate))
    qtbot.waitUntil(lambda: made.page.rows["made-cuda"].first.text() == "Use")


def test_rows_and_focus_stay_where_builds_stay(qtbot, make):
    made = make()
    row = made.page.rows["made-plain"]
    made.page.do(Act.INSTALL, "made-cuda")
    qtbot.waitUntil(lambda: "made-cuda" in {build.id for build in made.builds.known.builds})
    assert made.page.rows["made-plain"] is row
    made.page.do(Act.REMOVE, "made-cuda")
    assert made.page.escape()
    assert said(made) == ""


def test_large_fonts_stay_inside_the_page(qtbot, scale_fonts, make):
    scale_fonts(2)
    made = make()
    made.page.resize(900, 600)
    qtbot.wait(50)
    widths = [row.mapTo(made.page, row.rect().bottomRight()).x() for row in made.page.rows.values()]
    assert max(widths) < 900


def test_one_installation_at_a_time(make, qtbot):
    made = make()
    made.uv.does(SLOW)
    made.builds.install("made-cuda")
    going = made.builds.installation
    made.builds.install("made-plain")
    assert made.builds.installation is going
    going.cancel()
    qtbot.waitUntil(lambda: made.builds.installation is None)


def test_an_endpoint_is_brought_into_sight_and_one_is_added_by_its_kind(qtbot, make):
    made = make()
    services = made.page._services
    services.endpoints.endpoints.add("http://127.0.0.1:1", title="My box")
    services.bus.endpoint_shown.emit("my-box")
    shown = made.page.endpoints.rows["my-box"]
    qtbot.waitUntil(shown.look.hasFocus)
    services.bus.endpoint_shown.emit("gone")
    services.bus.endpoint_wanted.emit("ollama")
    assert made.page.endpoints.form.preset.currentData() == "ollama"
    qtbot.waitUntil(lambda: not made.page.endpoints.form.visibleRegion().isEmpty())
