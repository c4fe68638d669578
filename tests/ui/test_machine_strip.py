"""What if the machine were another: the strip that describes it, and the list of cards that narrows."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from tests.ui.fakes import GIB, machine

from weighbridge.base.errors import Refused
from weighbridge.choices.other_machine import OtherMachine, cards_by_name
from weighbridge.hardware.bandwidth import load_table
from weighbridge.hardware.described import card_called
from weighbridge.hardware.memory_types import load_memory_types
from weighbridge.ui.widgets.machine_strip import MachineStrip

TABLE = load_table()
CARDS = {name: card for name, card in cards_by_name(TABLE).items() if name.startswith(("GeForce RTX 30", "Apple M4"))}
TYPES = load_memory_types()
THIN = "\u202f"


@pytest.fixture
def strip(qtbot, services):
    made = MachineStrip(services.theme, lambda name: card_called(TABLE, name))
    qtbot.addWidget(made)
    made.offer(CARDS, TYPES)
    made.open()
    return made


@pytest.fixture
def told(strip):
    heard = []
    strip.chosen.connect(heard.append)
    return heard


def typed(strip, name):
    line = strip.names.lineEdit()
    line.setText(name)
    line.editingFinished.emit()


def test_a_card_is_found_by_what_people_call_it(strip, told):
    typed(strip, "4090")
    assert told == [OtherMachine(TABLE.card("RTX 4090"))]
    assert strip.names.currentText() == "GeForce RTX 4090"


def test_a_card_of_one_of_its_sizes_is_shown_as_it_is_listed(strip, told):
    typed(strip, "rtx 3060 12gb")
    assert told[0].card.memory_bytes == 12 * GIB
    assert strip.names.currentText() == "GeForce RTX 3060 12GB"


def test_a_part_of_a_name_narrows_the_list(strip):
    completer = strip.names.completer()
    completer.setCompletionPrefix("3060")
    found = {completer.completionModel().index(row, 0).data() for row in range(completer.completionCount())}
    assert "GeForce RTX 3060 8GB" in found
    assert found == {name for name in CARDS if "3060" in name}


def test_how_many_memory_and_its_kind(strip, told):
    typed(strip, "GeForce RTX 3090")
    strip.count.setValue(2)
    strip.ram.setValue(64)
    strip.memory_type.setCurrentIndex(3)
    strip.memory_type.activated.emit(3)
    assert told[-1] == OtherMachine(CARDS["GeForce RTX 3090"], 2, 64 * GIB, TYPES[2])


def test_a_name_that_no_card_has_says_which_are_near_and_changes_nothing(strip, told):
    typed(strip, "GeForce RTX 3091")
    assert told == []
    assert "GeForce RTX 3090" in strip.wrong
    assert "--machine" not in strip.wrong
    typed(strip, "GeForce RTX 3090")
    assert len(told) == 1


def test_a_card_that_is_sold_with_several_memories_asks_which(strip, told):
    typed(strip, "RTX 3060")
    strip.show_error(Refused("machine.card_memory", name="GeForce RTX 3060", sizes=["6", "8", "12"]))
    assert "6, 8" in strip.wrong
    assert "behind its name" in strip.wrong


def test_a_chip_with_its_own_memory_is_alone(strip, told):
    typed(strip, "GeForce RTX 3090")
    strip.count.setValue(4)
    typed(strip, "Apple M4 (10-core GPU)")
    assert told[-1].cards == 1
    assert not strip.count.isEnabled()
    typed(strip, "GeForce RTX 3090")
    assert strip.count.isEnabled()


def test_an_emptied_name_is_the_card_that_is_here(strip, told):
    typed(strip, "GeForce RTX 3090")
    typed(strip, "")
    assert told[-1] == OtherMachine()
    assert strip.names.currentText() == "as here"


def test_back_puts_all_controls_back_and_is_reached_by_the_keyboard(strip, told, qtbot):
    typed(strip, "GeForce RTX 3090")
    strip.ram.setValue(128)
    heard = len(told)
    with qtbot.waitSignal(strip.left):
        QTest.keyClick(strip.back, Qt.Key.Key_Space)
    assert strip.other == OtherMachine()
    assert strip.isHidden()
    assert len(told) == heard


def test_the_banner_says_which_machine_and_that_load_is_for_this_one(strip):
    strip.show_machine(machine())
    assert strip.said == (
        f"Weighed for a machine with no card and 16.0{THIN}GiB of memory, not for this one."
        " Load still loads on this machine."
    )
    assert strip.accessibleName() == strip.said
    strip.show_machine(None)
    assert strip.said.startswith("Choose a card")


def test_what_was_chosen_is_shown_again_and_told_to_nobody(strip, told):
    other = OtherMachine(CARDS["GeForce RTX 3090"], 3, 96 * GIB, TYPES[1])
    strip.apply(other)
    assert strip.other == other
    assert strip.memory_type.currentText().startswith(TYPES[1].name)
    assert told == []
