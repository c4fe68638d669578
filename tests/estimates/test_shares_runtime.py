"""The memory of onnxruntime-genai and openvino-genai against what was measured, and on which device a model lies."""

from dataclasses import replace

import pytest
from tests.estimates.made_blueprints import GIB, MIB, card, made, ram
from tests.estimates.made_folders import info

from weighbridge.estimates.blueprint import blueprint
from weighbridge.estimates.defaults import plan_for
from weighbridge.estimates.estimate import Place, PlaceKind, Term
from weighbridge.estimates.fit import Verdict, fit
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.speed.work import works
from weighbridge.running.plans import plan_of
from weighbridge_engines.api import Load

SMOLLM2 = {
    "model_type": "llama",
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "vocab_size": 49152,
}
GENAI = {name: value for name, value in SMOLLM2.items() if name != "intermediate_size"}
DEEP, WIDE = {**SMOLLM2, "num_hidden_layers": 90}, {**SMOLLM2, "intermediate_size": 6144}
OPENVINO_BYTES, DEEP_BYTES, WIDE_BYTES, ONNX_BYTES, WIDE_ONNX_BYTES = (
    97_760_832,
    209_475_893,
    235_863_726,
    86_513_245,
    235_750_726,
)
"""The files of SmolLM2-135M in 4 bits, and of it with three times the layers, or four times the inner width."""


def weighed(engine, config, size_bytes, context, places=None):
    found = blueprint(info(config, "onnx" if engine == "onnx_genai" else "openvino"), size_bytes)
    return estimate(found, plan_of(Load("m", context=context, threads=2), engine), places or [ram(16)])


@pytest.mark.parametrize(
    ("engine", "config", "size_bytes", "context", "measured_mib"),
    [
        ("openvino", SMOLLM2, OPENVINO_BYTES, 1024, 432.4),
        ("openvino", SMOLLM2, OPENVINO_BYTES, 4096, 481.9),
        ("openvino", SMOLLM2, OPENVINO_BYTES, 8192, 542.4),
        ("openvino", DEEP, DEEP_BYTES, 1024, 792.1),
        ("openvino", WIDE, WIDE_BYTES, 1024, 720.5),
        ("onnx_genai", GENAI, ONNX_BYTES, 1024, 316.3),
        ("onnx_genai", GENAI, ONNX_BYTES, 4096, 471.1),
        ("onnx_genai", GENAI, ONNX_BYTES, 8192, 686.7),
        ("onnx_genai", GENAI, WIDE_ONNX_BYTES, 1024, 496.9),
    ],
)
def test_the_estimate_is_within_5_percent_of_what_was_measured(engine, config, size_bytes, context, measured_mib):
    """The resident memory of the worker and of what renders its templates, at its most, with the context full."""
    found = weighed(engine, config, size_bytes, context)
    assert found.total_bytes == pytest.approx(measured_mib * MIB, rel=0.05)


def test_the_step_is_the_engines_own():
    assert weighed("onnx_genai", GENAI, ONNX_BYTES, 1024).plan.batch == 128  # as the engine tells, with two threads
    on_card = weighed("openvino", SMOLLM2, OPENVINO_BYTES, 4096, [ram(16), seen(card(8), "GPU")])
    assert on_card.plan.batch == 1024
    told = plan_of(Load("m", context=4096, batch=48), "openvino")
    model = blueprint(info(SMOLLM2, "openvino"), OPENVINO_BYTES)
    assert estimate(model, told, [ram(16), seen(card(8), "GPU")]).plan.batch == 48


def test_pages_of_the_file_that_openvino_has_copied_make_a_range():
    found = weighed("openvino", SMOLLM2, OPENVINO_BYTES, 1024)
    assert found.total_bytes - found.least_bytes == OPENVINO_BYTES
    assert found.notes == ("estimate.file_pages",)
    whole = found.total_bytes / GIB
    plan = plan_of(Load("m", context=1024, threads=2), "openvino")
    model = blueprint(info(SMOLLM2, "openvino"), OPENVINO_BYTES)
    assert fit(model, plan, [ram(whole - 0.05)]).verdict is Verdict.UNKNOWN
    assert fit(model, plan, [ram(whole - 0.2)]).verdict is Verdict.NO


