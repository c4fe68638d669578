"""The memory of server programs: that of `transformers serve` against what was measured, and where others put it."""

from dataclasses import replace

import pytest
from tests.estimates.made_blueprints import MIB, card, ram
from tests.estimates.made_folders import QWEN3_4B, info
from tests.estimates.test_shares_runtime import SMOLLM2

from weighbridge.estimates.blueprint import blueprint
from weighbridge.estimates.estimate import HOST, Term
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.weights_config import Floats, floats_of
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.running.plans import plan_of
from weighbridge_engines.api import Load

SMOLLM2_BYTES = 269_060_552


def weighed(engine="transformers", places=(), context=4096, config=SMOLLM2, **extra):
    found = blueprint(replace(info(config, "safetensors"), quant="BF16"), SMOLLM2_BYTES)
    plan = plan_of(Load("m", context=context, extra=extra), engine)
    return {share.place: share for share in estimate(found, plan, places or [ram(20)]).shares}


@pytest.mark.parametrize(
    ("dtype", "context", "measured_mib"),
    [
        # The most that was resident after a prompt of nearly all the context, with the processes beside.
        ("float32", 3963, 1657),
        ("float32", 2063, 1308),
        ("bfloat16", 3963, 975),
        ("bfloat16", 2063, 860),
    ],
)
def test_what_transformers_serve_takes_on_a_processor(dtype, context, measured_mib):
    known_mib = weighed(context=context, dtype=dtype)[HOST].known_bytes / MIB
    assert known_mib == pytest.approx(measured_mib, rel=0.06)


def test_weights_are_as_wide_as_the_program_is_told():
    amounts = {dtype: weighed(dtype=dtype)[HOST].terms[Term.WEIGHTS] for dtype in ("auto", "bfloat16", "float32")}
    assert amounts == {"auto": SMOLLM2_BYTES, "bfloat16": SMOLLM2_BYTES, "float32": 2 * SMOLLM2_BYTES}
    wide, narrow = (weighed(dtype=dtype)[HOST].terms[Term.KV] for dtype in ("float32", "bfloat16"))
    assert (wide, narrow) == (2 * narrow, 4096 * 23040)


def test_answers_that_are_computed_together_have_a_cache_of_several_contexts():
    one, several = (weighed(continuous_batching=on)[HOST].terms[Term.KV] for on in (False, True))
    assert several == 4 * one


def test_vllm_takes_the_cache_that_it_is_told_on_a_processor():
    share = weighed("vllm", context=2048, dtype="float32", processor_cache_gib=1)[HOST]
    assert share.terms[Term.KV] == 1024 * MIB
    assert share.known_bytes / MIB == pytest.approx(3804, rel=0.03)


def test_weights_lie_on_the_cards_and_the_process_beside_them():
    two = [ram(20), card(8, "one"), card(8, "two")]
    one = weighed("vllm", two, config=QWEN3_4B)
    assert one[HOST].terms.keys() == {Term.ENGINE}
    assert [place for place, share in one.items() if share.terms.get(Term.WEIGHTS)] == [two[1].id]
    shared = weighed("vllm", two, config=QWEN3_4B, tensor_parallel=2)
    assert [shared[place.id].terms[Term.WEIGHTS] for place in two[1:]] == [SMOLLM2_BYTES // 2] * 2


def test_what_of_a_folder_are_floats():
    half, whole, packed = (Tensor(str(kind), kind, (4,), 0, 100) for kind in (30, 0, 2))
    told = info(SMOLLM2, "safetensors")
    assert floats_of(replace(told, tensors=(half, whole, packed)), 300) == Floats(100, 100)
    assert floats_of(replace(told, tensors=None, quant="F32"), 300) == Floats(0, 300)
    assert floats_of(replace(told, tensors=None, quant="Q4"), 300) == Floats()
    assert floats_of(info(SMOLLM2, "awq"), 300) == Floats()
