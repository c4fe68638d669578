"""Why a token of context costs what it costs."""

from dataclasses import replace
from itertools import pairwise

from tests.estimates.made_blueprints import made

from weighbridge.base.units import THIN
from weighbridge.choices.cache_words import context_curve, token_in_words
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty, Layer, Shape

PLAN = Plan(context=4096)
FULL = Layer(heads=4, key_width=192, value_width=192)
WINDOWED = replace(FULL, window=1024)


def said(*layers, plan=PLAN, **shape):
    return token_in_words(Shape(layers, **shape), plan).replace(THIN, " ")


def test_equal_layers():
    assert said(*(FULL,) * 30) == "30 layers × (192 + 192) × 2 bytes = 22.5 KiB a token."


def test_another_type():
    assert said(FULL, plan=replace(PLAN, key_type="q8_0", value_type="q8_0")) == (
        "1 layer × (192 + 192) × 1.0625 bytes = 408 B a token."
    )
    assert said(FULL, plan=replace(PLAN, value_type="q8_0")) == (
        "1 layer × (192 + 192), keys in f16, values in q8_0 = 588 B a token."
    )


def test_layers_that_differ_stand_apart():
    wide = replace(FULL, key_width=256)
    assert said(FULL, wide, FULL).startswith("2 layers × (192 + 192) + 1 layer × (256 + 192) × 2 bytes")


def test_windows():
    assert said(FULL, WINDOWED, WINDOWED).endswith("768 B a token. 2 layers keep only the last 1,024 tokens.")
    assert said(WINDOWED).endswith("1 layer keeps only the last 1,024 tokens.")
    assert said(WINDOWED).startswith("Every layer keeps only a window, so a longer context costs nothing more.")


def test_states_and_borrowed_caches():
    assert said(FULL, Layer(conv=8, state=64), Layer()).endswith(
        "a token. 1 layer keeps a state that does not grow. 1 layer has no cache of its own."
    )
    many = said(FULL, *(Layer(conv=8, state=64),) * 3, Layer(), Layer())
    assert many.endswith("a token. 3 layers keep a state that does not grow. 2 layers have no cache of their own.")
    assert said(Layer(state=64)) == "Its layers keep a state that does not grow: a longer context costs nothing more."
    assert said(Layer(heads=4)) == "It reads a text at once and keeps no cache."


def test_compressed_attention():
    assert said(FULL, latent=True).endswith("Attention is kept compressed, keys and values as one.")


def test_what_is_not_known_is_said():
    unknown = said(certainty=Certainty.UNKNOWN)
    assert unknown == "The header does not say enough to tell what a token of context costs."


def test_the_curve_of_memory_against_context():
    points = context_curve(made().shape, PLAN, 131_072)
    assert len(points) == 48
    assert points[-1] == (131_072, 131_072 * 10 * 4096)
    assert all(before < after for (_, before), (_, after) in pairwise(points))
    assert context_curve(made().shape, PLAN, 600) == [(256, 256 * 40_960), (512, 512 * 40_960)]
    flat = context_curve(Shape((WINDOWED,)), PLAN, 131_072)
    assert len({amount for _, amount in flat}) == 1
