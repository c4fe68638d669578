"""The constants that ship, over the published speeds that they were fitted to: a change of a formula shows here.

That they hold for machines they never saw is what `python -m tests.benchmarks.speed_accuracy` measures.
"""

from statistics import median

import pytest
from tests.benchmarks.speed_left_out import MEASURED, shipped_tables, speed_of
from tests.benchmarks.speed_rows import layers_of, plain_hardware, read_rows


@pytest.fixture(scope="module")
def offs():
    tables = shipped_tables()
    rows = read_rows(MEASURED)
    return [(row, speed_of(row, tables).decode.mid_tps / row.decode_tps - 1) for row in rows]


def test_half_of_all_rows_are_within_six_percent(offs):
    assert len(offs) == 718
    assert median(abs(off) for _, off in offs) < 0.06


@pytest.mark.parametrize(
    ("family", "most"),
    [("CUDA", 0.07), ("Metal", 0.05), ("MLX", 0.05), ("ROCm", 0.08), ("Vulkan", 0.09), ("EXL", 0.12), ("CPU", 0.30)],
)
def test_no_family_is_systematically_off(offs, family, most):
    own = [off for row, off in offs if row.family == family]
    assert median(map(abs, own)) < most
    assert abs(median(own)) < most / 2 + 0.02


def test_nine_of_ten_rows_lie_within_a_quarter(offs):
    assert sum(abs(off) <= 0.25 for _, off in offs) / len(offs) > 0.88


def test_hardware_and_models_are_read_as_they_are_meant():
    assert plain_hardware("RTX A6000 48GB * 4") == plain_hardware("RTX A6000 48GB")
    assert layers_of("Qwen3-30B-A3B-Instruct-2507-Q4_K_M.gguf", 30.53, mixed=True) == 48
    assert layers_of("Something-7B", 7.0, mixed=False) == 32
