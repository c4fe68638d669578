import json
import sys

import pytest
from tests.hardware.recorded import RecordedHost, RecordedNvml

from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.host import ThisHost
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.hardware.nvidia import look
from weighbridge.hardware.nvidia_child import find_nvidia, probe_argv, read_answer
from weighbridge.hardware.rows import Row

GIB = 1 << 30
SYSTEM = Memory(MemoryKind.SHARED, 128 * GIB, 100 * GIB)
RTX = {"name": "NVIDIA GeForce RTX 3090", "total": 24 * GIB, "free": 20 * GIB}


def found(nvml, table=None):
    return read_answer(json.dumps(look(nvml)), SYSTEM, table or Table(()))


def test_an_ordinary_card():
    nvml = RecordedNvml(RTX)
    (card,) = found(nvml).devices
    assert (card.id, card.vendor, card.name) == ("cuda0", "nvidia", "NVIDIA GeForce RTX 3090")
    assert card.memory == Memory(MemoryKind.DEDICATED, 24 * GIB, 20 * GIB)
    assert (card.driver, card.compute_capability, card.pci_id) == ("580.10", "8.6", "00000000:01:00.0")
    assert card.problems == ()
    assert nvml.ended


@pytest.mark.parametrize(
    "card",
    [
        {"name": "NVIDIA GB10", "error": 3},
        {"name": "NVIDIA GB10", "total": 0},
        {"name": "NVIDIA GB10", "total": 5 * GIB},
        {"name": "Orin (nvgpu)", "error": 3},
        {"name": "NVIDIA Thor", "total": 0},
    ],
)
def test_unified_memory_is_the_system_s(card):
    (device,) = found(RecordedNvml(card)).devices
    assert device.memory == Memory(MemoryKind.UNIFIED, 128 * GIB, 100 * GIB)
    assert device.problems == ()


@pytest.mark.parametrize("number", [3, 4, 999])
def test_an_ordinary_card_that_does_not_tell_its_memory_is_unknown(number):
    (device,) = found(RecordedNvml({**RTX, "error": number})).devices
    assert device.memory == Memory(MemoryKind.DEDICATED, None, None)
    assert device.problems[0].values["what"] == "memory"
    assert device.problems[0].code == ("nvidia.no_permission" if number == 4 else "nvidia.no_answer")


def test_a_total_of_0_on_an_ordinary_card_is_unknown():
    (device,) = found(RecordedNvml({**RTX, "total": 0})).devices
    assert device.memory == Memory(MemoryKind.DEDICATED, None, None)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (12, "nvidia.library_missing"),
        (18, "nvidia.driver_mismatch"),
        (9, "nvidia.driver_not_loaded"),
        (4, "nvidia.no_permission"),
        (999, "nvidia.no_start"),
    ],
)
def test_each_failure_to_start_has_its_own_cause(number, code):
    answer = found(RecordedNvml(RTX, init=number))
    assert answer.devices == ()
    assert [cause.code for cause in answer.problems] == [code]


@pytest.mark.parametrize("words", ["[N/A]", "[Insufficient Permissions]", -1, True, 1.5])
def test_words_where_a_number_is_expected_are_unknown(words):
    card = {"total": words, "free": words, "temperature": words, "load": words, "power": words, "limit": words}
    (device,) = found(RecordedNvml({**RTX, **card})).devices
    assert device.memory == Memory(MemoryKind.DEDICATED, None, None)
    assert (device.sensors.temperature_c, device.sensors.load, device.sensors.power_w) == (None, None, None)
    assert device.name == RTX["name"]


def test_no_card_is_told():
    (cause,) = found(RecordedNvml()).problems
    assert (cause.code, cause.values) == ("nvidia.no_card", {"driver": "580.10"})


def test_a_count_that_fails_is_told():
    assert [cause.code for cause in found(RecordedNvml(count=-999)).problems] == ["nvidia.no_answer"]


def test_one_lost_card_does_not_hide_the_others():
    answer = found(RecordedNvml(RTX, 15, {**RTX, "name": "NVIDIA L4"}))
    assert [device.id for device in answer.devices] == ["cuda0", "cuda2"]
    (cause,) = answer.problems
    assert (cause.code, cause.values["index"]) == ("nvidia.card_lost", 1)


def test_unknown_fields_leave_the_card():
    (device,) = found(RecordedNvml({**RTX, "name": 999, "capability": 3, "pci": b"0000:01:00.0"}, driver=3)).devices
    assert (device.name, device.driver, device.compute_capability) == ("NVIDIA", None, None)
    assert device.pci_id == "0000:01:00.0"
    assert device.memory.total_bytes == 24 * GIB


class Instead(ThisHost):
    """This machine, with another program in place of the probe."""

    def __init__(self, *argv):
        self._argv = argv

    def ask(self, argv, limit_s):
        return super().ask(self._argv, limit_s)

    def names(self, folder):
        return ()


def ask_python(code, limit_s=20.0):
    return find_nvidia(Instead(sys.executable, "-c", code), SYSTEM, Table(()), limit_s)


def test_a_child_that_hangs_is_ended_and_told():
    (cause,) = ask_python("import time; time.sleep(60)", limit_s=0.3).problems
    assert cause.code == "nvidia.hangs"


