import pytest

from weighbridge.hardware.bandwidth import load_table
from weighbridge.hardware.machine import VENDORS, MemoryKind
from weighbridge.hardware.rows import GIB, read_rows
from weighbridge.hardware.typed import is_laptop, taken_apart


@pytest.fixture(scope="module")
def table():
    return load_table()


@pytest.mark.parametrize(
    ("typed", "name", "memory_gib", "gbs"),
    [
        ("RTX 4090", "GeForce RTX 4090", 24, 1010),
        ("GeForce RTX 4090", "GeForce RTX 4090", 24, 1010),
        ("NVIDIA GeForce RTX 4090", "GeForce RTX 4090", 24, 1010),
        ("4090", "GeForce RTX 4090", 24, 1010),
        ("  rtx4090 ", "GeForce RTX 4090", 24, 1010),
        ("RTX-4090", "GeForce RTX 4090", 24, 1010),
        ("RTX 4090 Laptop GPU", "GeForce RTX 4090 Laptop GPU", 16, 576),
        ("RTX 4090 mobile", "GeForce RTX 4090 Laptop GPU", 16, 576),
        ("NVIDIA GeForce RTX 5070 Laptop GPU", "GeForce RTX 5070 Laptop GPU", 8, 384),
        ("RTX 5070 Laptop GPU", "GeForce RTX 5070 Laptop GPU", 8, 384),
        ("5070 laptop", "GeForce RTX 5070 Laptop GPU", 8, 384),
        ("5070", "GeForce RTX 5070", 12, 672),
        ("4070 ti super", "GeForce RTX 4070 Ti SUPER", 16, 672.3),
        ("RTX 2070 Max-Q", "GeForce RTX 2070 with Max-Q Design", 8, 384),
        ("RTX 2070 Mobile", "GeForce RTX 2070 Mobile", 8, 448),
        ("RTX A4000", "RTX A4000", 16, 448),
        ("A4000", "RTX A4000", 16, 448),
        ("RTX A4000 Laptop GPU", "RTX A4000 Laptop GPU", 8, 384),
        ("RTX 4000 Ada", "RTX 4000 Ada Generation", 20, 360),
        ("RTX 4000 SFF Ada", "RTX 4000 SFF Ada Generation", 20, 280),
        ("Quadro RTX 4000", "Quadro RTX 4000", 8, 416),
        ("RTX 2000 Ada Generation Laptop GPU", "RTX 2000 Ada Generation Laptop GPU", 8, 256),
        ("RTX PRO 6000", "RTX PRO 6000 Blackwell Workstation Edition", 96, 1790),
        ("RTX PRO 6000 Max-Q", "RTX PRO 6000 Blackwell Max-Q Workstation Edition", 96, 1790),
        ("RTX 3060 8GB", "GeForce RTX 3060", 8, 240),
        ("3060 12 gb", "GeForce RTX 3060", 12, 360),
        ("RTX 3080", "GeForce RTX 3080", 10, 760.3),
        ("RTX 3080 12GiB", "GeForce RTX 3080", 12, 912.4),
        ("GTX 1060 6GB", "GeForce GTX 1060 6GB", 6, 192.2),
        ("1070", "GeForce GTX 1070", 8, 256.3),
        ("rx 7900 xtx", "Radeon RX 7900 XTX", 24, 960),
        ("7900XTX", "Radeon RX 7900 XTX", 24, 960),
        ("AMD Radeon RX 7900 XTX (RADV NAVI31)", "Radeon RX 7900 XTX", 24, 960),
        ("RX 6800M", "Radeon RX 6800M", 12, 384),
        ("W7900", "Radeon PRO W7900", 48, 864),
        ("MI300X", "Instinct MI300X", 192, 5300),
        ("Arc B580", "Arc B580", 12, 456),
        ("b580", "Arc B580", 12, 456),
        ("Arc A770 16GB", "Arc A770", 16, 560),
        ("A100 SXM 80GB", "A100-SXM4-80GB", 80, 2040),
        ("L40S", "L40S", 48, 864),
        ("T4", "Tesla T4", 16, 320),
    ],
)
def test_a_card_by_the_name_that_a_person_types(table, typed, name, memory_gib, gbs):
    card = table.card(typed)
    assert (card.name, card.memory_bytes, card.bandwidth.gbs) == (name, memory_gib * GIB, gbs)
    assert card.kind is MemoryKind.DEDICATED
    assert card.source


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "   ",
        "GPU",
        "nvidia",
        "RTX",
        "Arc",
        "Foo 9000",
        "Quadro RTX 5000 with Max-Q Design",
        "RTX 4000",
        "4000",
        "6000",
        "090",
        "40",
        "RTX 4090 48GB",
        "RTX 4090 20-core",
        "RTX 9090",
        "RX 7900",
        "M4 Pro 99-core",
        "Raspberry Pi 5",
        "PCIe 4.0 x16",
        "RTX 4090 Laptop 24GB",
    ],
)
def test_what_no_product_is_called_is_no_card(table, typed):
    assert table.card(typed) is None


