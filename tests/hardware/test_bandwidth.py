import csv

import pytest

from weighbridge.hardware.bandwidth import Table, load_table
from weighbridge.hardware.rows import GIB, Row
from weighbridge_resources import path


@pytest.fixture(scope="module")
def table():
    return load_table()


@pytest.mark.parametrize(
    ("name", "memory_gib", "gbs"),
    [
        ("NVIDIA GeForce RTX 5070", 12, 672),
        ("NVIDIA GeForce RTX 5070 Laptop GPU", 8, 384),
        ("NVIDIA GeForce RTX 4090", 24, 1010),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 16, 576),
        ("GeForce RTX 2080 Ti", 11, 616),
        ("NVIDIA GeForce RTX 2080 with Max-Q Design", 8, 384),
        ("Quadro RTX 5000", 16, 448),
        ("NVIDIA RTX A4000", 16, 448),
        ("NVIDIA RTX A4000 Laptop GPU", 8, 384),
        ("NVIDIA RTX 4000 SFF Ada Generation", 20, 280),
        ("NVIDIA RTX 4000 Ada Generation", 20, 360),
        ("NVIDIA GeForce RTX 3080", 10, 760.3),
        ("NVIDIA GeForce RTX 3080", 12, 912.4),
        ("NVIDIA GeForce RTX 3060", 12, 360),
        ("NVIDIA GeForce RTX 4060 Ti", 16, 288),
        ("Tesla T4", 15, 320),
        ("NVIDIA A10", 22.5, 600.2),
        ("NVIDIA H100 80GB HBM3", 79.6, 3360),
        ("NVIDIA H200", 140.4, 4890),
        ("NVIDIA B200", 179, 8000),
        ("NVIDIA GB10", None, 273.2),
        ("AMD Radeon RX 7900 XTX (RADV NAVI31)", 24, 960),
        ("AMD Radeon(TM) 8060S Graphics", None, 256),
        ("Intel(R) Arc(tm) A770 Graphics (DG2)", 16, 560),
        ("Intel(R) Arc(TM) A770 Graphics", 8, 512),
        ("Intel(R) Arc(TM) A770M Graphics", 16, 512),
        ("Intel(R) Arc(TM) 140V GPU (16GB)", None, 136.5),
        ("Apple M3 Max (30-core GPU)", None, 300),
        ("Apple M2 Ultra", None, 800),
    ],
)
def test_a_card_has_its_own_figure(table, name, memory_gib, gbs):
    found = table.of(name, memory_gib and int(memory_gib * GIB))
    assert found.gbs == gbs
    assert found.source


@pytest.mark.parametrize(
    "name",
    [
        "Foo 9000",
        "",
        "NVIDIA",
        "Quadro RTX 5000 with Max-Q Design",
        "NVIDIA GeForce RTX 5070 Laptop",
        "RTX 4000 SFF Ada",
        "5070",
        "AMD Radeon Graphics",
        "AMD Radeon RX 7900",
        "Apple M3 Max (99-core GPU)",
        "Apple",
    ],
)
def test_an_unknown_name_is_unknown(table, name):
    assert table.of(name, 8 * GIB) is None


def test_a_name_of_several_products_is_a_range(table):
    found = table.of("NVIDIA GeForce RTX 3060 Laptop GPU", 6 * GIB)
    assert (found.gbs, found.low_gbs, found.high_gbs) == (None, 288, 336)


def test_memory_that_no_product_has_leaves_all_of_the_name():
    table = Table([Row("NVIDIA X", 8, 100, "s"), Row("NVIDIA X", 16, 200, "s")])
    assert table.of("nvidia  x", 15 * GIB).gbs == 200
    assert table.of("NVIDIA X", 64 * GIB).low_gbs == 100
    assert table.of("NVIDIA X").high_gbs == 200


def test_known_faults_of_the_source_are_mended(table):
    with path("hardware.csv").open(newline="") as lines:
        rows = {row["name"]: row for row in csv.DictReader(lines)}
    assert float(rows["Instinct MI300X"]["bandwidth_gbs"]) == 5300
    assert float(rows["B200 (per package, 2 dies)"]["memory_gib"]) == 180
    assert rows["RTX 2000 Ada Generation"]["compute_capability"] == "8.9"
    assert all("Mobile" not in row["driver_name"] for row in rows.values())


