import pytest
from tests.hardware.recorded import RecordedHost

from weighbridge.hardware.amd_smi import ARGV, look, told_names
from weighbridge.hardware.child import Answer


class AmdSmiException(Exception):
    pass


class RecordedSmi:
    """Names by address; a card without a name raises."""

    AmdSmiException = AmdSmiException

    def __init__(self, cards, starts=True):
        self.cards, self.starts = cards, starts

    def amdsmi_init(self):
        if not self.starts:
            raise AmdSmiException("no driver")

    def amdsmi_shut_down(self):
        pass

    def amdsmi_get_processor_handles(self):
        return list(self.cards)

    def amdsmi_get_gpu_device_bdf(self, handle):
        return handle

    def amdsmi_get_gpu_asic_info(self, handle):
        if self.cards[handle] is None:
            raise AmdSmiException("not supported")
        return {"market_name": self.cards[handle]}


def test_names_by_address():
    smi = RecordedSmi({"0000:03:00.0": "AMD Radeon RX 9070 XT", "0000:04:00.0": None, "0000:05:00.0": "N/A"})
    assert look(smi) == {"0000:03:00.0": "AMD Radeon RX 9070 XT"}


def test_a_library_that_does_not_start_tells_nothing():
    assert look(RecordedSmi({"0000:03:00.0": "X"}, starts=False)) == {}


class Told(RecordedHost):
    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def ask(self, argv, limit_s):
        assert argv == ARGV
        if isinstance(self.answer, OSError):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (Answer('a warning\n{"0000:03:00.0": "X"}\n', "", 0), {"0000:03:00.0": "X"}),
        (Answer("", "", None), {}),
        (Answer("[]", "", 0), {}),
        (Answer("Segmentation fault", "", -11), {}),
        (OSError(2, "none"), {}),
    ],
)
def test_what_the_child_tells(answer, names):
    assert told_names(Told(answer)) == names
