import json

import pytest

from weighbridge.base.errors import BadFile, Refused
from weighbridge.base.explain import explain
from weighbridge.hardware.bandwidth import load_table
from weighbridge.hardware.described import card_called, described
from weighbridge.hardware.machine import Bandwidth, Basis, Cpu, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.hardware.machine_file import read_machine
from weighbridge.hardware.rows import GIB
from weighbridge_engines.api import Cause

HERE = Machine(
    system="Linux 6.1 x86_64",
    cpu=Cpu("Some CPU", 8, 16, 16, ("AVX2",)),
    memory=Memory(MemoryKind.SHARED, 32 * GIB, 20 * GIB),
    devices=(Device("cuda0", "nvidia", "NVIDIA GeForce GTX 1050", Memory(MemoryKind.DEDICATED, 2 * GIB, GIB)),),
    problems=(Cause("hardware.no_card"),),
    bandwidth=Bandwidth(41.5, 41.5, "", "2026-11-30"),
    within=("container",),
)


@pytest.fixture(scope="module")
def table():
    return load_table()


def one(machine):
    (device,) = machine.devices
    return device


def test_two_cards_in_place_of_what_is_here(table):
    machine = described(HERE, [(table.card("RTX 4090"), 2)], engines=("llama_server", "exllamav3"))
    assert (machine.cpu, machine.memory, machine.bandwidth) == (HERE.cpu, HERE.memory, HERE.bandwidth)
    assert (machine.system, machine.problems, machine.within) == (HERE.system, (), ())
    first, second = machine.devices
    assert (first.id, first.vendor, first.name) == ("gpu0", "nvidia", "NVIDIA GeForce RTX 4090")
    assert first.memory == Memory(MemoryKind.DEDICATED, 24 * GIB, 24 * GIB - GIB // 2)
    assert (first.compute_capability, first.bandwidth.gbs, first.integrated) == ("8.9", 1010, False)
    assert first.bandwidth.source
    assert first.seen_by == (Sight("llama_server", "CUDA0"), Sight("exllamav3", "CUDA0"))
    assert (second.id, second.seen_by[0]) == ("gpu1", Sight("llama_server", "CUDA1"))


def test_cards_of_several_makers_are_counted_by_their_ways(table):
    cards = [(table.card(name), 1) for name in ("3090", "7900 XTX", "Arc B580", "W7900", "B580")]
    machine = described(HERE, cards, engines=("llama_server",))
    assert [device.seen_by[0].id for device in machine.devices] == ["CUDA0", "ROCm0", "Vulkan0", "ROCm1", "Vulkan1"]
    assert [device.id for device in machine.devices] == ["gpu0", "gpu1", "gpu2", "gpu3", "gpu4"]


def test_other_memory_has_another_speed_which_nobody_knows():
    machine = described(HERE, ram_bytes=64 * GIB)
    assert machine.memory == Memory(MemoryKind.SHARED, 64 * GIB, 61 * GIB)
    assert (machine.bandwidth, machine.devices, machine.cpu) == (None, (), HERE.cpu)
    assert described(HERE, ram_bytes=64 * GIB, memory_gbs=80).bandwidth == Bandwidth(80, 80, "described")
    assert described(HERE, ram_bytes=2 * GIB).memory.available_bytes == 0


def test_a_mac_is_one_memory_of_which_metal_lends_a_part(table):
    machine = described(HERE, [(table.card("M4 Pro 20-core 24GB"), 1)], engines=("mlx",))
    assert (machine.system, machine.cpu.name, machine.cpu.extensions) == (
        "darwin",
        "Apple M4 Pro",
        ("NEON", "FP16", "DotProd"),
    )
    assert (machine.memory.total_bytes, machine.bandwidth.gbs) == (24 * GIB, 273)
    device = one(machine)
    assert device.memory == Memory(MemoryKind.UNIFIED, 24 * GIB, 16 * GIB, 16 * GIB, Basis.ESTIMATE)
    assert (device.name, device.gpu_cores, device.integrated) == ("Apple M4 Pro (20-core GPU)", 20, True)
    assert device.seen_by == (Sight("mlx", "Metal"),)
    large = one(described(HERE, [(table.card("M3 Ultra"), 1)], ram_bytes=512 * GIB))
    assert (large.memory.total_bytes, large.memory.usable_bytes) == (512 * GIB, 384 * GIB)
    assert large.bandwidth.gbs == 800


def test_a_chip_keeps_the_processor_that_it_has_already(table):
    mac = described(HERE, [(table.card("M2 Max 64GB"), 1)])
    known = Cpu("Apple M2 Max", 12, 12, 12, ("NEON",))
    machine = Machine(mac.system, known, mac.memory)
    assert described(machine, [(table.card("M2 Max 96GB"), 1)]).cpu == known


def test_gb10_is_one_chip_too(table):
    machine = described(HERE, [(table.card("GB10"), 1)], engines=("llama_server",))
    device = one(machine)
    assert device.memory.kind is MemoryKind.UNIFIED
    assert device.memory.total_bytes == machine.memory.total_bytes == int(119.7 * GIB)
    assert device.memory.available_bytes == int(119.7 * GIB) - 3 * GIB
    assert (machine.bandwidth.gbs, machine.system, device.seen_by[0].id) == (273.2, HERE.system, "CUDA0")
    assert device.compute_capability == "12.1"


def test_graphics_parts_borrow_what_their_drivers_lend(table):
    amd = one(described(HERE, [(table.card("8060S"), 1)], ram_bytes=128 * GIB)).memory
    assert amd == Memory(MemoryKind.SHARED, 128 * GIB, 64 * GIB, 64 * GIB, Basis.ESTIMATE)
    intel = one(described(HERE, [(table.card("Intel Arc Graphics"), 1)], ram_bytes=32 * GIB)).memory
    assert intel == Memory(MemoryKind.SHARED, 32 * GIB, 24 * GIB, 24 * GIB, Basis.ESTIMATE)


@pytest.mark.parametrize(
    ("names", "count", "ram_gib", "code", "values"),
    [
        (["RTX 4060 Ti"], 1, None, "machine.card_memory", {"name": "GeForce RTX 4060 Ti", "sizes": ["8", "16"]}),
        (["M4 Pro"], 1, None, "machine.chip_memory", {"name": "Apple M4 Pro"}),
        (["M4 Pro 48GB"], 2, None, "machine.one_chip", {"name": "Apple M4 Pro"}),
        (["RTX 4090", "GB10"], 1, None, "machine.one_chip", {"name": "GB10"}),
        (["RTX 4090"], 1000, None, "machine.value", {"place": "gpus", "value": "1000", "low": "1", "high": "32"}),
        (["RTX 4090"], 0, None, "machine.value", {"place": "gpus", "value": "0", "low": "1", "high": "32"}),
        (["RTX 4090", "3090"], 20, None, "machine.value", {"place": "gpus", "value": "40", "low": "0", "high": "32"}),
        ([], 1, 1e9, "machine.value", {"place": "ram_gib", "value": "1e+09", "low": "0.5", "high": "16384"}),
    ],
)
def test_what_no_machine_is(table, names, count, ram_gib, code, values):
    cards = [(table.card(name), count) for name in names]
    with pytest.raises(Refused) as refused:
        described(HERE, cards, ram_gib and int(ram_gib * GIB))
    assert (refused.value.code, refused.value.values) == (code, values)
    assert "{" not in str(explain(refused.value))


def test_a_name_that_no_card_has(table):
    assert card_called(table, "4090").name == "GeForce RTX 4090"
    with pytest.raises(Refused) as near:
        card_called(table, "RTX 9090")
    assert near.value.code == "machine.card_near"
    assert "GeForce RTX 4090" in near.value.values["near"]
    assert "GeForce RTX 4090" in str(explain(near.value))
    with pytest.raises(Refused, match=r"machine\.card_unknown"):
        card_called(table, "Foo 9000")


def read(values, table, **others):
    return read_machine(values if isinstance(values, str) else json.dumps(values), HERE, table, **others)


def test_a_file_describes_a_machine(table):
    values = {
        "ram_gib": 64,
        "memory_gbs": 80.5,
        "cpu": {"name": "Ryzen 9 7950X", "cores": 16, "extensions": ["AVX2", "AVX-512F"]},
        "gpus": [
            {"name": "GeForce RTX 4090", "count": 2},
            {"name": "RTX 4060 Ti", "memory_gib": 16},
            {"name": "RTX 4090", "memory_gib": 48, "bandwidth_gbs": 1008},
            {"name": "Foo 9000", "memory_gib": 12.5},
        ],
    }
    machine = read(values, table, engines=("llama_server",))
    assert machine.cpu == Cpu("Ryzen 9 7950X", 16, None, 16, ("AVX2", "AVX-512F"))
    assert (machine.memory.total_bytes, machine.bandwidth) == (64 * GIB, Bandwidth(80.5, 80.5, "described"))
    totals = [device.memory.total_bytes / GIB for device in machine.devices]
    assert totals == [24, 24, 16, 48, 12.5]
    assert [device.bandwidth and device.bandwidth.gbs for device in machine.devices] == [1010, 1010, 288, 1008, None]
    assert machine.devices[3].bandwidth.source == "described"
    assert machine.devices[3].compute_capability == "8.9"
    stranger = machine.devices[4]
    assert (stranger.vendor, stranger.name, stranger.seen_by[0].id) == ("other", "Foo 9000", "Vulkan0")


def test_what_a_file_leaves_out_is_as_here(table):
    machine = read({}, table)
    assert (machine.cpu, machine.memory, machine.bandwidth) == (HERE.cpu, HERE.memory, HERE.bandwidth)
    assert machine.devices == ()
    assert read({"cpu": {}}, table).cpu == Cpu(None, None, None, None)
    assert read({"memory_gbs": 55}, table).bandwidth.gbs == 55
    assert read({"ram_gib": None, "gpus": None}, table) == machine


def test_a_mac_in_a_file(table):
    machine = read({"ram_gib": 48, "gpus": [{"name": "M4 Pro"}]}, table)
    assert one(machine).memory.usable_bytes == 36 * GIB
    strange = read({"gpus": [{"name": "Apple M9 Max", "memory_gib": 96}]}, table)
    assert (strange.memory.total_bytes, strange.bandwidth, strange.system) == (96 * GIB, None, "darwin")


@pytest.mark.parametrize(
    ("values", "code", "place"),
    [
        ({"ram_gib": 1e9}, "machine.value", "ram_gib"),
        ({"ram_gib": 0}, "machine.value", "ram_gib"),
        ({"ram_gib": -5}, "machine.value", "ram_gib"),
        ({"ram_gib": 10**400}, "machine.value", "ram_gib"),
        ('{"ram_gib": 1e999}', "machine.value", "ram_gib"),
        ({"ram_gib": "64"}, "machine.kind", "ram_gib"),
        ({"ram_gib": True}, "machine.kind", "ram_gib"),
        ({"ram_gb": 64}, "machine.key", "ram_gb"),
        ({"memory_gbs": 0}, "machine.value", "memory_gbs"),
        ({"cpu": []}, "machine.kind", "cpu"),
        ({"cpu": {"cores": 0}}, "machine.value", "cpu.cores"),
        ({"cpu": {"cores": 2.5}}, "machine.value", "cpu.cores"),
        ({"cpu": {"name": 7}}, "machine.kind", "cpu.name"),
        ({"cpu": {"extensions": ["AVX9"]}}, "machine.key", "cpu.extensions[0] AVX9"),
        ({"cpu": {"extensions": [["AVX2"]]}}, "machine.key", "cpu.extensions[0] ['AVX2']"),
        ({"cpu": {"extensions": "AVX2"}}, "machine.kind", "cpu.extensions"),
        ({"gpus": {}}, "machine.kind", "gpus"),
        ({"gpus": [{}] * 33}, "machine.value", "gpus"),
        ({"gpus": ["RTX 4090"]}, "machine.kind", "gpus[0]"),
        ({"gpus": [{"name": "RTX 4090"}, {"count": 2}]}, "machine.missing", "gpus[1].name"),
        ({"gpus": [{"name": " "}]}, "machine.value", "gpus[0].name.length"),
        ({"gpus": [{"name": "x" * 101}]}, "machine.value", "gpus[0].name.length"),
        ({"gpus": [{"name": "RTX 4090", "count": 1000}]}, "machine.value", "gpus[0].count"),
        ({"gpus": [{"name": "RTX 4090", "count": 0}]}, "machine.value", "gpus[0].count"),
        ({"gpus": [{"name": "RTX 4090", "vram": 24}]}, "machine.key", "gpus[0].vram"),
        ({"gpus": [{"name": "Foo", "memory_gib": 1e6}]}, "machine.value", "gpus[0].memory_gib"),
        ({"gpus": [{"name": "Foo", "memory_gib": 8, "bandwidth_gbs": 1e7}]}, "machine.value", "gpus[0].bandwidth_gbs"),
    ],
)
def test_what_a_file_may_not_say_is_named_with_its_place(table, values, code, place):
    with pytest.raises(Refused) as refused:
        read(values, table)
    assert (refused.value.code, refused.value.values["place"]) == (code, place)
    assert place in str(explain(refused.value))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '"x"',
        "NaN",
        '{"ram_gib": NaN}',
        '{"ram_gib": 8, "ram_gib": 9}',
        "[" * 60_000,
        " " * 70_000,
        '{"ram_gib": ' + "9" * 5000 + "}",
    ],
)
def test_what_is_no_description(table, text):
    with pytest.raises((BadFile, Refused)) as bad:
        read(text, table)
    assert bad.value.code in ("machine.unreadable", "machine.kind")
    assert explain(bad.value).next_step


def test_a_card_that_a_file_only_names_must_be_known(table):
    with pytest.raises(Refused, match=r"machine\.card_near"):
        read({"gpus": [{"name": "RTX 9090"}]}, table)
    with pytest.raises(Refused, match=r"machine\.card_unknown"):
        read({"gpus": [{"name": "Foo 9000", "bandwidth_gbs": 900}]}, table)
    with pytest.raises(Refused, match=r"machine\.card_memory"):
        read({"gpus": [{"name": "RTX 3060"}]}, table)
    assert read({"gpus": [{"name": "Bar\u202e 9000", "memory_gib": 8}]}, table).devices[0].name == "Bar\ufffd 9000"
