"""MLX as a whole: one place, and peaks that others published."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.estimates.made_blueprints import card, ram
from tests.estimates.made_folders import DEEPSEEK_V3, GIB, GPT_OSS_20B, QWEN3_4B, folder, info

from weighbridge.estimates.config_widths import widths_of
from weighbridge.estimates.defaults import plan_for
from weighbridge.estimates.estimate import Place, PlaceKind, Term
from weighbridge.estimates.fit import Verdict, fit
from weighbridge.estimates.memory import estimate
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


def kv_bytes(config, **changes):
    model = replace(folder(config, "mlx"), widths=widths_of(info(config, "mlx")))
    needed = estimate(model, plan_for("mlx", 8192, **changes), [ram(64)])
    return needed.term(Term.KV), needed.notes


def test_a_cache_in_8_bits():
    assert kv_bytes(QWEN3_4B) == (8192 * 36 * 2 * 8 * 128 * 2, ())
    assert kv_bytes(QWEN3_4B, key_type="q8_0", value_type="q8_0") == (8192 * 36 * 2 * 8 * 128 * 34 // 32, ())


@pytest.mark.parametrize("kind", ["q8_0", "q4_0"])
def test_a_window_that_is_to_be_quantised_is_refused_and_not_estimated(kind):
    refused = (None, ("estimate.window_not_quantised",))
    assert kv_bytes(GPT_OSS_20B, key_type=kind, value_type=kind) == refused
    assert kv_bytes(GPT_OSS_20B, value_type=kind) == refused
    assert kv_bytes(GPT_OSS_20B, key_type="bf16", value_type="bf16") == kv_bytes(GPT_OSS_20B)
    plan = plan_for("mlx", 8192, key_type=kind, value_type=kind)
    assert fit(folder(GPT_OSS_20B, "mlx"), plan, [ram(64)]).verdict is Verdict.UNKNOWN


def test_no_window_is_quantised_to_make_a_model_fit():
    model = replace(folder(GPT_OSS_20B, "mlx"), widths=widths_of(info(GPT_OSS_20B, "mlx")))
    plan = plan_for("mlx", 65_536)
    short = estimate(model, plan, [ram(64)]).total_bytes / GIB - 0.5
    found = fit(model, plan, [ram(short)], with_remedy=True)
    assert found.verdict is Verdict.NO
    assert (found.remedy.plan.key_type, found.remedy.plan.context < 65_536) == ("f16", True)


def test_chunks_and_pairs_of_caches_stay_in_16_bits_whatever_is_asked():
    chunks = GPT_OSS_20B | {"model_type": "llama4", "attention_chunk_size": 8192, "layer_types": None}
    whole, (quantised, notes) = kv_bytes(chunks)[0], kv_bytes(chunks, key_type="q8_0", value_type="q8_0")
    full = 24 // 4 * 8192 * 2 * 8 * 64
    assert (whole - quantised, notes) == (full * 2 - full * 34 // 32, ())
    pairs = DEEPSEEK_V3 | {"model_type": "deepseek_v32", "index_head_dim": 128}
    assert kv_bytes(pairs, key_type="q8_0", value_type="q8_0") == kv_bytes(pairs)
