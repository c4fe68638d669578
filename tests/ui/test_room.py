"""Nothing is cut off or lies on something else where there is little room: small windows, large fonts, long words."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from tests.ui.cut import cut

from weighbridge.ui.chat.switcher import ModelSwitcher
from weighbridge.ui.memory_parts import Memory, Part
from weighbridge.ui.pages.library import LibraryPage
from weighbridge.ui.pages.network import NetworkPage
from weighbridge.ui.widgets.error_panel import ErrorPanel, Report
from weighbridge.ui.widgets.legend import Legend
from weighbridge.ui.widgets.question import Question

REPORT = Report(
    "The licence of meta-llama/Llama-3.3-70B-Instruct has to be accepted first.",
    "Accept it at https://huggingface.co/meta-llama/Llama-3.3-70B-Instruct with the account of your token.",
    "details",
)


@pytest.fixture(autouse=True)
def large(scale_fonts):
    scale_fonts(1.5)


def show(qtbot, part, width, height=600):
    """`part` at the top of a page of that size."""
    page = QWidget()
    qtbot.addWidget(page)
    layout = QVBoxLayout(page)
    layout.addWidget(part)
    layout.addStretch(1)
    page.resize(width, height)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    return page


@pytest.mark.parametrize("width", [420, 700, 1200])
def test_an_error_is_whole_and_its_buttons_wrap(qtbot, services, width):
    panel = ErrorPanel(services.theme)
    page = show(qtbot, panel, width)
    panel.show_report(REPORT, (("Open the licence page", page.update), ("Try again", page.update)))
    qtbot.waitUntil(lambda: cut(page) == [])
    assert panel._glyph.y() < panel.height() / 3  # beside what happened, not beside the buttons


def test_tab_goes_through_an_error_as_it_reads(qtbot, services):
    panel = ErrorPanel(services.theme)
    page = show(qtbot, panel, 800)
    panel.show_report(REPORT, (("Open the licence page", page.update), ("Try again", page.update)))
    panel.buttons[0].setFocus()
    reached = []
    for _ in range(4):
        reached.append(QApplication.focusWidget().text())
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert reached == ["Open the licence page", "Try again", "Show details", "Copy report"]


def test_a_question_is_closed_only_where_no_answer_leaves_all_as_it_is(qtbot):
    question = Question()
    page = show(qtbot, question, 500)
    question.ask("Remove Qwen3-8B-Q4_K_M, which frees 4.7 GiB?", (("Remove", page.update), ("Keep it", None)))
    assert not question._close.isVisible()
    question.buttons[1].click()
    assert not question.isVisible()
    question.ask("Broken-7B is off the list.", (("Undo", page.update),), focus=None)
    assert question._close.isVisible()


def test_a_long_name_in_a_legend_stays_in_it(qtbot, services):
    legend = Legend(services.theme)
    page = show(qtbot, legend, 260)
    legend.show_memory(Memory("RAM", 1 << 34, (Part("weights", 1 << 30, "Qwen3-30B-A3B-Instruct-2507-Q4_K_M"),)))
    assert all(place.right() <= legend.width() for place in legend._places(legend.width()))
    assert page.isVisible()


def test_the_head_of_the_requests_takes_two_lines_where_one_is_too_short(qtbot, services):
    page = NetworkPage(services)
    qtbot.addWidget(page)
    page.resize(620, 640)
    page.show()
    qtbot.waitUntil(lambda: cut(page) == [])
    assert page._filter.mapTo(page, page._filter.rect().topLeft()).y() < page.height()
    page.shut()


def test_the_name_of_the_model_gives_way_in_the_middle_before_the_buttons_do(qtbot, full):
    switcher = ModelSwitcher()
    page = show(qtbot, switcher, 400)
    model = replace(full.library.models[0], title="Qwen3-30B-A3B-Instruct-2507-Q4_K_M")
    switcher.show_models([model], [], model)
    assert switcher.minimumSizeHint().width() < switcher.sizeHint().width()
    switcher.setFixedWidth(switcher.minimumSizeHint().width())
    assert not page.grab().isNull()  # painted by Qt's own style, with another text
    assert switcher.text() == model.title


def test_a_question_leaves_the_library_no_part_on_another(qtbot, full):
    page = LibraryPage(full)
    qtbot.addWidget(page)
    page.resize(940, 592)
    page.show()
    qtbot.waitUntil(lambda: page.table.chosen is not None)
    page.question.ask("Remove Qwen3-8B-Q4_K_M? " * 6, (("Move to the bin", page.update), ("Keep it", None)))
    qtbot.waitUntil(lambda: cut(page) == [])
    page.shut()


def test_signing_in_leaves_the_network_page_whole(qtbot, services):
    page = NetworkPage(services)
    qtbot.addWidget(page)
    page.resize(930, 592)
    page.show()
    page.account.open()
    qtbot.waitUntil(lambda: cut(page) == [])
    qtbot.waitUntil(lambda: not page.account.field.visibleRegion().isEmpty())
    page.shut()