def test_a_child_that_dies_is_told():
    (cause,) = ask_python("import os; os.abort()").problems
    assert cause.code == "nvidia.probe_failed"
    (cause,) = ask_python("import sys; print('it broke', file=sys.stderr); sys.exit(9)").problems
    assert cause.values == {"reason": "it broke"}


def test_a_child_that_cannot_start_is_told():
    assert find_nvidia(Instead("/nowhere/python"), SYSTEM, Table(())).problems[0].code == "nvidia.probe_failed"


def test_lines_before_the_answer_are_passed_over():
    assert ask_python("""print("WARNING: x"); print('{"cards": [], "faults": []}')""").problems == ()


@pytest.mark.parametrize("text", ["", "NVIDIA-SMI has failed because", "[]", "{}", '{"cards": [{}], "faults": []}'])
def test_an_answer_that_cannot_be_read_is_told(text):
    assert [cause.code for cause in read_answer(text, SYSTEM, Table(())).problems] == ["nvidia.probe_failed"]


def test_the_real_child_answers():
    answer = find_nvidia(ThisHost(), SYSTEM, Table(()))
    assert all(cause.code != "nvidia.probe_failed" for cause in answer.problems)


def test_a_frozen_build_asks_itself():
    assert probe_argv(True, "weighbridge") == ["weighbridge", "probe", "nvidia"]
    assert probe_argv(False, "python") == ["python", "-P", "-m", "weighbridge.hardware.nvidia"]


def test_a_divided_card_is_its_slices_and_is_not_counted_itself():
    slices = [{"name": "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "total": 20 * GIB, "free": 19 * GIB}, 6]
    card = {"name": "NVIDIA A100-SXM4-40GB", "total": 40 * GIB, "free": 40 * GIB, "mig": slices, "capability": (8, 0)}
    table = Table([Row("NVIDIA A100-SXM4-40GB", 40, 1555, "s")])
    (part,) = found(RecordedNvml(card), table).devices
    assert (part.id, part.name) == ("cuda0.0", "NVIDIA A100-SXM4-40GB MIG 3g.20gb")
    assert part.memory == Memory(MemoryKind.DEDICATED, 20 * GIB, 19 * GIB)
    assert (part.compute_capability, part.bandwidth.gbs) == ("8.0", 1555 / 2)


def test_a_card_set_to_be_divided_without_slices_is_told():
    answer = found(RecordedNvml({**RTX, "mig": []}))
    assert answer.devices == ()
    assert [cause.code for cause in answer.problems] == ["nvidia.mig_empty"]


def test_sensors_are_in_degrees_watts_and_shares():
    told = {"temperature": 61, "load": 37, "power": 120_500, "limit": 250_000, "default": 350_000}
    (card,) = found(RecordedNvml({**RTX, **told})).devices
    sensors = card.sensors
    assert (sensors.temperature_c, sensors.load, sensors.power_w) == (61, 0.37, 120.5)
    assert (sensors.power_limit_w, sensors.power_default_w) == (250, 350)


def test_sensors_that_are_not_supported_are_unknown():
    (card,) = found(RecordedNvml(RTX)).devices
    assert (card.sensors.temperature_c, card.sensors.power_limit_w) == (None, None)


def test_no_driver_is_told_only_where_there_is_a_card():
    nvml = RecordedNvml(RTX, init=12)
    empty = RecordedHost(nvidia=nvml)
    assert find_nvidia(empty, SYSTEM, Table(())).problems == ()
    slot = "/sys/bus/pci/devices/0000:01:00.0/"
    files = {slot + "vendor": "0x10de", slot + "class": "0x030000", slot + "device": "0x2684"}
    with_card = RecordedHost(nvidia=nvml, files={**files, slot + "uevent": "DRIVER=nouveau\nPCI_ID=10DE:2684\n"})
    (cause,) = find_nvidia(with_card, SYSTEM, Table(())).problems
    assert (cause.code, cause.values) == ("nvidia.no_driver", {"slot": "0000:01:00.0", "driver": "nouveau"})


def test_a_jetson_without_the_library_is_known_by_its_board():
    host = RecordedHost(
        nvidia=RecordedNvml(init=12),
        files={"/proc/device-tree/model": "NVIDIA Jetson AGX Orin Developer Kit\0"},
        architecture="aarch64",
    )
    (device,) = find_nvidia(host, SYSTEM, Table(())).devices
    assert device.memory.kind is MemoryKind.UNIFIED
    assert device.memory.total_bytes == 128 * GIB


@pytest.mark.parametrize(
    ("linked", "told"),
    [
        ([None], [None]),
        ([[1], [0]], [True, True]),
        ([[], []], [False, False]),
        ([None, None], [None, None]),
        ([[1, 2], [0, 2], [0, 1]], [True, True, True]),
        ([[2], [3], [0], [1]], [None, None, None, None]),  # bridges in pairs: some are joined, others are not
    ],
)
def test_whether_nvlink_joins_the_cards(linked, told):
    nvml = RecordedNvml(*({**RTX, "linked": each} for each in linked))
    assert [card.nvlink for card in found(nvml).devices] == told


def test_beside_a_card_that_does_not_answer_nothing_is_said_of_links():
    nvml = RecordedNvml({**RTX, "linked": [1]}, {**RTX, "linked": [0]}, 15)
    assert [card.nvlink for card in found(nvml).devices] == [None, None]