def test_a_cache_of_eight_bits_has_its_scales():
    row = 30 * 3 * 64
    found = weighed("openvino", SMOLLM2, OPENVINO_BYTES, 1056)
    assert found.term(Term.KV) == 14_446_080  # as the library tells for so many tokens
    plan = plan_of(Load("m", context=1056, extra={"cache_precision": "f16"}), "openvino")
    model = blueprint(info(SMOLLM2, "openvino"), OPENVINO_BYTES)
    assert estimate(model, plan, [ram(16)]).term(Term.KV) == 1056 * row * 2 * 2
    assert weighed("onnx_genai", GENAI, ONNX_BYTES, 1024).term(Term.KV) == 47_185_920


def seen(place, sight):
    return replace(place, sight=sight)


def unified(total_gib):
    return Place("host", "UHD", PlaceKind.UNIFIED, int(total_gib * GIB), int(total_gib * GIB), sight="GPU.0")


def lies(model, load, places):
    found = estimate(model, plan_of(load, "openvino"), places)
    held = {share.place for share in found.shares if Term.WEIGHTS in share.terms}
    return held, found.plan.device, found.plan.gpu_layers


@pytest.mark.parametrize(
    ("extra", "places", "expected"),
    [
        ({}, [ram(64)], ("host", "CPU", 0)),
        ({}, [ram(64), seen(card(8, "a"), "GPU.1"), seen(card(16, "b"), "GPU.2")], ("b", "GPU.2", None)),
        ({}, [ram(64), seen(card(2, "a"), "GPU.1")], ("host", "CPU", 0)),
        ({}, [unified(8)], ("host", "GPU.0", None)),
        ({}, [unified(2)], ("host", "CPU", 0)),
        ({"device": "GPU.1"}, [ram(64), seen(card(2, "a"), "GPU.1")], ("a", "GPU.1", None)),
        ({"device": "GPU"}, [ram(64), seen(card(2, "a"), "GPU")], ("a", "GPU", None)),
        ({"device": "GPU.0"}, [ram(64), seen(card(8, "a"), "GPU.1")], ("host", "CPU", 0)),
        ({"device": "CPU"}, [ram(64), seen(card(8, "a"), "GPU")], ("host", "CPU", 0)),
    ],
)
def test_memory_is_charged_to_the_device_that_computes(extra, places, expected):
    model = blueprint(info(SMOLLM2, "openvino"), 4 * GIB)
    place, device, layers = expected
    assert lies(model, Load("m", context=1024, extra=extra), places) == ({place}, device, layers)
    plan = plan_of(Load("m", context=1024, extra=extra), "openvino")
    assert {work.place for work in works(model, plan, places, 0)} == {place}


def test_a_card_that_is_asked_for_and_has_no_room_is_not_exchanged_for_another():
    model = blueprint(info(SMOLLM2, "openvino"), 4 * GIB)
    plan = plan_of(Load("m", context=1024, extra={"device": "GPU.1"}), "openvino")
    found = fit(model, plan, [ram(64), seen(card(2, "a"), "GPU.1")])
    assert (found.verdict, found.place.id) == (Verdict.NO, "a")
    assert fit(made(), replace(plan_for("openvino", 1024), device="GPU"), [ram(64), seen(card(4), "GPU")]).verdict is (
        Verdict.NO
    )


def test_a_cache_whose_type_is_told_is_of_that_type_on_a_card_too():
    model, places = blueprint(info(SMOLLM2, "openvino"), GIB), [ram(64), seen(card(8), "GPU")]
    for precision, element_bytes in ((None, 2), ("u8", 2), ("f32", 4)):
        extra = {"cache_precision": precision} if precision else {}
        plan = plan_of(Load("m", context=1024, extra=extra), "openvino")
        assert estimate(model, plan, places).term(Term.KV) == 1024 * 30 * 2 * 3 * 64 * element_bytes


def test_a_process_beside_a_card_stays_in_the_systems_memory():
    model = blueprint(info(GENAI, "onnx"), GIB)
    plan = plan_of(Load("m", context=1024, extra={"provider": "cuda"}), "onnx_genai")
    host, on_card = estimate(model, plan, [ram(64), seen(card(8), "CUDA1")]).shares
    assert (host.place, set(host.terms)) == ("host", {Term.ENGINE})
    assert on_card.terms[Term.WEIGHTS] == GIB
    assert on_card.terms[Term.KV] == 1024 * 30 * 2 * 3 * 64 * 2


def test_a_gguf_file_is_counted_as_the_engine_that_reads_it_keeps_it():
    model = made()
    found = estimate(model, plan_for("openvino", 1024), [ram(64)])
    assert found.term(Term.WEIGHTS) == int(model.weights.total_bytes * 2.3)
    assert estimate(model, plan_for("llama_server", 1024), [ram(64)]).term(Term.WEIGHTS) < found.term(Term.WEIGHTS)
