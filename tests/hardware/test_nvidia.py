import json
import sys
from types import SimpleNamespace

import pytest

from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.hardware.nvidia import look
from weighbridge.hardware.nvidia_child import find_cards, probe_argv, read_answer

GIB = 1 << 30
SYSTEM = Memory(MemoryKind.SHARED, 128 * GIB, 100 * GIB)
RTX = {"name": "NVIDIA GeForce RTX 3090", "total": 24 * GIB, "free": 20 * GIB}


class NVMLError(Exception):
    """As the library's: a number and a sentence."""

    def __init__(self, value):
        super().__init__(f"error {value}")
        self.value = value


class Recorded:
    """Recorded answers of the library; an int in place of an answer is the error with that number."""

    NVMLError = NVMLError

    def __init__(self, *cards, init=0, count=None, driver="580.10"):
        self.cards, self.init, self.driver = cards, init, driver
        self.count = len(cards) if count is None else count
        self.ended = False

    def _say(self, answer):
        if isinstance(answer, int) and not isinstance(answer, bool):
            raise NVMLError(answer)
        return answer

    def nvmlInit(self):
        if self.init:
            raise NVMLError(self.init)

    def nvmlShutdown(self):
        self.ended = True

    def nvmlSystemGetDriverVersion(self):
        return self._say(self.driver)

    def nvmlDeviceGetCount(self):
        return self.count if self.count >= 0 else self._say(-self.count)

    def nvmlDeviceGetHandleByIndex(self, index):
        return self._say(self.cards[index])

    def nvmlDeviceGetName(self, handle):
        return self._say(handle["name"])

    def nvmlDeviceGetMemoryInfo(self, handle):
        if "error" in handle:
            raise NVMLError(handle["error"])
        return SimpleNamespace(total=handle["total"], free=handle.get("free", 0))

    def nvmlDeviceGetCudaComputeCapability(self, handle):
        return self._say(handle.get("capability", (8, 6)))

    def nvmlDeviceGetPciInfo(self, handle):
        return SimpleNamespace(busId=handle.get("pci", "00000000:01:00.0"))


def found(nvml, table=None):
    return read_answer(json.dumps(look(nvml)), SYSTEM, table or Table(()))


def test_an_ordinary_card():
    nvml = Recorded(RTX)
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
    (device,) = found(Recorded(card)).devices
    assert device.memory == Memory(MemoryKind.UNIFIED, 128 * GIB, 100 * GIB)
    assert device.problems == ()


@pytest.mark.parametrize("number", [3, 4, 999])
def test_an_ordinary_card_that_does_not_tell_its_memory_is_unknown(number):
    (device,) = found(Recorded({**RTX, "error": number})).devices
    assert device.memory == Memory(MemoryKind.DEDICATED, None, None)
    assert device.problems[0].values["what"] == "memory"
    assert device.problems[0].code == ("nvidia.no_permission" if number == 4 else "nvidia.no_answer")


def test_a_total_of_0_on_an_ordinary_card_is_unknown():
    (device,) = found(Recorded({**RTX, "total": 0})).devices
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
    answer = found(Recorded(RTX, init=number))
    assert answer.devices == ()
    assert [cause.code for cause in answer.problems] == [code]


def test_no_card_is_told():
    (cause,) = found(Recorded()).problems
    assert (cause.code, cause.values) == ("nvidia.no_card", {"driver": "580.10"})


def test_a_count_that_fails_is_told():
    assert [cause.code for cause in found(Recorded(count=-999)).problems] == ["nvidia.no_answer"]


def test_one_lost_card_does_not_hide_the_others():
    answer = found(Recorded(RTX, 15, {**RTX, "name": "NVIDIA L4"}))
    assert [device.id for device in answer.devices] == ["cuda0", "cuda2"]
    (cause,) = answer.problems
    assert (cause.code, cause.values["index"]) == ("nvidia.card_lost", 1)


def test_unknown_fields_leave_the_card():
    (device,) = found(Recorded({**RTX, "name": 999, "capability": 3, "pci": b"0000:01:00.0"}, driver=3)).devices
    assert (device.name, device.driver, device.compute_capability) == ("NVIDIA", None, None)
    assert device.pci_id == "0000:01:00.0"
    assert device.memory.total_bytes == 24 * GIB


def ask_python(code, limit_s=20.0):
    return find_cards(SYSTEM, Table(()), [sys.executable, "-c", code], limit_s)


def test_a_child_that_hangs_is_ended_and_told():
    (cause,) = ask_python("import time; time.sleep(60)", limit_s=0.3).problems
    assert cause.code == "nvidia.hangs"


def test_a_child_that_dies_is_told():
    (cause,) = ask_python("import os; os.abort()").problems
    assert cause.code == "nvidia.probe_failed"
    (cause,) = ask_python("import sys; print('it broke', file=sys.stderr); sys.exit(9)").problems
    assert cause.values == {"reason": "it broke"}


def test_a_child_that_cannot_start_is_told():
    assert find_cards(SYSTEM, Table(()), ["/nowhere/python"]).problems[0].code == "nvidia.probe_failed"


def test_lines_before_the_answer_are_passed_over():
    assert ask_python("""print("WARNING: x"); print('{"cards": [], "faults": []}')""").problems == ()


@pytest.mark.parametrize("text", ["", "NVIDIA-SMI has failed because", "[]", "{}", '{"cards": [{}], "faults": []}'])
def test_an_answer_that_cannot_be_read_is_told(text):
    assert [cause.code for cause in read_answer(text, SYSTEM, Table(())).problems] == ["nvidia.probe_failed"]


def test_the_real_child_answers_with_cards_or_a_cause():
    answer = find_cards(SYSTEM, Table(()))
    assert answer.devices or answer.problems
    assert all(cause.code != "nvidia.probe_failed" for cause in answer.problems)


def test_a_frozen_build_asks_itself():
    assert probe_argv(True, "weighbridge") == ["weighbridge", "probe", "nvidia"]
    assert probe_argv(False, "python") == ["python", "-P", "-m", "weighbridge.hardware.nvidia"]
