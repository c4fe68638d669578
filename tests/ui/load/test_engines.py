"""The load sheet with the settings of other engines than llama.cpp's server."""

from dataclasses import replace

import pytest
from tests.library.made_folders import put_exl3, put_genai, put_mlx, put_openvino
from tests.ui.load.conftest import card
from tests.ui.load.test_sheet import line, opened, settled, typed

from weighbridge.library.recognise_path import recognise_path
from weighbridge.ui.load.draft import groups
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

HERE = ("llama_server", "mlx", "exllamav3", "onnx_genai", "openvino")
FOLDERS = [
    ("mlx", put_mlx),
    ("exllamav3", lambda folder: put_exl3(folder, 4.0)),
    ("onnx_genai", put_genai),
    ("openvino", put_openvino),
]


@pytest.fixture
def several(known, monkeypatch):
    """The services with these engines as if they were all installed."""
    made = {name: replace(catalogue()[name], missing=lambda: None) for name in HERE}
    for where in (known.weighing, known.weighing._standing):
        monkeypatch.setattr(where, "_sources", replace(where._sources, engines=made))
    return known


def fields(sheet):
    for section in sheet.sections.values():
        section.fold.show_open(True)
    return {name for section in sheet.sections.values() for name in section.lines}


@pytest.mark.parametrize(("engine_id", "put"), FOLDERS)
def test_a_folder_has_the_settings_of_its_engine_alone(qtbot, sheet, several, tmp_path, engine_id, put):
    several.weighing.use_cards(card(0, 24))
    folder = tmp_path / "a-model"
    folder.mkdir()
    put(folder)
    opened(qtbot, sheet, recognise_path(folder))
    engine = several.weighing.sources.engines[engine_id]
    hosted = {"in_process"} if engine.open_here is not None else set()
    assert sheet.draft.engine.id == engine_id
    assert fields(sheet) == {control.name for control in engine.controls} | hosted
    assert (sheet.draft.refusal, sheet.load_button.isEnabled()) == (None, True)


def test_a_setting_of_a_folder_is_asked_for(qtbot, sheet, several, tmp_path):
    folder = tmp_path / "a-model"
    folder.mkdir()
    put_mlx(folder)
    opened(qtbot, sheet, recognise_path(folder))
    typed(qtbot, sheet, "memory", "context", "2048")
    sheet.set_value("key_type", "q8_0")
    sheet.set_value("value_type", "q8_0")
    settled(qtbot, sheet)
    assert (sheet.draft.load.context, sheet.draft.load.key_type, sheet.draft.refusal) == (2048, "q8_0", None)


def test_another_engine_for_a_gguf_and_back(qtbot, sheet, several, model):
    opened(qtbot, sheet, model)
    plain = sheet.draft.load
    assert line(sheet, "more", "engine")
    typed(qtbot, sheet, "memory", "context", "8192")
    sheet.set_value("key_type", "q8_0")
    sheet.set_value("engine", "openvino")
    settled(qtbot, sheet)
    assert fields(sheet) == {
        control.name for control in catalogue()["openvino"].controls if control.group != "cards"
    } | {"engine"}
    assert (sheet.draft.load.context, sheet.draft.load.key_type, sheet.draft.refusal) == (8192, None, None)
    assert sheet.note.startswith("OpenVINO GenAI does not follow all that was asked for.")
    assert "KV cache: keys" in sheet.note
    assert sheet.load_button.isEnabled()
    sheet.set_value("engine", "llama_server")
    settled(qtbot, sheet)
    assert "checkpoints" in fields(sheet)
    assert sheet.draft.load == replace(plain, context=8192, engine="llama_server")
    assert sheet.note == ""


def test_a_projector_that_was_chosen_is_not_dropped_without_a_word(qtbot, sheet, several, model, monkeypatch):
    load = Load(str(model.path), model.id, context=4096, projector="/p/mmproj.gguf")
    monkeypatch.setattr(several.supervisor, "plain_load", lambda _model: load)
    opened(qtbot, sheet, model, load)
    sheet.set_value("engine", "openvino")
    settled(qtbot, sheet)
    assert sheet.draft.load == Load(str(model.path), model.id, context=4096, engine="openvino")
    assert "Projector" in sheet.note


def test_a_load_that_its_engine_cannot_follow_says_so_where_there_is_no_field_for_it(qtbot, sheet, several, model):
    load = Load(str(model.path), model.id, context=4096, projector="/p/mmproj.gguf", engine="openvino")
    opened(qtbot, sheet, model, load)
    assert not sheet.load_button.isEnabled()
    assert "Projector" in sheet.note


@pytest.mark.parametrize("engine_id", [each.id for each in catalogue().values() if each.controls])
def test_only_options_of_a_persons_own_have_no_heading(engine_id):
    found = {group.name: group for group in groups(catalogue()[engine_id].controls, with_cards=True)}
    assert {control.group for control in found["more"].controls} == {"raw"} if "more" in found else True
