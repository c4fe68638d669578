"""What is looked at before anything is loaded."""

import shutil

import pytest
from tests.choices.made_surroundings import NOT_HERE, RTX, engine, machine, told, unseen

from weighbridge.base.errors import BadFile
from weighbridge.running.devices import Told
from weighbridge.running.doctor import (
    Area,
    State,
    cards_checked,
    engines_checked,
    folder_checked,
    is_well,
    tried,
)
from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue

BROKEN = Told("llama_server", "llama.cpp", "1", None, Cause("engine.illegal_instruction", {"signal": "SIGILL"}))


def test_an_engine_that_tells_its_devices_is_well():
    [one] = engines_checked({"llama_server": engine()}, [told()])
    assert (one.subject, one.state, one.detail) == ("Llama 1", State.WELL, ("A Processor",))


def test_an_engine_that_dies_when_it_is_asked_is_wrong():
    [one] = engines_checked({"llama_server": engine()}, [BROKEN])
    assert (one.state, one.cause.code) == (State.WRONG, "engine.illegal_instruction")
    assert not is_well([one])


def test_the_first_start_without_any_engine_names_the_one_to_install():
    [one] = engines_checked({"echo": catalogue()["echo"], "llama_server": engine(missing=NOT_HERE)}, [])
    assert (one.state, one.cause.code) == (State.WRONG, "engine.none_installed")


def test_the_trial_engine_is_not_shown():
    assert list(engines_checked({"llama_server": engine()}, [Told("echo", "Echo", None, ())])) == []


def test_a_card_that_no_engine_uses_is_worth_knowing():
    [one] = cards_checked(machine(unseen(RTX)), [told()])
    assert (one.state, one.cause.code) == (State.NOTE, "engine.no_build")
    assert is_well([one])


def test_a_card_that_an_engine_uses_is_well():
    assert [one.state for one in cards_checked(machine(RTX), [told()])] == [State.WELL]


def test_a_folder_that_is_not_there_yet_is_made_later(tmp_path):
    assert folder_checked(tmp_path / "a" / "b", to_write=True).state is State.WELL
    assert not (tmp_path / "a").exists()


def test_a_file_in_the_place_of_a_folder(tmp_path):
    (tmp_path / "models").write_text("")
    one = folder_checked(tmp_path / "models", to_write=True)
    assert (one.state, one.cause.code) == (State.WRONG, "folder.unusable")


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: shutil._ntuple_diskusage(10, 9, 1))
    one = folder_checked(tmp_path, to_write=True)
    assert (one.state, one.cause.code, one.cause.values["free_bytes"]) == (State.NOTE, "folder.full", 1)


@pytest.mark.parametrize(
    ("error", "code"),
    [(BadFile("database.unusable", path="x", reason="y"), "database.unusable"), (OSError(), "system")],
)
def test_what_cannot_be_looked_at_is_wrong(error, code):
    def look():
        raise error

    [one] = tried(Area.DATABASE, "x", look)
    assert (one.state, one.cause.code) == (State.WRONG, code)


def test_notices_are_notes():
    assert [one.state for one in tried(Area.SETTINGS, "x", lambda: [Cause("settings.damaged")])] == [State.NOTE]
    assert [one.state for one in tried(Area.SETTINGS, "x", list)] == [State.WELL]
