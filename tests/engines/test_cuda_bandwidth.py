"""Bandwidth of NVIDIA's cards, over a stand-in with the surface of CUDA's driver."""

import pytest

from weighbridge_engines import cuda_bandwidth
from weighbridge_engines.cuda_bandwidth import BLOCK_BYTES, COPIES, LEAST_BYTES, measured

GIB = 1 << 30


class Driver:
    """Cards with so much free memory, that copy so many bytes a second; `fails` names calls that give an error."""

    def __init__(self, *cards, fails=()):
        self.cards = cards
        self.fails = fails
        self.current = None
        self.taken = {}
        self.retained = []
        self.copied = self.begun = 0
        self.elapsed_ms = 0.0

    def __getattr__(self, name):
        call = {
            "cuInit": lambda flags: None,
            "cuDeviceGetCount": lambda out: self._set(out, len(self.cards)),
            "cuDeviceGet": self._set,
            "cuDevicePrimaryCtxRetain": self._retain,
            "cuDevicePrimaryCtxRelease_v2": lambda device: self.retained.remove(device.value),
            "cuCtxSetCurrent": lambda context: setattr(self, "current", context.value - 1),
            "cuMemGetInfo_v2": self._memory,
            "cuMemAlloc_v2": self._allocate,
            "cuMemFree_v2": lambda pointer: self.taken.pop(pointer.value),
            "cuEventCreate": lambda out, flags: self._set(out, 7),
            "cuEventRecord": lambda event, stream: setattr(self, "begun", self.begun or self.copied),
            "cuMemcpyDtoDAsync_v2": self._copy,
            "cuEventSynchronize": lambda event: None,
            "cuEventElapsedTime": self._elapsed,
        }[name]

        def called(*values):
            if name in self.fails:
                return 999
            call(*values)
            return 0

        return called

    @staticmethod
    def _set(out, value):
        out._obj.value = value

    def _retain(self, out, device):
        self.retained.append(device.value)
        self._set(out, device.value + 1)

    def _memory(self, free, total):
        self._set(free, self.cards[self.current][0] - sum(self.taken.values()))
        self._set(total, 24 * GIB)

    def _allocate(self, out, size):
        pointer = 1000 + len(self.taken)
        self.taken[pointer] = size.value
        self._set(out, pointer)

    def _copy(self, target, source, amount, stream):
        assert {target.value, source.value} == set(self.taken)
        assert amount.value == self.taken[source.value]
        self.copied += amount.value

    def _elapsed(self, out, begun, ended):
        self._set(out, 1000 * 2 * (self.copied - self.begun) / self.cards[self.current][1])
        self.copied = self.begun = 0


def test_each_card_by_its_number():
    driver = Driver((20 * GIB, 900e9), (8 * GIB, 300e9))
    assert dict(measured(driver)) == {"CUDA0": pytest.approx(900e9), "CUDA1": pytest.approx(300e9)}
    assert driver.taken == {}
    assert driver.retained == []


def test_a_card_that_is_nearly_full_is_measured_by_smaller_blocks_or_left_out():
    assert dict(measured(Driver((4 * LEAST_BYTES, 500e9)))) == {"CUDA0": pytest.approx(500e9)}
    assert dict(measured(Driver((4 * LEAST_BYTES - 4, 500e9), (20 * GIB, 900e9)))) == {"CUDA1": pytest.approx(900e9)}


@pytest.mark.parametrize(
    "call",
    ["cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemGetInfo_v2",
     "cuMemAlloc_v2", "cuEventCreate", "cuEventRecord", "cuMemcpyDtoDAsync_v2", "cuEventSynchronize",
     "cuEventElapsedTime"],
)  # fmt: skip
def test_a_call_that_fails_leaves_the_card_out_and_gives_all_back(call):
    driver = Driver((20 * GIB, 900e9), fails=(call,))
    assert dict(measured(driver)) == {}
    assert driver.taken == {}
    assert driver.retained == []


def test_without_a_driver_there_is_nothing(monkeypatch):
    monkeypatch.setattr(cuda_bandwidth, "_LIBRARY", "libcuda-that-is-not-here.so")
    assert cuda_bandwidth.bandwidth() == {}


def test_the_traffic_is_bounded():
    driver = Driver((20 * GIB, 900e9))
    copied = []
    driver._elapsed = lambda out, begun, ended: copied.append((driver.begun, driver.copied))
    assert dict(measured(driver)) == {}  # no time went by
    assert copied == [(BLOCK_BYTES, BLOCK_BYTES * (COPIES + 1))]
