"""A load that failed, in the window: what can be done, the button of each, and the report to copy."""

from concurrent.futures import Future

import pytest
from PySide6.QtWidgets import QApplication
from tests.ui.fakes import running

from weighbridge.base.errors import EngineFailed
from weighbridge.choices.fixes import Fix, FixKind
from weighbridge.running.state import State
from weighbridge.ui.fixing import Fixing
from weighbridge_engines.api import Load

NAME = "Qwen3-8B-Q4_K_M"
LOAD = Load("m.gguf", context=4096)


def failed(code="engine.bad_model_file", log=("last words",), load=LOAD, **values):
    error = EngineFailed(code, log, **{"engine": "llama.cpp", **values})
    return running(NAME, State.FAILED, error=error, log=log, load=load)


@pytest.fixture
def shown(qtbot, full, library_page):
    """Has a failed load shown in the Library, and waits for what is found of it."""

    def show(one):
        library_page.table.choose(NAME)
        full.supervisor.become(full.bus, one)
        panel = library_page.detail.failure
        qtbot.waitUntil(lambda: panel.isVisible() and panel.error is one.error)
        qtbot.waitUntil(lambda: panel._copied != "")
        return panel

    return show


def test_the_library_says_what_can_be_done_about_a_failed_load(shown):
    panel = shown(failed())
    assert panel.shown_report.what.startswith("llama.cpp cannot read the model file")
    assert [one.text() for one in panel.fixes] == ["Verify the file", "Get it from the Hub…"]


def test_the_report_to_copy_is_one_for_strangers(shown):
    panel = shown(failed(log=("HF_TOKEN=hf_abcdefgh12345678", "the end")))
    panel.copy_report()
    copied = QApplication.clipboard().text()
    assert "code: engine.bad_model_file" in copied
    assert copied.endswith("the end")
    assert "hf_abcdefgh" not in copied


def test_a_fix_that_loads_otherwise_is_one_press(qtbot, full, shown):
    load = Load("m.gguf", context=4096, draft="d.gguf")
    panel = shown(failed("engine.draft_mismatch", reason="x", load=load))
    [button] = panel.fixes
    button.click()
    qtbot.waitUntil(lambda: bool(full.supervisor.made))
    assert full.supervisor.made == [Load("m.gguf", context=4096)]


def test_verifying_is_done_where_it_is_shown(qtbot, full, library_page, shown):
    panel = shown(failed())
    panel.fixes[0].click()
    qtbot.waitUntil(lambda: library_page.detail.told != "")


def test_what_was_found_stays_while_the_same_failure_is_shown(full, shown, library_page):
    one = failed()
    panel = shown(one)
    buttons = panel.fixes
    full.supervisor.become(full.bus, one)
    assert panel.fixes == buttons


def test_what_was_closed_stays_closed_until_the_next_failure(full, shown):
    one = failed()
    panel = shown(one)
    panel._close.click()
    full.supervisor.become(full.bus, one)
    assert panel.isHidden()
    assert shown(failed()).isVisible()


def test_a_finding_of_an_earlier_failure_is_not_shown(shown):
    panel = shown(failed())
    old = panel.error
    later = EngineFailed("engine.ended", engine="llama.cpp", exit_code=1)
    panel.show_error(later)
    panel.show_finding(old, None, "old")
    assert panel.fixes == []


def done(fix, full):
    Fixing(full).do(fix)


def test_ending_another_model_comes_before_the_load(qtbot, full):
    ended, order = Future(), []
    full.supervisor.stop = lambda model_id: order.append(model_id) or ended
    load = Load("m.gguf")
    done(Fix(FixKind.END, NAME, load, other_id="other"), full)
    assert (order, full.supervisor.loads) == (["other"], [])
    ended.set_result(None)
    qtbot.waitUntil(lambda: bool(full.supervisor.loads))


def test_another_engine_loads_it(qtbot, full):
    load = Load("m.gguf", engine="openvino")
    done(Fix(FixKind.OTHER_ENGINE, NAME, load, title="OpenVINO GenAI"), full)
    qtbot.waitUntil(lambda: bool(full.supervisor.made))
    assert full.supervisor.made == [load]


def test_a_build_is_shown_where_it_is_installed(qtbot, full):
    with qtbot.waitSignal(full.bus.build_wanted) as wanted:
        done(Fix(FixKind.INSTALL_BUILD, NAME, build_id="llama_server-vulkan"), full)
    assert wanted.args == ["llama_server-vulkan"]


def test_fetching_leads_to_the_hub(qtbot, full):
    with qtbot.waitSignal(full.bus.page_wanted) as wanted:
        done(Fix(FixKind.FETCH, NAME, repository="a/b"), full)
    assert wanted.args == ["discover"]
