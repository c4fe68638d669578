import pytest

from weighbridge.hardware.bandwidth import GIB, Row, Table, load_table


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
    import csv

    from weighbridge_resources import path

    with path("hardware.csv").open(newline="") as lines:
        rows = {row["name"]: row for row in csv.DictReader(lines)}
    assert float(rows["Instinct MI300X"]["bandwidth_gbs"]) == 5300
    assert float(rows["B200 (per package, 2 dies)"]["memory_gib"]) == 180
    assert rows["GeForce GTX 1080"]["fp16_tflops"] == ""
    assert rows["RTX 2000 Ada Generation"]["compute_capability"] == "8.9"
    assert all("Mobile" not in row["driver_name"] for row in rows.values())
