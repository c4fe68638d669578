from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from tests.ui.fakes import GIB, running
from tests.ui.load.conftest import card

from weighbridge.hardware.machine import Bandwidth
from weighbridge.running.state import State
from weighbridge_engines.api import Load


def opened(qtbot, sheet, model, load=None):
    sheet.show_model(model, load)
    sheet.entered()
    qtbot.waitUntil(lambda: sheet.reckoned is not None)
    return sheet


def line(sheet, group, name):
    section = sheet.sections[group]
    section.fold.show_open(True)
    return section.lines[name]


def settled(qtbot, sheet):
    qtbot.waitUntil(lambda: sheet.reckoned is not None and sheet.reckoned.choice.load == sheet.draft.load)


def typed(qtbot, sheet, group, name, words):
    field = line(sheet, group, name).field
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, words)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settled(qtbot, sheet)


def test_the_verdict_and_a_bar_stand_at_the_top(qtbot, sheet, model):
    opened(qtbot, sheet, model)
    assert sheet.verdict.verdict.startswith("Fits")
    assert [bar.memory.name for bar in sheet.summary.bars.bars] == ["RAM"]
    assert "GiB" in sheet.verdict.figures[0]


def test_every_setting_of_the_engine_has_a_field_under_few_headings(qtbot, sheet, known, model):
    known.weighing.use_cards(card(0, 24))
    opened(qtbot, sheet, model)
    assert list(sheet.sections) == ["memory", "cards", "speed", "beside", "sampling", "form", "more"]
    for section in sheet.sections.values():
        section.fold.show_open(True)
    shown = {name: each for section in sheet.sections.values() for name, each in section.lines.items()}
    assert set(shown) == {control.name for control in known.weighing.sources.engines["llama_server"].controls}
    assert all(each.field.accessibleName() and each.field.accessibleDescription() for each in shown.values())


def test_settings_of_cards_stand_only_where_there_is_one(qtbot, sheet, model):
    opened(qtbot, sheet, model)
    assert "cards" not in sheet.sections


def test_a_change_tells_what_it_comes_to(qtbot, sheet, model):
    opened(qtbot, sheet, model)
    typed(qtbot, sheet, "memory", "context", "16384")
    shown = line(sheet, "memory", "context")
    assert (sheet.draft.load.context, shown.effect.text()) == (16384, "+1.7\u202fGiB")
    assert "(+1.7\u202fGiB)" in sheet.verdict.figures[0]
    shown.back.click()
    settled(qtbot, sheet)
    assert (sheet.draft.changed, shown.effect.text(), shown.back.isVisible()) == ({}, "", False)


def test_grouped_digits_are_read_as_they_are_shown(qtbot, sheet, model):
    opened(qtbot, sheet, model)
    assert line(sheet, "memory", "context").field.text() == "4,096"
    typed(qtbot, sheet, "memory", "context", "8,192")
    assert sheet.draft.load.context == 8192


def test_what_each_word_would_change_stands_in_its_list(qtbot, sheet, model):
    opened(qtbot, sheet, model)
    field = line(sheet, "memory", "key_type").field
    shown = [field.itemText(place) for place in range(field.count())]
    assert shown[0] == "auto · f16"
    assert "q8_0   \u2212135.0\u202fMiB" in shown
    field.activated.emit(shown.index("q8_0   \u2212135.0\u202fMiB"))
    settled(qtbot, sheet)
    assert sheet.draft.load.key_type == "q8_0"


def test_a_wrong_value_stays_and_is_refused_with_its_range(qtbot, sheet, model):
    opened(qtbot, sheet, model)
    shown = line(sheet, "memory", "slots")
    shown.field.selectAll()
    qtbot.keyClicks(shown.field, "999")
    qtbot.keyClick(shown.field, Qt.Key.Key_Return)
    assert shown.why.text() == "Slots cannot be 999. It goes from 1 to 256."
    assert (sheet.draft.load.slots, sheet.load_button.isEnabled()) == (1, False)
    typed(qtbot, sheet, "memory", "slots", "2")
    assert (shown.why.text(), sheet.load_button.isEnabled()) == ("", True)


def test_what_was_typed_wrong_is_forgotten_with_all_else(qtbot, sheet, known, model):
    opened(qtbot, sheet, model)
    shown = line(sheet, "memory", "slots")
    shown.field.selectAll()
    qtbot.keyClicks(shown.field, "999")
    qtbot.keyClick(shown.field, Qt.Key.Key_Return)
    sheet.reset()
    assert (shown.field.text(), shown.why.text(), sheet.load_button.isEnabled()) == ("1", "", True)
    qtbot.keyClicks(shown.field, "99")
    other = next(one for one in known.library.models if one.id == "Qwen3-0.6B-Q8_0")
    opened(qtbot, sheet, other)
    assert (line(sheet, "memory", "slots").field.text(), sheet.draft.load.slots) == ("1", 1)


