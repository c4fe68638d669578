"""What an ExLlama library can use here, over a PyTorch that stands in for the real one."""

import os
import sys
import threading
from pathlib import Path

import pytest
from tests.engines.exl_worker import STANDIN

from weighbridge_engines.api import Cause, Unsupported
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.exl_kernels import jobs, wait_for_others
from weighbridge_engines.exl_log import report
from weighbridge_engines.exl_probe import EXL2, EXL3, cause_of_cuda, devices, missing, oldest_built, version

BARE_TOOLKIT = {"STANDIN_CUDA_HOME": "/toolkit"}
TOOLKIT = {**BARE_TOOLKIT, "PYTORCH_NVCC": "nvcc"}
NO_COMPILER = {"CXX": "none-such", "PATH": "/nowhere"}
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
        (BARE_TOOLKIT, Cause("exl.no_toolkit", {"cuda": "12.8"})),
        ({**TOOLKIT, **NO_COMPILER}, Cause("exl.no_compiler", {"compiler": "none-such"})),
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


@pytest.mark.skipif(os.name == "nt", reason="there Triton has a compiler of its own")
def test_what_triton_compiles_with_is_told_where_it_is_missing(torch_says, monkeypatch, tmp_path):
    torch_says(**TOOLKIT, **NO_COMPILER)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("weighbridge_engines.exl_probe.is_installed", lambda package: True)
    (tmp_path / "exllamav3_ext").mkdir()
    (tmp_path / "exllamav3_ext" / "exllamav3_ext.so").touch()
    with pytest.raises(Unsupported) as refusal:
        devices(EXL3)
    assert refusal.value.cause == Cause("exl.no_compiler", {"compiler": "gcc"})
    monkeypatch.setenv("CC", "mine")
    assert devices(EXL3)


def test_programs_that_an_environment_brings_are_found_though_nobody_entered_it(torch_says):
    torch_says(PATH="/nowhere", CXX="c++")
    with pytest.raises(Unsupported):
        devices(EXL2)
    assert os.environ["PATH"].split(os.pathsep) == [str(Path(sys.executable).parent), "/nowhere"]


@pytest.mark.parametrize("made", ["exllamav2_ext.so", "exllamav2_ext.pyd"])
def test_where_all_is_made_a_card_is_told_without_a_compiler_but_not_without_what_looks_it_through(
    made, torch_says, tmp_path, monkeypatch
):
    torch_says(**BARE_TOOLKIT, **NO_COMPILER)
    (tmp_path / "exllamav2_ext").mkdir()
    (tmp_path / "exllamav2_ext" / made).touch()
    (card,) = devices(EXL2)
    assert (card.id, card.name, card.kind) == ("cuda:0", "NVIDIA GeForce RTX 3090", "gpu")
    assert (card.memory_free_bytes, card.memory_total_bytes) == (20 << 30, 24 << 30)
    assert card.pci_id == "0000:01:00.0"
    monkeypatch.setenv("STANDIN_NO_NINJA", "1")
    with pytest.raises(Unsupported) as refusal:
        devices(EXL2)
    assert refusal.value.cause == Cause("exl.no_ninja")


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


# What compiles


def test_so_many_compilers_run_as_there_is_memory_for():
    assert [jobs(16, free_gib) for free_gib in (0.4, 5.9, 64.0, None)] == [1, 5, 16, 4]


@pytest.mark.skipif(sys.platform != "linux", reason="who holds a file is looked up as Linux tells it")
def test_what_a_build_that_was_killed_has_left_is_not_waited_for(tmp_path, capsys):
    """PyTorch waits for ever where a file is there that it makes while it compiles, and who is killed leaves behind."""
    lock = tmp_path / "lock"
    lock.touch()
    wait_for_others(lock)
    assert not lock.exists()
    assert capsys.readouterr().err == ""
    with lock.open("w") as held:
        waiting = threading.Thread(target=wait_for_others, args=(lock,))
        waiting.start()
        waiting.join(0.1)
        assert waiting.is_alive()
        assert lock.exists()
        assert report(capsys.readouterr().err.splitlines()[0]) == {"stage": "kernels"}
        held.close()
        waiting.join(10)
    assert not waiting.is_alive()
    assert not lock.exists()
