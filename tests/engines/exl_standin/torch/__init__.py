"""In the place of PyTorch: a machine with one card, or none, as STANDIN_TORCH says ("cpu", "none", "old", "small",
"older"), or with STANDIN_CARDS.
"""

import os
from types import SimpleNamespace

KIND = os.environ.get("STANDIN_TORCH", "card")
__version__ = "2.13.0+cpu" if KIND == "cpu" else "2.13.0+cu128"
version = SimpleNamespace(cuda=None if KIND == "cpu" else "12.8", hip=None)
_GIB = 1 << 30
float = "float32"


def zeros(shape, dtype=None):
    return [0.0] * shape[0]


class _Cuda:
    models = 0
    """How many are loaded, of three gigabytes each on the first card."""

    def init(self):
        if KIND == "none":
            raise RuntimeError("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU")
        if KIND == "old":
            raise RuntimeError("The NVIDIA driver on your system is too old (found version 12020). Please update")

    def device_count(self):
        return 0 if KIND in ("cpu", "none", "old") else int(os.environ.get("STANDIN_CARDS", "1"))

    def get_arch_list(self):
        return ["sm_75", "sm_80", "sm_90a", "compute_120"]

    def get_device_capability(self, card):
        return {"small": (6, 1), "older": (7, 5)}.get(KIND, (8, 6))

    def get_device_name(self, card):
        return "NVIDIA GeForce GTX 1080" if KIND == "small" else "NVIDIA GeForce RTX 3090"

    def get_device_properties(self, card):
        place = {"pci_domain_id": 0, "pci_bus_id": 1, "pci_device_id": 0}
        return SimpleNamespace(name=self.get_device_name(card), **place)

    def mem_get_info(self, card):
        return 20 * _GIB, 24 * _GIB

    def memory_allocated(self, card):
        return 0 if card else 3 * self.models * _GIB


cuda = _Cuda()