@pytest.mark.parametrize(
    ("name", "tflops"),
    [
        ("NVIDIA GeForce GTX 1080 Ti", 11.34),
        ("Tesla P40", 11.76),
        ("Tesla P100-PCIE-16GB", 19.05),
        ("NVIDIA GeForce RTX 2080 Ti", 26.9),
        ("Tesla T4", 16.28),
        ("NVIDIA GeForce RTX 2050", 4.915),
        ("NVIDIA GeForce RTX 3090", 35.58),
        ("NVIDIA A30", 41.28),
        ("NVIDIA A100-SXM4-80GB", 77.97),
        ("NVIDIA GeForce RTX 4090", 82.58),
        ("NVIDIA GeForce RTX 5090", 104.8),
        ("NVIDIA H100 PCIe", 102.4),
        ("NVIDIA H200", 133.8),
        ("NVIDIA B200", 148.9),
        ("AMD Radeon RX 7900 XTX", 122.8),
        ("AMD Radeon RX 9070 XT", 97.32),
        ("AMD Radeon 8060S Graphics", 59.39),
        ("AMD Radeon 780M Graphics", 16.59),
        ("AMD Radeon 680M", 6.76),
        ("AMD Instinct MI100", 46.1),
        ("AMD Instinct MI210", 45.3),
        ("AMD Instinct MI300X", 163.4),
        ("Intel(R) Arc(TM) B580 Graphics", 27.34),
        ("Apple M1 Ultra (64-core GPU)", 20.8),
        ("Apple M4 Pro (20-core GPU)", 9.2),
        ("Intel Iris Xe Graphics", None),
        ("Apple M6", None),
        ("Foo 9000", None),
    ],
)
def test_the_rate_of_half_precision_is_that_of_shaders(table, name, tflops):
    assert table.tflops_of(name) == tflops


def test_where_a_name_has_several_rates_memory_or_cores_decide_else_the_middle(table):
    assert table.tflops_of("NVIDIA GeForce RTX 3080", 10 * GIB) == 29.77
    assert table.tflops_of("NVIDIA GeForce RTX 3080", 12 * GIB) == 30.64
    assert table.tflops_of("NVIDIA GeForce RTX 3060 Laptop GPU", 6 * GIB) == 10.395
    assert table.tflops_of("Apple M4 Max", 64 * GIB, gpu_cores=40) == 18.4
    assert table.tflops_of("Apple M4 Max") == 16.56
    assert table.tflops_of("Apple M4 Max", gpu_cores=33) == 16.56


def test_rates_keep_the_proportion_that_a_generation_has(table):
    """Half to single precision by compute capability: the throughputs of CUDA's programming guide."""
    for name, single in (("Tesla V100-SXM2-32GB", 15.67), ("Quadro RTX 6000", 16.31), ("NVIDIA H100 NVL", 60.32)):
        assert table.tflops_of(name) == pytest.approx(2 * single, rel=0.001)
    for name in table.card_names():
        card = table.card(name)
        if card.vendor == "apple" and card.gpu_cores:
            assert 0.32 < card.fp16_tflops / card.gpu_cores < 0.58


def test_a_chip_tells_its_cores_by_name_or_where_it_is_sold_with_one_count(table):
    assert table.cores_of("Apple M3 Max (40-core GPU)") == 40
    assert table.cores_of("Apple M5") == 10
    assert table.cores_of("Apple M5 Pro") == 20
    assert table.cores_of("Apple M3 Max") is None
    assert table.cores_of("Apple M5 Ultra") is None
    assert table.cores_of("NVIDIA GeForce RTX 4090") is None
    assert table.cores_of("Foo 9000") is None


def test_compute_capability_by_name(table):
    assert table.capability_of("NVIDIA GeForce RTX 5070 Laptop GPU") == "12.0"
    assert table.capability_of("AMD Radeon RX 7900 XTX") is None
    assert table.capability_of("Foo 9000") is None
