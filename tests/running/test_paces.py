"""How fast the places of a machine are."""

from dataclasses import replace

import pytest

from weighbridge.hardware.machine import Bandwidth, Cpu, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.running.paces import THREADS, paces_for, speed_tables
from weighbridge.running.places import places_for

GIB = 1 << 30
TABLES = speed_tables()
RAM = Memory(MemoryKind.DEDICATED, 64 * GIB, 60 * GIB)
CPU = Cpu("Some processor", 8, 16, 8, ("AVX", "AVX2"))
MEASURED = Bandwidth(40.0, 40.0, "", "2026-11-30")
RTX = Device(
    "gpu0",
    "nvidia",
    "NVIDIA GeForce RTX 4090",
    Memory(MemoryKind.DEDICATED, 24 * GIB, 23 * GIB),
    compute_capability="8.9",
    bandwidth=Bandwidth(1008.0, 1008.0, "the table"),
    seen_by=(Sight("llama_server", "CUDA0"), Sight("exllamav2", "0")),
)


def paces(machine, engine_id="llama_server", threads=None):
    return paces_for(machine, engine_id, places_for(machine, engine_id), threads, TABLES)


def test_a_card_by_its_generation_and_the_way_it_is_reached():
    found = paces(Machine("linux", CPU, RAM, (RTX,), bandwidth=MEASURED))
    card = found["gpu0"]
    assert (card.low_gbs, card.high_gbs, card.measured) == (1008.0, 1008.0, False)
    assert (card.constants.api, card.constants.generation) == ("cuda", "ada")
    assert card.tflops == pytest.approx(82.6, rel=0.01)
    assert found["host"].name == "Some processor"


def test_the_same_card_by_vulkan_has_other_constants():
    seen = replace(RTX, seen_by=(Sight("llama_server", "Vulkan0"),))
    card = paces(Machine("linux", CPU, RAM, (seen,)))["gpu0"]
    assert (card.constants.api, card.constants.generation) == ("vulkan", "ada")


def test_engines_with_kernels_of_their_own_have_constants_of_their_own():
    assert paces(Machine("linux", CPU, RAM, (RTX,)), "exllamav2")["gpu0"].constants.api == "exl"


def test_a_card_whose_bandwidth_is_not_known_is_left_out():
    unknown = replace(RTX, name="Foo 9000", bandwidth=None)
    assert "gpu0" not in paces(Machine("linux", CPU, RAM, (unknown,), bandwidth=MEASURED))


def test_a_processor_without_a_measurement_is_left_out():
    assert paces(Machine("linux", CPU, RAM)) == {}


def test_a_processor_s_measured_memory_has_constants_of_its_own():
    [host] = paces(Machine("linux", CPU, RAM, bandwidth=MEASURED)).values()
    assert (host.constants.generation, host.measured) == ("measured", True)
    assert host.low_gbs == 40.0
    assert host.tflops == pytest.approx(7 * THREADS["AVX2"].tflops)  # one core stays free


def test_few_threads_compute_less_than_the_memory_gives():
    [host] = paces(Machine("linux", CPU, RAM, bandwidth=MEASURED), threads=2).values()
    assert host.parameters_per_s == 2 * THREADS["AVX2"].parameters
    assert host.scores_per_s == 2 * THREADS["AVX2"].scores


def test_the_widest_vectors_count():
    wide = replace(CPU, extensions=("AVX", "AVX2", "AVX-512F"))
    [host] = paces(Machine("linux", wide, RAM, bandwidth=MEASURED), threads=2).values()
    assert host.tflops == pytest.approx(2 * THREADS["AVX-512F"].tflops)
    [host] = paces(Machine("linux", replace(CPU, extensions=()), RAM, bandwidth=MEASURED)).values()
    assert host.tflops is None


def test_memory_that_is_one_for_both_is_as_fast_as_its_chip():
    chip = Device(
        "gpu0",
        "apple",
        "Apple M4 Max",
        Memory(MemoryKind.UNIFIED, 64 * GIB, 40 * GIB, usable_bytes=48 * GIB),
        bandwidth=Bandwidth(546.0, 546.0, "the table"),
        seen_by=(Sight("llama_server", "MTL0"), Sight("mlx", "gpu")),
    )
    machine = Machine("darwin", CPU, RAM, (chip,))
    [host] = paces(machine).values()
    assert (host.place, host.constants.api, host.constants.generation) == ("host", "metal", "m4")
    [host] = paces(machine, "mlx").values()
    assert (host.constants.api, host.constants.generation) == ("mlx", "m4")


def test_a_card_that_was_measured_loses_less_of_it():
    here = replace(RTX, bandwidth=Bandwidth(907.2, 907.2, "", "2026-11-30"))
    sold, measured = (paces(Machine("linux", CPU, RAM, (one,)))["gpu0"] for one in (RTX, here))
    assert measured.measured
    assert measured.low_gbs * measured.constants.streaming == pytest.approx(sold.low_gbs * sold.constants.streaming)
