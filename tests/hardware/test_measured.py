from dataclasses import replace
from datetime import date

import pytest

from weighbridge.hardware.machine import Bandwidth, Cpu, Device, Machine, Memory, MemoryKind
from weighbridge.hardware.measure import MIB, buffer_bytes, measured_gbs
from weighbridge.hardware.measured import Measurements, identity

GIB = 1 << 30
MACHINE = Machine("Linux", Cpu("A Processor", 4, 8, 8), Memory(MemoryKind.SHARED, 16 * GIB, 8 * GIB))


def test_a_measurement_is_kept_and_preferred(tmp_path):
    kept = Measurements.within(tmp_path / "data")
    assert kept.apply(MACHINE) == MACHINE
    kept.keep(MACHINE, 61.4, date(2026, 3, 1))
    found = kept.apply(MACHINE).bandwidth
    assert (found.gbs, found.measured_on) == (61.4, "2026-03-01")


@pytest.mark.parametrize(
    "other",
    [
        Machine("Linux", Cpu("Another", 4, 8, 8), MACHINE.memory),
        Machine("Linux", Cpu("A Processor", 4, 8, 2), MACHINE.memory),
        Machine("Linux", MACHINE.cpu, Memory(MemoryKind.SHARED, 32 * GIB, GIB)),
        Machine("Linux", Cpu(None, None, None, None), Memory(MemoryKind.SHARED, None, None)),
    ],
)
def test_another_machine_is_not_this_one(tmp_path, other):
    kept = Measurements.within(tmp_path)
    kept.keep(MACHINE, 61.4, date(2026, 3, 1))
    assert kept.apply(other).bandwidth is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "5",
        "{",
        "[" * 60_000,
        '{"machine": "M", "memory_gbs": 0, "measured_on": "2026-03-01"}',
        '{"machine": "M", "memory_gbs": 1e300, "measured_on": "2026-03-01"}',
        '{"machine": "M", "memory_gbs": true, "measured_on": "2026-03-01"}',
        '{"machine": "M", "memory_gbs": "9", "measured_on": "2026-03-01"}',
        '{"machine": "M", "memory_gbs": NaN, "measured_on": "2026-03-01"}',
        '{"machine": "M", "memory_gbs": 9, "measured_on": "yesterday"}',
        '{"machine": "M", "memory_gbs": 9, "measured_on": 5}',
        '{"machine": "M", "memory_gbs": 9}',
        "\x00\xff",
    ],
)
def test_a_damaged_file_is_no_measurement(tmp_path, text):
    kept = Measurements.within(tmp_path)
    kept.file.write_text(text.replace('"M"', f'"{identity(MACHINE)}"'), encoding="latin-1")
    assert kept.apply(MACHINE).bandwidth is None


CARD = Device("cuda0", "nvidia", "A Card", Memory(MemoryKind.DEDICATED, GIB, None), pci_id="00000000:01:00.0")
PUBLISHED = replace(CARD, id="cuda1", pci_id="02:00.0", bandwidth=Bandwidth(900, 900, "a table"))
WITH_CARDS = replace(MACHINE, devices=(CARD, PUBLISHED))


def test_a_card_is_measured_and_the_other_keeps_what_is_published(tmp_path):
    kept = Measurements.within(tmp_path)
    known = kept.keep(WITH_CARDS, 61.4, date(2026, 3, 1), {"cuda0": 871.5, "cuda9": 1.0})
    assert known == kept.of(WITH_CARDS)
    first, second = kept.apply(WITH_CARDS).devices
    assert (first.bandwidth, second.bandwidth.gbs) == (Bandwidth(871.5, 871.5, "", "2026-03-01"), 900)


def test_a_card_that_is_not_measured_again_keeps_its_figure_and_its_day(tmp_path):
    kept = Measurements.within(tmp_path)
    kept.keep(WITH_CARDS, 61.4, date(2026, 3, 1), {"cuda0": 871.5})
    kept.keep(WITH_CARDS, 60.0, date(2026, 4, 1), {"cuda1": 850.0})
    first, second = kept.apply(WITH_CARDS).devices
    assert (first.bandwidth.gbs, first.bandwidth.measured_on) == (871.5, "2026-03-01")
    assert (second.bandwidth.gbs, second.bandwidth.measured_on) == (850.0, "2026-04-01")


@pytest.mark.parametrize("changes", [{"pci_id": "03:00.0"}, {"name": "Another Card"}])
def test_another_card_has_no_figure_but_the_same_in_another_form_of_its_place_has(tmp_path, changes):
    kept = Measurements.within(tmp_path)
    kept.keep(WITH_CARDS, 61.4, date(2026, 3, 1), {"cuda0": 871.5})
    assert kept.apply(replace(MACHINE, devices=(replace(CARD, **changes),))).devices[0].bandwidth is None
    same = replace(MACHINE, devices=(replace(CARD, id="made.cuda0", pci_id="01:00.0"),))
    assert kept.apply(same).devices[0].bandwidth.gbs == 871.5


@pytest.mark.parametrize(
    "cards", ["5", "[]", '{"x": 5}', '{"0000:01:00.0 A Card": {"gbs": 0, "measured_on": "2026-03-01"}}']
)
def test_damaged_figures_of_cards_leave_the_rest(tmp_path, cards):
    kept = Measurements.within(tmp_path)
    kept.keep(WITH_CARDS, 61.4, date(2026, 3, 1))
    whole = kept.file.read_text("utf-8")
    assert '"cards": {}' in whole
    kept.file.write_text(whole.replace('"cards": {}', f'"cards": {cards}'), "utf-8")
    found = kept.apply(WITH_CARDS)
    assert (found.bandwidth.gbs, found.devices) == (61.4, WITH_CARDS.devices)


def test_buffers_are_larger_than_the_cache_and_leave_memory_free():
    assert buffer_bytes(2, 32 * MIB, 16 * GIB) == 128 * MIB
    assert buffer_bytes(2, 128 * MIB, 16 * GIB) == 256 * MIB
    assert buffer_bytes(64, 768 * MIB, 256 * GIB) == 48 * MIB
    assert buffer_bytes(2, None, None) == 128 * MIB
    assert buffer_bytes(2, 32 * MIB, 512 * MIB) == 64 * MIB
    assert buffer_bytes(2, 64 * MIB, 256 * MIB) is None
    assert buffer_bytes(4, None, 0) is None


def test_reading_gives_a_figure(monkeypatch):
    monkeypatch.setattr("weighbridge.hardware.measure.READ_S", 0.02)
    monkeypatch.setattr("weighbridge.hardware.measure._LEAST_BYTES", 8 * MIB)
    assert measured_gbs(2, MIB, None) > 0


def test_too_little_memory_gives_none():
    assert measured_gbs(2, 64 * MIB, 64 * MIB) is None
