"""What an engine makes of a load: everything that was left to it decided."""

from weighbridge.estimates.plan import Plan
from weighbridge.running.plans import BATCH, CONTEXT, plan_of
from weighbridge_engines.api import Load


def test_what_is_left_to_the_engine_is_decided():
    assert plan_of(Load("m"), "llama_server") == Plan(
        engine="llama_server", context=CONTEXT, batch=BATCH, micro_batch=BATCH, unified=False
    )


def test_what_is_asked_for_is_kept():
    load = Load(
        "m",
        context=8192,
        slots=4,
        batch=256,
        micro_batch=64,
        unified=False,
        key_type="q8_0",
        value_type="q4_0",
        flash_attention=False,
        whole_window=True,
        gpu_layers=0,
        cpu_experts=3,
        split=(1.0, 2.0),
        mapped=False,
    )
    assert plan_of(load, "other") == Plan(
        engine="other",
        context=8192,
        slots=4,
        unified=False,
        key_type="q8_0",
        value_type="q4_0",
        batch=256,
        micro_batch=64,
        flash_attention=False,
        whole_window=True,
        gpu_layers=0,
        cpu_experts=3,
        split=(1.0, 2.0),
        mapped=False,
    )


def test_several_slots_share_one_cache_unless_told_otherwise():
    assert plan_of(Load("m", slots=4), "e").unified
    assert not plan_of(Load("m", slots=4, unified=False), "e").unified
    assert not plan_of(Load("m"), "e").unified


def test_a_batch_is_computed_at_once_unless_told_otherwise():
    assert plan_of(Load("m", batch=64), "e").micro_batch == 64
    assert plan_of(Load("m", micro_batch=128), "e") == Plan(
        engine="e", batch=BATCH, micro_batch=128, unified=False, context=CONTEXT
    )