def test_where_the_memory_is_measured_a_change_tells_its_speed(qtbot, sheet, known, model):
    known.weighing.use_machine(bandwidth=Bandwidth(40.0, 40.0, "", "2026-01-01"))
    opened(qtbot, sheet, model)
    assert "tok/s" in sheet.verdict.figures[1]
    typed(qtbot, sheet, "speed", "threads", "1")
    assert "tok/s" in line(sheet, "speed", "threads").effect.text()


def test_where_it_is_not_a_change_of_speed_is_unknown(qtbot, sheet, model):
    opened(qtbot, sheet, model)
    assert sheet.reckoned.no_speed.code == "speed.no_ram_bandwidth"
    typed(qtbot, sheet, "speed", "threads", "1")
    assert line(sheet, "speed", "threads").effect.text() == "speed unknown"


def test_settings_that_do_not_go_together_are_told_at_one_of_them(qtbot, sheet, model):
    opened(qtbot, sheet, model)
    sheet.set_value("value_type", "q8_0")
    sheet.set_value("flash_attention", False)
    settled(qtbot, sheet)
    assert "cannot be used with Flash attention" in line(sheet, "memory", "value_type").why.text()
    assert not sheet.load_button.isEnabled()
    sheet.set_value("flash_attention", None)
    assert sheet.load_button.isEnabled()


def test_it_is_loaded_as_it_is_asked_for_and_the_sheet_closes(qtbot, sheet, known, model):
    opened(qtbot, sheet, model)
    sheet.set_value("context", 2048)
    sheet.set_value("temperature", 0.2)
    settled(qtbot, sheet)
    with qtbot.waitSignal(sheet.closed):
        sheet.load()
    made = known.supervisor.made[-1]
    assert (made.context, made.sampling) == (2048, {"temperature": 0.2})


def test_more_threads_than_cores_are_honoured_with_a_warning(qtbot, sheet, known, model):
    opened(qtbot, sheet, model)
    typed(qtbot, sheet, "speed", "threads", "4")
    assert "More threads than the 3 cores" in line(sheet, "speed", "threads").why.text()
    assert sheet.load_button.isEnabled()
    assert sheet.draft.load.threads == 4


def test_two_models_share_the_cores(qtbot, sheet, known, model):
    other = running("other", State.READY, load=Load("other", threads=2))
    known.supervisor.become(known.bus, other)
    opened(qtbot, sheet, model)
    typed(qtbot, sheet, "speed", "threads", "2")
    assert "4 threads share 3 cores" in line(sheet, "speed", "threads").why.text()
    assert "other (Loaded)" in sheet.summary.company


def test_what_would_be_ended_is_said_before(qtbot, sheet, known, model):
    known.supervisor.become(known.bus, running("other", State.READY, pinned=False))
    known.supervisor.ends = ("other",)
    opened(qtbot, sheet, model)
    qtbot.waitUntil(lambda: sheet.summary.ends == "Loading this ends: other")


def test_where_it_does_not_fit_there_is_a_choice_with_numbers(qtbot, sheet, known, model):
    big = next(one for one in known.library.models if one.id == "Qwen3-8B-Q8_0")
    opened(qtbot, sheet, big, Load(str(big.path), alias=big.id, context=40_960, threads=2, batch=512))
    assert sheet.verdict.verdict.startswith("No")
    kinds = [way.kind for way in sheet.reckoned.ways]
    assert kinds == ["context", "cache", "quant"]
    said = [each.accessibleName() for each in sheet.summary.ways.buttons]
    assert "A context of" in said[0]
    assert "left" in said[0]
    assert said[-1].startswith("Leave it")
    assert sheet.load_button.text() == "Load anyway"
    sheet.summary.ways.buttons[0].click()
    settled(qtbot, sheet)
    assert sheet.reckoned.choice.fit.verdict in ("fits", "tight")
    assert sheet.summary.ways.isHidden()
    assert 4096 <= sheet.draft.load.context < 40_960


def test_another_quantisation_is_one_click(qtbot, sheet, known, model):
    big = next(one for one in known.library.models if one.id == "Qwen3-8B-Q8_0")
    opened(qtbot, sheet, big, Load(str(big.path), alias=big.id, context=40_960, threads=2, batch=512))
    place = [way.kind for way in sheet.reckoned.ways].index("quant")
    sheet.summary.ways.buttons[place].click()
    settled(qtbot, sheet)
    assert sheet.reckoned.choice.model.id == "Qwen3-8B-Q4_K_M"
    assert sheet.draft.load.context == 40_960


def test_the_split_over_two_cards_is_dragged_and_typed(qtbot, sheet, known, model):
    known.weighing.use_cards(card(0, 24), card(1, 8))
    opened(qtbot, sheet, model)
    bar = sheet.cards.bar
    assert bar.shares == (75, 25)
    bar.setFocus()
    qtbot.keyClick(bar, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    settled(qtbot, sheet)
    assert sheet.draft.load.split == (65.0, 35.0)
    assert line(sheet, "cards", "split").field.text() == "65, 35"
    typed(qtbot, sheet, "cards", "split", "1, 1")
    assert bar.shares == (50, 50)
    x = bar.width() // 2
    qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=bar.rect().center())
    qtbot.mouseMove(bar, bar.rect().center())
    target = bar.rect().center()
    target.setX(x + bar.width() // 5)
    qtbot.mouseMove(bar, target)
    qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=target)
    settled(qtbot, sheet)
    assert bar.shares[0] in (69, 70, 71)


