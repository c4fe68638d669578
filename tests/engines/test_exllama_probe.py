"""What an ExLlama library can use here, over a PyTorch that stands in for the real one."""

import os
import sys
from pathlib import Path

import pytest
from tests.engines.exl_worker import STANDIN

from weighbridge_engines.api import Cause, Unsupported
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.exl_probe import EXL2, EXL3, cause_of_cuda, devices, missing, oldest_built, version

TOOLKIT = {"STANDIN_CUDA_HOME": "/usr/local/cuda"}
STANDING_IN = ("torch", "torch.utils", "torch.utils.cpp_extension")


@pytest.fixture
def torch_says(tmp_path, monkeypatch):
    """Have the PyTorch that stands in be of one kind."""

    def say(**values):
        monkeypatch.syspath_prepend(STANDIN)
        monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
        monkeypatch.setenv("PATH", os.environ["PATH"])
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    before = {name: sys.modules.pop(name, None) for name in STANDING_IN}
    yield say
    for name, module in before.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ({"STANDIN_TORCH": "cpu"}, Cause("exl.cpu_torch", {"torch": "2.13.0+cpu"})),
        ({"STANDIN_TORCH": "none"}, Cause("exl.no_driver")),
        ({"STANDIN_TORCH": "old"}, Cause("exl.old_driver", {"has": "12.2", "needs": "12.8"})),
        (
            {"STANDIN_TORCH": "small", **TOOLKIT},
            Cause("exl.card_too_old", {"card": "NVIDIA GeForce GTX 1080", "has": "6.1", "needs": "7.5"}),
        ),
        ({}, Cause("exl.no_toolkit", {"cuda": "12.8"})),
        ({**TOOLKIT, "STANDIN_NO_NINJA": "1"}, Cause("exl.no_ninja")),
        ({**TOOLKIT, "CXX": "none-such", "PATH": "/nowhere"}, Cause("exl.no_compiler", {"compiler": "none-such"})),
    ],
)
def test_what_keeps_it_from_a_card_is_told_by_name(said, cause, torch_says):
    torch_says(**said)
    with pytest.raises(Unsupported) as refusal:
        devices(EXL2)
    assert refusal.value.cause == cause


def test_a_package_that_is_missing_beside_it_is_told(torch_says, monkeypatch):
    torch_says()
    monkeypatch.setattr("weighbridge_engines.exl_probe.is_installed", lambda package: package != "triton")
    with pytest.raises(Unsupported) as refusal:
        devices(EXL3)
    assert refusal.value.cause == Cause("exl.no_package", {"package": "triton"})


def test_programs_that_an_environment_brings_are_found_though_nobody_entered_it(torch_says):
    torch_says(PATH="/nowhere", CXX="c++")
    with pytest.raises(Unsupported):
        devices(EXL2)
    assert os.environ["PATH"].split(os.pathsep) == [str(Path(sys.executable).parent), "/nowhere"]


@pytest.mark.parametrize("made", ["exllamav2_ext.so", "exllamav2_ext.pyd"])
def test_a_card_is_told_as_it_is_where_all_is_made(made, torch_says, tmp_path):
    torch_says()
    (tmp_path / "exllamav2_ext").mkdir()
    (tmp_path / "exllamav2_ext" / made).touch()
    (card,) = devices(EXL2)
    assert (card.id, card.name, card.kind) == ("cuda:0", "NVIDIA GeForce RTX 3090", "gpu")
    assert (card.memory_free_bytes, card.memory_total_bytes) == (20 << 30, 24 << 30)
    assert card.pci_id == "0000:01:00.0"


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("No CUDA GPUs are available", Cause("exl.no_card", {"torch": "12.8"})),
        ("Unexpected error from cudaGetDeviceCount()\nmore", Cause("engine.driver", {"reason": "Unexpected error from "
         "cudaGetDeviceCount()"})),
    ],
)  # fmt: skip
def test_other_words_of_cuda(words, cause):
    assert cause_of_cuda(words, "12.8") == cause


def test_the_oldest_card_that_pytorch_was_built_for():
    assert oldest_built(["sm_90a", "sm_75", "compute_120"]) == (7, 5)
    assert oldest_built(["sm_100", "sm_120"]) == (10, 0)
    assert oldest_built([]) == (0, 0)


@pytest.mark.parametrize("library", [EXL2, EXL3])
def test_what_is_missing_is_told_without_importing_anything(library, monkeypatch):
    there = {library.package}
    monkeypatch.setattr("weighbridge_engines.exl_probe.is_installed", lambda package: package in there)
    assert missing(library) == Cause("engine.not_installed", {"package": "torch"})
    there.clear()
    assert missing(library) == Cause("engine.not_installed", {"package": library.package})
    there |= {library.package, "torch"}
    assert missing(library) is None
    assert version(library) is None or "torch" in version(library)
    assert catalogue()[library.package].install == f"pip install {library.package}"
