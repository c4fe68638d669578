"""What is loaded beside a model: shown as its parts, chosen, counted."""

import pytest
from PySide6.QtWidgets import QFileDialog
from tests.ui.made_library import MIB, put

from weighbridge.formats.variant import Role
from weighbridge.ui.part_lines import offer_in_words

THIN = "\u202f"
SEES = "Qwen3-8B-Q4_K_M"


@pytest.fixture
def page(library_page, full, qtbot):
    """The page with a projector beside one of its models."""
    projector = {"general.architecture": "clip", "general.type": "mmproj", "clip.vision.projection_dim": 4096}
    put(full.paths.models, "Qwen/Qwen3-8B-GGUF/mmproj-Qwen3-8B-F16.gguf", projector, 800 * MIB)
    library_page.rescan()
    qtbot.waitUntil(library_page._rescan.isEnabled)
    library_page.table.choose(SEES)
    qtbot.waitUntil(lambda: bool(library_page.detail.parts.shown))
    return library_page


def test_a_projector_that_is_here_is_told_and_not_loaded_by_itself(page):
    (line,) = page.detail.parts.shown
    assert (line.role, line.name) == (Role.PROJECTOR, "not loaded")
    assert line.said == "mmproj-Qwen3-8B-F16.gguf is here for it"


def test_what_is_chosen_is_kept_and_told_with_its_size_and_reason(page, full, qtbot):
    model = page.table.chosen.model
    path = model.companion(Role.PROJECTOR).path
    page._parts.choose(Role.PROJECTOR, path)
    assert full.marks.of(model).parts == {Role.PROJECTOR: path}
    qtbot.waitUntil(lambda: [line.name for line in page.detail.parts.shown] == [path.name])
    (line,) = page.detail.parts.shown
    assert line.said.startswith(f"800.0{THIN}MiB · For this model")
    page._parts.choose(Role.PROJECTOR, None)
    qtbot.waitUntil(lambda: [line.name for line in page.detail.parts.shown] == ["not loaded"])
    page._parts._look(page.table.chosen.model)  # the model is listed without it now
    qtbot.waitUntil(lambda: [line.said for line in page.detail.parts.shown] == ["Chosen by you"])


def test_the_menu_of_a_model_offers_each_role_with_its_files(page, full):
    page.acts.beside.aboutToShow.emit()
    projectors, drafts, adapters = (entry.menu() for entry in page.acts.beside.actions())
    names = [entry.text() for entry in projectors.actions() if entry.text()]
    assert names[0] == "None"
    assert names[1].startswith("mmproj-Qwen3-8B-F16.gguf · 800.0")
    assert names[-1] == "Choose a file…"
    assert any("Qwen3-0.6B-Q8_0" in entry.text() for entry in drafts.actions())
    assert [entry.text() for entry in adapters.actions() if entry.text()] == ["None", "Choose a file…"]
    projectors.actions()[1].trigger()
    assert full.marks.of(page.table.chosen.model).parts[Role.PROJECTOR].name == "mmproj-Qwen3-8B-F16.gguf"


def test_a_file_of_anywhere_can_be_chosen_and_one_that_goes_is_told(page, full, qtbot, tmp_path, monkeypatch):
    adapter = put(tmp_path, "lora.gguf", {"general.architecture": "qwen3", "general.type": "adapter"}, MIB)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(adapter), ""))
    page._parts._choose_file(Role.ADAPTER)
    assert full.marks.of(page.table.chosen.model).parts[Role.ADAPTER] == adapter
    qtbot.waitUntil(lambda: [line.name for line in page.detail.parts.shown][-1:] == ["lora.gguf"])
    adapter.unlink()
    page._parts.show(page.table.chosen)
    qtbot.waitUntil(lambda: [line.said for line in page.detail.parts.shown][-1:] == ["not there now"])


def test_each_line_can_be_changed_by_the_keyboard_and_says_what_it_is(page):
    made = page.detail.parts.buttons[Role.PROJECTOR]
    assert made.accessibleName() == "Change: Projector"
    assert "not loaded" in made.accessibleDescription()


def test_an_offer_says_why_it_is_made(page):
    (offered,) = page._parts._found[Role.PROJECTOR]
    assert offer_in_words(offered).endswith("found by its name")


def test_a_damaged_model_has_no_parts(page):
    page.table.choose("Broken-7B.Q4_0")
    assert page.detail.parts.isHidden()
    assert not page.acts.beside.menuAction().isEnabled()
