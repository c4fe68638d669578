"""MLX as a whole: one place, and peaks that others published."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.estimates.made_blueprints import card, ram
from tests.estimates.made_folders import DEEPSEEK_V3, GIB, QWEN3_4B, folder, info

from weighbridge.estimates.config_widths import widths_of
from weighbridge.estimates.defaults import plan_for
from weighbridge.estimates.estimate import Place, PlaceKind, Term
from weighbridge.estimates.shares_mlx import compute_bytes, mlx_shares
from weighbridge.estimates.weights import Weights

MAC = Place("metal0", "M4 Max", PlaceKind.UNIFIED, 64 * GIB, 48 * GIB, api="metal")
WIDTHS = widths_of(info(QWEN3_4B, "mlx"))


@pytest.mark.parametrize(("weights", "peak"), [(2.26e9, 3.35e9), (4.28e9, 5.25e9), (8.05e9, 9.02e9)])
def test_peaks_published_for_a_mac(weights, peak):
    model = replace(folder(QWEN3_4B, "mlx"), weights=Weights((), output_bytes=int(weights)))
    (share,) = mlx_shares(replace(model, widths=WIDTHS), plan_for("mlx", 2048 + 128), [ram(64), MAC])
    without_process = (share.total_bytes or 0) - (share.terms[Term.ENGINE] or 0)
    assert without_process == pytest.approx(peak, rel=0.03)


def test_everything_lies_in_one_place():
    model = folder(QWEN3_4B, "mlx")
    (share,) = mlx_shares(replace(model, widths=WIDTHS), plan_for("mlx", 4096), [ram(64), MAC, card(24)])
    assert share.place == "metal0"
    assert share.terms[Term.WEIGHTS] == 38 * GIB
    (share,) = mlx_shares(replace(model, widths=WIDTHS), plan_for("mlx", 4096), [ram(64)])
    assert share.place == "host"


def test_scores_stand_in_memory_where_no_kernel_computes_them_piecewise():
    shape = folder(QWEN3_4B, "mlx").shape
    plan = plan_for("mlx", 8192)
    usual = compute_bytes(shape, WIDTHS, plan, on_gpu=True)
    wide = compute_bytes(shape, replace(WIDTHS, head=256), plan, on_gpu=True)
    assert wide - usual == 32 * 2048 * 8192 * 2
    latent, widths = folder(DEEPSEEK_V3, "mlx").shape, widths_of(info(DEEPSEEK_V3, "mlx"))
    assert compute_bytes(latent, widths, plan, on_gpu=True) > 128 * 2048 * 8192 * 2


def test_what_is_not_known_is_none():
    unknown = folder({"model_type": "llama", "num_hidden_layers": 4}, "mlx")
    (share,) = mlx_shares(unknown, plan_for("mlx", 4096), [ram(64)])
    assert share.total_bytes is None
    (share,) = mlx_shares(folder(QWEN3_4B, "mlx"), plan_for("mlx", 4096), [ram(64)])
    assert share.terms[Term.COMPUTE] is None