def test_one_card_if_it_fits(qtbot, sheet, known, model):
    known.weighing.use_cards(card(0, 24), card(1, 8))
    opened(qtbot, sheet, model)
    assert sheet.cards.said.startswith("RTX 0: Fits")
    sheet.cards.button.click()
    settled(qtbot, sheet)
    assert (sheet.draft.load.split_mode, sheet.draft.load.main_gpu) == ("none", 0)
    assert [bar.memory.name for bar in sheet.summary.bars.bars if len(bar.memory.ordered) > 2] == ["RAM", "RTX 0"] or (
        sheet.cards.bar.shares == (100, 0)
    )


def test_presets_are_kept_taken_and_removed(qtbot, sheet, known, model):
    opened(qtbot, sheet, model)
    sheet.set_value("context", 2048)
    sheet.set_value("key_type", "q8_0")
    sheet.presets.ask_name()
    sheet.presets.name.setText("small")
    qtbot.keyClick(sheet.presets.name, Qt.Key.Key_Return)
    assert known.presets.named(model, "small").values == {"context": 2048, "key_type": "q8_0"}
    sheet.reset()
    assert sheet.draft.asked == {}
    sheet.presets.taken.emit(known.presets.named(model, "small"))
    assert sheet.draft.asked == {"context": 2048, "key_type": "q8_0"}
    sheet.presets.made_default.emit("small")
    assert known.presets.default(model).name == "small"
    assert known.weighing.choice(model) is None  # what was weighed without it holds no more
    sheet.presets.renamed.emit("small", "smaller")
    assert known.presets.default(model).name == "smaller"
    sheet.presets.removed.emit("smaller")
    assert known.presets.of(model) == ()


def test_a_preset_with_a_setting_that_is_gone_is_told(qtbot, sheet, known, model):
    known.presets.save(model, "old", {"gone": 1, "slots": 2})
    opened(qtbot, sheet, model)
    sheet.presets.taken.emit(known.presets.named(model, "old"))
    assert sheet.draft.load.slots == 2
    assert sheet.note.startswith("Not all of the preset old is used. There is no setting called gone.")


def test_what_is_loaded_is_shown_as_requested_and_effective(qtbot, sheet, known, model):
    load = Load(str(model.path), alias=model.id, context=8192, threads=2)
    known.supervisor.become(known.bus, running(model.id, State.READY, load=load))
    opened(qtbot, sheet, model)
    assert sheet.draft.before == load
    assert sheet.load_button.text() == "Load again"
    assert sheet.summary._loaded.isVisible()


def test_the_same_with_llama_server_can_be_copied(qtbot, qapp, sheet, model):
    opened(qtbot, sheet, model)
    assert sheet.summary.command == f"llama-server -m {model.path} -c 4096"
    sheet.summary.copy_button.click()
    assert qapp.clipboard().text() == sheet.summary.command


def test_escape_leaves_a_name_first_and_then_the_sheet(qtbot, sheet, model):
    opened(qtbot, sheet, model)
    sheet.presets.ask_name()
    assert sheet.escape()
    assert not sheet.presets.asks
    with qtbot.waitSignal(sheet.closed):
        sheet.escape()


@pytest.mark.parametrize("width", [620, 1100])
def test_what_it_comes_to_gives_way_in_a_narrow_window(qtbot, sheet, model, width):
    opened(qtbot, sheet, model)
    sheet.resize(width, 560)
    assert sheet.summary.bars.bars[0].isVisible()
    assert sheet.minimumSizeHint().width() <= 820


def test_files_beside_the_model_are_weighed(qtbot, sheet, model, tmp_path):
    opened(qtbot, sheet, model)
    file = tmp_path / "mmproj.gguf"
    file.write_bytes(b"\0" * 1024)
    with file.open("r+b") as held:
        held.truncate(GIB)
    line(sheet, "beside", "projector").field.take(str(file))
    settled(qtbot, sheet)
    assert sheet.draft.load.projector == str(file)
    assert line(sheet, "beside", "projector").effect.text().startswith("+")


def test_another_engine_knows_other_settings(qtbot, sheet, known, model):
    llama = known.weighing.sources.engines["llama_server"]
    kept = tuple(one for one in llama.controls if one.name in ("context", "threads"))
    other = replace(llama, id="llama_cpp", title="llama-cpp-python", controls=kept, check=lambda load: None)
    known.weighing.sources.engines["llama_cpp"] = other
    opened(qtbot, sheet, model)
    field = line(sheet, "more", "engine").field
    assert field.itemText(0) == "auto · llama.cpp"
    sheet.set_value("engine", "llama_cpp")
    settled(qtbot, sheet)
    assert set(sheet.draft.known) == {"engine", "context", "threads"}
    assert list(sheet.sections) == ["memory", "speed", "more"]
    sheet.load()
    assert known.supervisor.made[-1].engine == "llama_cpp"
