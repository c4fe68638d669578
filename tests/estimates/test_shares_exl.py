"""exllamav2 and exllamav3, against the figures in their own source."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.estimates.made_blueprints import card, ram
from tests.estimates.made_folders import DEEPSEEK_V3, GIB, GPT_OSS_20B, LLAMA_13B, QWEN3_4B, QWEN3_5, folder, info

from weighbridge.estimates.cache_exl2 import unpacked_bytes
from weighbridge.estimates.cache_exl3 import element_bytes
from weighbridge.estimates.config_widths import widths_of
from weighbridge.estimates.defaults import plan_for
from weighbridge.estimates.estimate import Term
from weighbridge.estimates.filling import filled
from weighbridge.estimates.shares_exl import exl_shares


def shares(config, engine, cards, context=4096, layer_bytes=GIB, **changes):
    variant_format = {"exllamav2": "exl2", "exllamav3": "exl3"}[engine]
    plan = plan_for(engine, context, **changes)
    model = replace(folder(config, variant_format, layer_bytes), widths=widths_of(info(config, variant_format)))
    return exl_shares(model, plan, [ram(64), *cards])


def term(found, wanted):
    return sum(share.terms.get(wanted) or 0 for share in found)


def test_a_model_without_grouped_heads_has_the_cache_it_really_has():
    long = shares(LLAMA_13B, "exllamav2", [card(80)], 16_384)
    short = shares(LLAMA_13B, "exllamav2", [card(80)], 2048)
    assert term(long, Term.KV) == int(12.5 * GIB)
    assert term(short, Term.KV) == int(12.5 * GIB) // 8


@pytest.mark.parametrize(("kind", "share"), [("q8_0", 17 / 32), ("q6_0", 13 / 32), ("q4_0", 9 / 32)])
def test_a_quantised_cache_of_exllamav2_takes_its_bits_and_scales(kind, share):
    found = shares(LLAMA_13B, "exllamav2", [card(80)], 16_384, key_type=kind, value_type=kind)
    assert term(found, Term.KV) == int(12.5 * GIB * share)


def test_a_quantised_cache_needs_one_layer_unpacked():
    layer = folder(LLAMA_13B, "exl2").shape.layers[0]
    assert unpacked_bytes(layer, plan_for("exllamav2", 4096, key_type="q4_0")) == 4096 * 2 * 5120 * 2
    assert unpacked_bytes(layer, plan_for("exllamav2", 4096)) == 0


def test_exllamav2_keeps_all_tokens_where_exllamav3_keeps_a_window():
    two = term(shares(GPT_OSS_20B, "exllamav2", [card(80)], 131_072), Term.KV)
    three = term(shares(GPT_OSS_20B, "exllamav3", [card(80)], 131_072), Term.KV)
    row = 2 * 8 * 64 * 2
    assert two == 24 * 131_072 * row
    assert three == 12 * 131_072 * row + 12 * 768 * row


def test_a_ring_is_kept_for_each_slot_and_may_be_given_up():
    row = 2 * 8 * 64 * 2
    four = term(shares(GPT_OSS_20B, "exllamav3", [card(80)], 8192, slots=4), Term.KV)
    assert four == 12 * 8192 * row + 4 * 12 * 768 * row
    assert term(shares(GPT_OSS_20B, "exllamav3", [card(80)], 8192, whole_window=True), Term.KV) == 24 * 8192 * row


@pytest.mark.parametrize(("kind", "row"), [("f16", 1152), ("q8_0", 672), ("q6", 544), ("q4_0", 416)])
def test_a_compressed_cache_quantises_all_but_its_turning_part(kind, row):
    found = shares(DEEPSEEK_V3, "exllamav3", [card(2000)], 4096, key_type=kind, value_type=kind)
    assert term(found, Term.KV) == 61 * 4096 * row


@pytest.mark.parametrize(("kind", "size"), [("f16", 2), ("q8_0", 17 / 16), ("q4", 9 / 16), ("q2", 5 / 16), ("odd", 2)])
def test_bytes_of_an_element(kind, size):
    assert element_bytes(kind) == size


def test_a_state_is_kept_in_two_rows_for_each_slot():
    state, conv = 3 * 32 * 128 * 128 * 4, 3 * (3 + 2) * (2 * 16 * 128 + 32 * 128) * 2
    assert term(shares(QWEN3_5, "exllamav3", [card(80)]), Term.STATE) == state + conv
    assert term(shares(QWEN3_5, "exllamav3", [card(80)], slots=4), Term.STATE) == 4 * (state + conv)


def test_the_embedding_stays_in_host_memory():
    host, first = shares(QWEN3_4B, "exllamav3", [card(80)])
    assert host.terms[Term.WEIGHTS] == GIB
    assert first.terms[Term.WEIGHTS] == 37 * GIB


def test_one_card_is_filled_before_the_next():
    found = shares(QWEN3_4B, "exllamav3", [card(24, "a"), card(24, "b"), card(24, "c")])
    weights = {share.place: share.terms[Term.WEIGHTS] for share in found}
    assert set(weights) == {"host", "a", "b"}
    assert 18 * GIB < weights["a"] <= 24 * GIB
    assert weights["a"] + weights["b"] == 37 * GIB
    assert all(share.total_bytes is not None and share.total_bytes < 24 * GIB for share in found)


def test_a_split_is_as_it_was_asked_for():
    found = shares(QWEN3_4B, "exllamav2", [card(24, "a"), card(24, "b")], split=(1.0, 1.0))
    weights = {share.place: share.terms[Term.WEIGHTS] for share in found}
    assert abs(weights["a"] - weights["b"]) <= 2 * GIB


def test_without_a_card_all_lies_in_host_memory():
    (only,) = shares(QWEN3_4B, "exllamav3", [])
    assert only.terms[Term.WEIGHTS] == 38 * GIB


def test_what_is_not_known_is_none():
    unknown = {"model_type": "llama", "num_hidden_layers": 4}
    found = shares(unknown, "exllamav3", [card(24)])
    assert [share.total_bytes is None for share in found] == [False, True]


@pytest.mark.parametrize(
    ("rooms", "spans"),
    [
        ((10, 10), (range(5), range(5, 6))),
        ((None, 10), (range(6), range(6, 6))),
        ((1, 1), (range(0), range(6))),
        ((5, 2, 1), (range(2), range(2, 3), range(3, 6))),
    ],
)
def test_layers_fill_cards_in_order(rooms, spans):
    assert filled([2] * 6, rooms) == spans