def test_a_name_that_leaves_the_memory_open_tells_the_sizes(table):
    card = table.card("RTX 4060 Ti")
    assert (card.memory_bytes, card.memories_bytes) == (None, (8 * GIB, 16 * GIB))
    assert table.card("RTX 3060").memories_bytes == (6 * GIB, 8 * GIB, 12 * GIB)
    assert table.card("GTX 1060").name == "GeForce GTX 1060"
    assert table.card("Arc A770").memories_bytes == (8 * GIB, 16 * GIB)


def test_memory_of_two_kinds_under_one_name_is_a_range(table):
    bandwidth = table.card("3060 Ti").bandwidth
    assert (bandwidth.low_gbs, bandwidth.high_gbs, bandwidth.gbs) == (448, 608.3, None)
    assert table.card("RTX 3060 Ti GDDR6X").bandwidth.gbs == 608.3
    laptop = table.card("RTX 3060 Laptop").bandwidth
    assert (laptop.low_gbs, laptop.high_gbs) == (288, 336)


def test_the_name_of_a_server_card_without_its_board_is_all_of_them(table):
    card = table.card("A100 80GB")
    assert (card.name, card.bandwidth.low_gbs, card.bandwidth.high_gbs) == ("A100 80GB", 1940, 2040)
    assert table.card("H100 NVL").bandwidth.gbs == 3940


def test_a_product_that_is_for_laptops_alone_answers_to_its_own_name(table):
    assert table.card("RTX 2050").bandwidth.high_gbs == 112
    assert table.card("2050") is None
    assert table.card("RTX 2060").bandwidth.gbs == 336


def test_a_chip_of_apple_by_its_cores_or_as_a_range(table):
    any_of_them = table.card("M3 Max")
    assert (any_of_them.name, any_of_them.driver_name, any_of_them.gpu_cores) == ("Apple M3 Max", "Apple M3 Max", None)
    assert (any_of_them.bandwidth.low_gbs, any_of_them.bandwidth.high_gbs) == (300, 400)
    for typed in ("M3 Max 40-core", "m3 max 40c", "Apple M3 Max (40-core GPU)", "M3 Max 40 cores"):
        assert (table.card(typed).bandwidth.gbs, table.card(typed).gpu_cores) == (400, 40)
    card = table.card("M4 Pro 20-core 48GB")
    assert (card.vendor, card.kind, card.memory_bytes) == ("apple", MemoryKind.UNIFIED, 48 * GIB)
    assert card.fp16_tflops == 9.2
    assert table.card("M4 Pro").memory_bytes is None


def test_graphics_parts_of_processors_have_no_memory_of_their_own(table):
    for typed in (
        "780M",
        "Radeon 8060S",
        "Intel Arc Graphics",
        "Strix Halo",
        "AMD Ryzen 7 8745H w/ Radeon 780M Graphics",
    ):
        assert (table.card(typed).kind, table.card(typed).memory_bytes) == (MemoryKind.SHARED, None)
    assert table.card("GB10").kind is MemoryKind.UNIFIED
    assert table.card("DGX Spark") == table.card("NVIDIA GB10")
    assert table.card("Ryzen AI Max+ 395").driver_name == "AMD Radeon 8060S"
    assert table.card("GB10 128GB").memory_bytes == int(119.7 * GIB)


def test_every_product_answers_to_its_name_and_never_to_one_of_the_other_kind(table):
    for row in read_rows():
        if row.vendor not in VENDORS or not taken_apart(row.name).key:
            continue
        card = table.card(row.name)
        assert card.bandwidth.low_gbs <= row.bandwidth_gbs <= card.bandwidth.high_gbs, row.name
        assert row.memory_gib is None or int(row.memory_gib * GIB) in card.memories_bytes, row.name
        if "Workstation" not in card.name and "2050" not in card.name:
            assert taken_apart(card.name).of_laptop == is_laptop(row), row.name


def test_what_is_offered_is_known(table):
    names = table.card_names()
    assert len(names) == len(set(names)) > 250
    assert [name for name in names if table.card(name) is None] == []
    assert "Raspberry Pi 5" not in names


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("RTX 9090", {"GeForce RTX 4090", "GeForce RTX 5090", "GeForce RTX 3090"}),
        ("RTX 4000", {"RTX A4000", "RTX 4000 Ada Generation", "RTX 4000 SFF Ada Generation"}),
        ("Quadro RTX 5000 with Max-Q Design", {"Quadro RTX 5000"}),
        ("RTX 4090 48GB", {"GeForce RTX 4090"}),
        ("M4 Pro 99-core", {"Apple M4 Pro (20-core GPU)"}),
        ("Arc B850", {"Arc B580"}),
    ],
)
def test_names_that_are_near(table, typed, expected):
    near = table.close_to(typed)
    assert expected <= set(near)
    assert len(near) <= 5
    assert all(table.card(name) for name in near)


def test_nothing_is_near_to_what_is_no_card(table):
    assert table.close_to("Foo 9000") == []
    assert table.close_to("") == []
    assert len(table.close_to("RTX 4090", most=2)) == 2
    assert table.close_to("RTX 4090")[0] == "GeForce RTX 4090"
    assert table.close_to("x" * 5000) == []
