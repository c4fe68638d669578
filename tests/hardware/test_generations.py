from collections import Counter

import pytest

from weighbridge.hardware.bandwidth import load_table
from weighbridge.hardware.generations import generation
from weighbridge.hardware.rows import read_rows


@pytest.fixture(scope="module")
def table():
    return load_table()


@pytest.mark.parametrize(
    ("capability", "expected"),
    [
        ("5.2", None),
        ("6.0", "pascal"),
        ("6.1", "pascal"),
        ("7.0", "volta"),
        ("7.5", "turing"),
        ("8.0", "ampere-hbm"),
        ("8.6", "ampere"),
        ("8.7", "ampere"),
        ("8.9", "ada"),
        ("9.0", "hopper"),
        ("10.0", "blackwell-dc"),
        ("10.3", "blackwell-dc"),
        ("12.0", "blackwell"),
        ("12.1", "gb10"),
        ("99.0", None),
        ("12.00", None),
        ("x", None),
    ],
)
def test_what_the_driver_tells_decides_over_the_name(capability, expected, table):
    assert generation("nvidia", "NVIDIA GeForce GTX 1080", capability, table) == expected


@pytest.mark.parametrize(
    ("vendor", "name", "expected"),
    [
        ("nvidia", "NVIDIA GeForce RTX 5070 Laptop GPU", "blackwell"),
        ("nvidia", "NVIDIA GeForce RTX 4090", "ada"),
        ("nvidia", "NVIDIA GeForce RTX 2050", "ampere"),
        ("nvidia", "Quadro RTX 5000 with Max-Q Design", None),
        ("nvidia", "5070", None),
        ("nvidia", "Foo 9000", None),
        ("amd", "AMD Radeon RX 580", "gcn"),
        ("amd", "Radeon RX 580 Series", None),
        ("amd", "AMD Radeon RX 580 2048SP", "gcn"),
        ("amd", "AMD Radeon Vega 8 Graphics", "gcn"),
        ("amd", "AMD Radeon RX 5700 XT", "rdna1"),
        ("amd", "AMD Radeon RX 5500M", "rdna1"),
        ("amd", "AMD Radeon RX 6650M XT", "rdna2"),
        ("amd", "AMD Radeon 680M", "rdna2"),
        ("amd", "AMD Radeon RX 7900 GRE", "rdna3"),
        ("amd", "AMD Radeon RX 7900", "rdna3"),
        ("amd", "AMD Radeon PRO W7700", "rdna3"),
        ("amd", "AMD Radeon 760M Graphics", "rdna3-apu"),
        ("amd", "AMD Ryzen 7 8745H w/ Radeon 780M Graphics", "rdna3-apu"),
        ("amd", "AMD Radeon 890M Graphics", "rdna3-apu"),
        ("amd", "AMD Radeon(TM) 8060S Graphics", "strix-halo"),
        ("amd", "AMD Ryzen AI Max+ 395", "strix-halo"),
        ("amd", "AMD RYZEN AI MAX+ PRO 395 w/ Radeon 8060S", "strix-halo"),
        ("amd", "AMD Radeon RX 9060 XT", "rdna4"),
        ("amd", "AMD Radeon AI PRO R9700", "rdna4"),
        ("amd", "AMD Instinct MI100", "cdna1"),
        ("amd", "AMD Instinct MI250X", "cdna2"),
        ("amd", "AMD Instinct MI300X", "cdna3"),
        ("amd", "AMD Instinct MI300X OAM", "cdna3"),
        ("amd", "AMD Instinct MI355X", "cdna4"),
        ("amd", "AMD Radeon Graphics (RADV GFX1151)", "strix-halo"),
        ("amd", "AMD Radeon Graphics (RADV PHOENIX)", "rdna3-apu"),
        ("amd", "AMD Custom GPU 0405 (RADV VANGOGH)", None),
        ("amd", "AMD Radeon RX 7900 XT (RADV NAVI31)", "rdna3"),
        ("amd", "AMD Radeon Graphics", None),
        ("amd", "AMD Radeon R5 M330", None),
        ("amd", "AMD Radeon HD 7900 Series", None),
        ("amd", "Raphael", None),
        ("amd", "Foo 9070", None),
        ("intel", "Intel(R) Arc(TM) A770 Graphics (DG2)", "alchemist"),
        ("intel", "Intel(R) Arc(TM) A350M Graphics", "alchemist"),
        ("intel", "Intel Arc Pro B60 Graphics", "battlemage"),
        ("intel", "Intel(R) Arc(TM) 140V GPU (16GB)", "xe"),
        ("intel", "Intel(R) Arc(tm) Graphics (MTL)", "xe"),
        ("intel", "Intel(R) Iris(R) Xe Graphics (TGL GT2)", "xe"),
        ("intel", "Intel(R) UHD Graphics 770 (ADL-S GT1)", "xe"),
        ("intel", "Intel(R) UHD Graphics 630 (CFL GT2)", None),
        ("apple", "Apple M1", "m1"),
        ("apple", "Apple M2 Max", "m2"),
        ("apple", "Apple M3 Ultra", "m3-ultra"),
        ("apple", "Apple M4 Pro (20-core GPU)", "m4"),
        ("apple", "Apple M5 Max", "m5"),
        ("apple", "Apple A18 Pro", None),
        ("apple", "Apple Paravirtual device", None),
        ("other", "NVIDIA GeForce RTX 4090", None),
        ("", "", None),
    ],
)
def test_a_name_tells_the_family_of_products(vendor, name, expected, table):
    assert generation(vendor, name, None, table) == expected


def test_a_name_of_nvidia_tells_nothing_without_the_table():
    assert generation("nvidia", "NVIDIA GeForce RTX 4090") is None
    assert generation("nvidia", "NVIDIA GeForce RTX 4090", "8.9") == "ada"


def test_the_target_of_an_amd_card_decides_over_its_name():
    assert generation("amd", "AMD Radeon Graphics", "gfx1100") == "rdna3"
    assert generation("amd", "AMD Radeon RX 6900 XT", "gfx1201") == "rdna4"
    assert generation("amd", "AMD Radeon RX 6900 XT", "gfx9999") == "rdna2"


def test_every_product_of_the_table_has_its_generation(table):
    cards = [row for row in read_rows() if row.vendor != "cpu"]
    named = {name: generation(row.vendor, name, None, table) for row in cards for name in row.driver_names}
    assert [name for name, known in named.items() if known is None] == []
    counts = Counter(generation(row.vendor, row.driver_names[0], None, table) for row in cards)
    assert counts["turing"] == 42
    assert counts["ada"] == 37
    assert counts["rdna2"] == 31
    assert counts["alchemist"] == 14
    assert {"m1": 6, "m1-ultra": 2}.items() <= counts.items()
    assert counts.total() == len(cards)
