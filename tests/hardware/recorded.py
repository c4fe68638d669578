"""Stands in for any machine: recorded files, programs, registry and answers of NVIDIA's library."""

from __future__ import annotations

import json
from types import SimpleNamespace

from weighbridge.hardware.child import Answer
from weighbridge.hardware.nvidia import look

NOT_FOUND, NOT_SUPPORTED = 6, 3


class NVMLError(Exception):
    """As the library's: a number and a sentence."""

    def __init__(self, value):
        super().__init__(f"error {value}")
        self.value = value


class RecordedNvml:
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

    def _number(self, handle, name):
        if handle.get(name) is None:
            raise NVMLError(NOT_SUPPORTED)
        return handle[name]

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

    def nvmlDeviceGetMigMode(self, handle):
        return (1, 1) if self._number(handle, "mig") is not None else (0, 0)

    def nvmlDeviceGetMaxMigDeviceCount(self, handle):
        return max(7, len(handle["mig"]))

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle, index):
        return self._say(handle["mig"][index] if index < len(handle["mig"]) else NOT_FOUND)

    def nvmlDeviceGetTemperature(self, handle, sensor):
        return self._number(handle, "temperature")

    def nvmlDeviceGetUtilizationRates(self, handle):
        return SimpleNamespace(gpu=self._number(handle, "load"))

    def nvmlDeviceGetPowerUsage(self, handle):
        return self._number(handle, "power")

    def nvmlDeviceGetPowerManagementLimit(self, handle):
        return self._number(handle, "limit")

    def nvmlDeviceGetPowerManagementDefaultLimit(self, handle):
        return self._number(handle, "default")

    def nvmlDeviceGetP2PStatus(self, handle, other, index):
        """`linked` are the places of the cards that NVLink joins this one to."""
        assert index == 2
        place = next(place for place, card in enumerate(self.cards) if card is other)
        return 0 if place in self._number(handle, "linked") else 5


class RecordedHost:
    """A machine as it was recorded. `files` are texts by path; `programs` are what programs print, by their last name.

    `nvidia` is a `RecordedNvml`, or an Answer of the probe itself. `closed` are devices that this user may not open.
    """

    def __init__(
        self,
        system="Linux",
        release="6.8.0",
        architecture="x86_64",
        files=(),
        programs=(),
        nvidia=None,
        adapters=(),
        devices=(),
        closed=(),
        cores=(None, None, None),
        memory=(None, None),
        processor=None,
        features=(),
    ):
        self.system, self.release, self.architecture = system, release, architecture
        self._files, self._programs, self._nvidia = dict(files), dict(programs), nvidia
        self._adapters, self._devices, self._closed = list(adapters), set(devices), set(closed)
        self._cores, self._memory, self._processor, self._features = cores, memory, processor, list(features)

    def text(self, path):
        return self._files.get(path, "")

    def names(self, folder):
        start = folder.rstrip("/") + "/"
        below = (path.removeprefix(start) for path in self._files if path.startswith(start))
        return sorted({path.partition("/")[0] for path in below})

    def may_open(self, path):
        if path in self._closed:
            return False
        return True if path in self._devices or path in self._files else None

    def ask(self, argv, limit_s):
        if "weighbridge.hardware.nvidia" in argv:
            return self._ask_nvidia()
        name = argv[0].rpartition("/")[2]
        if name not in self._programs:
            raise FileNotFoundError(name)
        told = self._programs[name]
        return Answer("", "", None) if told is None else Answer(told, "", 0)

    def _ask_nvidia(self):
        if isinstance(self._nvidia, Answer):
            return self._nvidia
        return Answer(json.dumps(look(self._nvidia or RecordedNvml(init=12))), "", 0)

    def adapters(self):
        return self._adapters

    def features(self):
        return self._features

    def processor_name(self):
        return self._processor

    def cores(self):
        return self._cores

    def memory(self):
        return self._memory
