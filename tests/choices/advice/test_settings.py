"""Formats, bits, settings and warnings, with a model of the library and without one."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.choices.advice.made_grounds import absent, advised, codes, ground, on_processor, with_cards
from tests.choices.made_surroundings import GIB, RTX, around, machine, model
from tests.estimates.made_blueprints import made

from weighbridge.choices.advice.advice import ActionKind, Topic
from weighbridge.choices.advice.answers import Goal, Hardware, Link, ModelKind, Need, Prompt, Purpose, Room, Sharing
from weighbridge.choices.advice.prefill import prefilled
from weighbridge.choices.advice.words import command_of
from weighbridge.estimates.fit import Verdict
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.variant import Role
from weighbridge.hardware.machine import Bandwidth
from weighbridge.library.model import Helper

CARD = replace(RTX, bandwidth=Bandwidth(936, 936, "a table"), compute_capability="8.6")
TOKEN_BYTES = 10 * 4096
"""Of the cache of the made model of ten layers."""


def on_rtx(*sizes, installed=("llama_server",)):
    """A machine with one card and models of so many layers of 1 GiB each."""
    models = [model(id=f"m{layers}", title=f"M{layers}", size_bytes=(layers + 2) * GIB) for layers in sizes]
    blueprints = {one.id: made(layers) for one, layers in zip(models, sizes, strict=True)}
    here = around(CARD, engines=absent(*installed), machine=machine(CARD, free_gib=60, total_gib=64))
    return ground(here, elsewhere=False, models=models, blueprints=blueprints)


def setting(advice, topic):
    return next((point for point in advice.settings if point.topic is topic), None)


@pytest.mark.parametrize(
    ("card", "count", "changes", "format_id"),
    [
        ("RTX 3090", 1, {}, "exl3"),
        ("RTX 3090", 1, {"users": 8}, "awq"),
        ("RTX 4090", 1, {"users": 8}, "fp8"),
        ("RTX 5090", 1, {"users": 8}, "nvfp4"),
        ("H100 SXM5 80 GB", 8, {}, "fp8"),
        ("B200", 8, {}, "nvfp4"),
        ("Instinct MI300X", 8, {}, "fp8"),
        ("M4 Max 40-core", 1, {}, "mlx"),
        ("Radeon RX 7900 XTX", 1, {}, "gguf"),
        ("RTX 3090", 1, {"format": "gguf"}, "gguf"),
        ("RTX 3090", 1, {"users": 8, "needs": frozenset({Need.SAMPLERS})}, "exl3"),
        ("RTX 2080 Ti", 1, {"users": 8, "needs": frozenset({Need.SAMPLERS})}, "awq"),
    ],
)
def test_the_format_is_the_one_with_kernels(card, count, changes, format_id):
    advice = advised(with_cards(card, count), **changes)
    assert advice.format.what.values["format"] == format_id


def test_where_fp8_is_too_new_that_is_said():
    why = {one.code: one.values for one in advised(with_cards("RTX 3090"), users=8).format.why}
    assert (why["no_fp8"]["capability"], why["no_fp8"]["least"]) == ("8.6", "8.9")


def test_how_large_a_model_may_be_is_by_the_room_and_the_bits():
    advice = advised(with_cards("RTX 3090"))
    room = advice.quant.why[0].values["room_bytes"]
    assert room == int(23.5 * GIB) - int(24 * GIB * 0.05)  # what a desktop leaves, and the larger margin
    assert advice.quant.what.values["sizes"][0] == ("8.0 bpw", 8.0, room)
    assert advice.quant.what.values["sizes"][-1] == ("4.0 bpw", 4.0, 2 * room)


def test_the_search_is_for_models_that_fit():
    advice = advised(with_cards("RTX 3090"))
    query = advice.format.action.query
    room = advice.quant.why[0].values["room_bytes"]
    assert (query.format, query.most_parameters, query.least_parameters) == ("exl3", 2 * room, room // 2)
    assert advice.quant.action.query.most_parameters == room  # near lossless
    served = advised(with_cards("RTX 4090"), users=8, needs=frozenset({Need.VISION})).format.action.query
    assert (served.format, served.words, served.task) == (None, "fp8", "image-text-to-text")


def test_a_model_that_is_here_and_suits_is_to_be_loaded():
    advice = advised(on_rtx(10), format="gguf")
    assert (advice.model.what.values["model"], advice.choice.fit.verdict) == ("M10", Verdict.FITS)
    assert (advice.model.action.kind, advice.model.action.model_id) == (ActionKind.LOAD, "m10")
    assert advice.model.action.load.engine == "llama_server"
    takes = setting(advice, Topic.CONTEXT).why[0].values
    assert (takes["kv_bytes"], takes["model_bytes"]) == (4096 * TOKEN_BYTES, 12 * GIB)
    assert setting(advice, Topic.CACHE) is None


def test_the_largest_that_fits_whole_is_taken_before_one_that_fits_in_part():
    assert advised(on_rtx(4, 10, 30), format="gguf").choice.model.id == "m10"
    assert advised(on_rtx(4, 10, *range(25, 45)), format="gguf").choice.model.id == "m10"  # however many are larger


def test_memory_that_is_not_known_keeps_no_model_out():
    unknown = replace(CARD, memory=replace(CARD.memory, total_bytes=None, available_bytes=None))
    here = on_rtx(10)
    here = replace(here, around=replace(here.around, machine=machine(unknown, free_gib=None)))
    advice = advised(here, format="gguf")
    assert advice.choice.model.id == "m10"
    assert advice.quant.why[0].values["room_bytes"] is None


def test_beside_an_engine_to_install_the_model_that_is_here_is_told():
    advice = advised(on_rtx(10))
    assert (advice.engine.what.values["engine"], advice.model) == ("ExLlamaV3", None)
    beside = next(point for point in advice.also if point.what.values["engine"] == "llama.cpp")
    assert (beside.action.kind, beside.action.model_id) == (ActionKind.LOAD, "m10")


def test_a_cache_that_does_not_fit_as_f16_is_made_smaller_and_both_numbers_are_weighed():
    advice = advised(on_rtx(11), format="gguf", context=131_072, users=2)
    load = advice.choice.load
    assert (load.context, load.slots, load.key_type, load.value_type) == (262_144, 2, "q8_0", "q8_0")
    assert advice.choice.fit.verdict in (Verdict.FITS, Verdict.TIGHT)
    cache = setting(advice, Topic.CACHE)
    assert codes(cache.why) == ["cache_fits", "cache_smaller"]
    assert cache.action.changes == {"key_type": "q8_0", "value_type": "q8_0"}
    assert cache.why[1].values["share"] == pytest.approx(34 / 64)
    assert setting(advice, Topic.SLOTS).action.changes == {"slots": 2}
    ignored = next(one for one in advice.warnings if one.code == "cache_ignored")
    assert ignored.values["kv_bytes"] == 262_144 * 11 * 4096 * 34 // 64


def test_of_a_model_that_lies_in_part_on_the_card_the_layers_are_told():
    advice = advised(on_rtx(30), format="gguf")
    fit = advice.choice.fit
    layers = setting(advice, Topic.LAYERS)
    assert fit.verdict is Verdict.PARTIAL
    assert layers.what.values["layers"] == fit.gpu_layers < fit.all_layers
    assert layers.action.changes["gpu_layers"] == layers.action.load.gpu_layers == fit.gpu_layers
    assert setting(advice, Topic.CONTEXT).against[0].code == "context_longest"


def test_a_model_trained_for_less_says_so():
    advice = advised(on_rtx(10), format="gguf", context=200_000)
    assert "context_trained" in codes(setting(advice, Topic.CONTEXT).against)


def test_without_a_model_the_context_is_a_setting_of_the_program():
    action = setting(advised(on_processor(), context=16_384), Topic.CONTEXT).action
    assert (action.kind, action.model_id, action.changes) == (ActionKind.CHANGE, "", {"context": 16_384})
    assert setting(advised(on_processor()), Topic.CONTEXT).action is None  # it is that already
    assert setting(advised(with_cards("RTX 3090"), context=16_384), Topic.CONTEXT).action is None  # another machine


def test_what_nobody_knows_to_fit_is_loaded_all_the_same():
    here = on_rtx(10)
    known = here.shelf.weigh
    untold = replace(here.shelf, weigh=lambda *asked: replace(known(*asked), fit=None))
    advice = advised(replace(here, shelf=untold), format="gguf")
    assert (advice.model.action.kind, advice.model.action.model_id) == (ActionKind.LOAD, "m10")
    assert (advice.model.why[0].values["fit"], setting(advice, Topic.CONTEXT).why[0].values["kv_bytes"]) == (None, None)


def test_where_nothing_here_fits_what_is_the_least_short_is_named():
    advice = advised(on_rtx(10, 12), format="gguf", users=1000)
    assert advice.model is None
    short = setting(advice, Topic.CONTEXT).against[0]
    assert (short.code, short.values["model"]) == ("none_fits", "M10")
    assert short.values["short_bytes"] > 0


@pytest.mark.parametrize(
    ("nvlink", "link", "basis"),
    [
        ((True, True), Link.NVLINK, "link_told"),
        ((False, False), Link.PCIE, "link_told"),
        ((None, None), Link.UNKNOWN, "link_not_told"),
        ((True, None), Link.UNKNOWN, "link_not_told"),
    ],
)
def test_what_joins_the_cards_is_prefilled_where_their_driver_tells(nvlink, link, basis):
    ground = with_cards("RTX 3090", 2)
    cards = [replace(card, nvlink=one) for card, one in zip(ground.around.machine.devices, nvlink, strict=True)]
    machine = replace(ground.around.machine, devices=tuple(cards))
    told = prefilled(replace(ground, around=replace(ground.around, machine=machine)))
    assert (told.answers.link, told.basis["link"].code) == (link, basis)
    elsewhere = prefilled(
        replace(ground, around=replace(ground.around, machine=machine)), {"hardware": Hardware.NVIDIA_SERVER}
    )
    assert elsewhere.answers.link is Link.UNKNOWN


def test_on_a_machine_of_another_kind_no_model_is_weighed_and_nothing_else_is_taken_from_this_one():
    here = on_rtx(10)
    mac = prefilled(here, {"hardware": Hardware.APPLE})
    assert (mac.answers.room, mac.answers.link, mac.answers.hardware) == (
        Room.UNIFIED, Link.NONE, Hardware.ONE_NVIDIA,
    )  # fmt: skip
    several = prefilled(here, {"hardware": Hardware.SEVERAL_NVIDIA})
    assert (several.answers.room, several.answers.link) == (Room.UNKNOWN, Link.UNKNOWN)
    assert several.basis["link"].code == "usual"
    advice = advised(here, hardware=Hardware.SEVERAL_NVIDIA, format="gguf")
    assert (advice.model, advice.choice) == (None, None)
    assert setting(advice, Topic.SPLIT).what.values == {"cards": None}


def test_engines_that_take_a_share_of_the_card_say_how_much():
    reserved = setting(advised(with_cards("RTX 4090"), users=8), Topic.RESERVED)
    assert reserved.why[0].values["bytes"] == int(24 * GIB * 0.92)
    assert setting(advised(with_cards("RTX 4090")), Topic.RESERVED) is None


@pytest.mark.parametrize(
    ("link", "changes"), [(Link.NVLINK, {"tensor_parallel": 2}), (Link.PCIE, {"pipeline_parallel": 2})]
)
def test_a_server_program_is_told_how_to_share_by_its_own_setting_and_one_conversation_s_context(link, changes):
    second = replace(CARD, id="cuda1")
    path = model("awq", id="m", size_bytes=12 * GIB)
    here = around(engines=absent("vllm"), machine=machine(CARD, second, free_gib=60, total_gib=64))
    on = ground(here, elsewhere=False, models=[path], blueprints={"m": made(10)})
    advice = advised(on, users=8, link=link, format="awq")
    assert (advice.choice.load.context, advice.choice.load.slots) == (4096, 8)
    taken = setting(advice, Topic.CONTEXT).why[0].values
    assert (taken["total"], taken["kv_bytes"]) == (8 * 4096, 8 * 4096 * TOKEN_BYTES)
    action = setting(advice, Topic.SPLIT).action
    assert (action.changes, action.load.extra) == (changes, changes)


@pytest.mark.parametrize(
    ("card", "kind"), [("RTX 4090", "fp8_e4m3"), ("RTX 3090", None), ("Instinct MI300X", "fp8_e4m3")]
)
def test_a_cache_in_fp8_is_for_cards_that_compute_in_it(card, kind):
    cache = setting(advised(with_cards(card), users=8, context=65_536), Topic.CACHE)
    assert (cache.what.values["type"] if cache else None) == kind


def test_where_all_memory_is_one_there_are_no_layers_to_place():
    assert setting(advised(with_cards("M4 Max 40-core"), goal=Goal.PORTABILITY), Topic.LAYERS) is None
    assert setting(advised(with_cards("Radeon RX 7900 XTX")), Topic.LAYERS).what.code == "layers_all"


def test_a_link_of_other_cards_than_nvidia_s_is_not_looked_up_by_nvidia_s_program():
    split = setting(advised(with_cards("Instinct MI300X", 8)), Topic.SPLIT)
    assert (codes(split.against), split.action) == (["link_not_known"], None)


def test_a_fleet_has_a_command_and_an_address():
    advice = advised(with_cards("H100 SXM5 80 GB", 8), purpose=Purpose.FLEET)
    assert (advice.engine.action.kind, advice.engine.action.preset) == (ActionKind.ATTACH, "dynamo")
    split = setting(advice, Topic.SPLIT)
    assert split.action.kind is ActionKind.RUN
    assert "--tensor-parallel-size 8" in split.action.command
    assert "dynamo.frontend" in setting(advice, Topic.FLEET).action.command
    assert "fleet" in codes(advice.hardware.why)


def test_what_is_attached_is_not_to_be_added_again():
    here = replace(on_processor(), attached={"ollama": "Ollama at home"})
    engine = advised(here, goal=Goal.SIMPLICITY).engine
    assert (engine.what.code, engine.what.values["engine"], engine.action) == ("take_engine", "Ollama", None)
    assert ("is_attached", {"title": "Ollama at home"}) in [(one.code, one.values) for one in engine.why]


def test_a_fleet_is_not_made_of_a_laptop():
    advice = advised(on_processor(), purpose=Purpose.FLEET)
    assert codes(advice.hardware.against) == ["fleet_elsewhere", "only_kind_known"]
    assert "--tensor-parallel-size CARDS" in setting(advice, Topic.SPLIT).action.command
    one = advised(with_cards("RTX 4090"), purpose=Purpose.FLEET)
    assert setting(one, Topic.SPLIT).what.code == "split_fleet_one"


def test_with_an_unknown_link_one_is_to_look():
    split = setting(advised(with_cards("RTX 3090", 2)), Topic.SPLIT)
    assert (codes(split.against), split.action.command) == (["link_unknown"], "nvidia-smi topo -m")


@pytest.mark.parametrize(
    ("made_ground", "changes", "code"),
    [
        (lambda: with_cards("H100 SXM5 80 GB", 8), {"sharing": Sharing.START}, "prefix_by_itself"),
        (on_processor, {"sharing": Sharing.AGENTS}, "prefix_room"),
        (lambda: with_cards("M4 Max 40-core"), {"sharing": Sharing.START}, "prefix_one"),
    ],
)
def test_what_prompts_have_in_common_is_read_once(made_ground, changes, code):
    assert setting(advised(made_ground(), **changes), Topic.PREFIX).what.code == code


def test_long_prompts_are_read_in_whole_batches_on_a_card():
    batch = setting(advised(on_rtx(10), format="gguf", prompt=Prompt.LONG), Topic.BATCH)
    assert batch.what.code == "batch_own"
    assert setting(advised(on_rtx(10), format="gguf"), Topic.BATCH) is None


@pytest.mark.parametrize(
    ("made_ground", "changes", "expected"),
    [
        (lambda: with_cards("RTX 3090"), {}, {"unverified"}),
        (lambda: with_cards("RTX 3090", 2), {"link": Link.PCIE}, {"tensor_on_weak_link", "unverified"}),
        (lambda: with_cards("RTX 3090", 2), {"link": Link.NVLINK}, {"unverified"}),
        (lambda: with_cards("M4 Pro 20-core", ram_gib=64), {}, {"by_memory_alone"}),
        (lambda: with_cards("Instinct MI300X", 8), {}, {"numbers_of_others"}),
        (on_processor, {"users": 4}, {"local_as_public", "measured_alone"}),
        (on_processor, {"context": 65_536}, {"cache_ignored"}),
        (on_processor, {"kind": ModelKind.MOE}, {"experts_count"}),
        (on_processor, {"kind": ModelKind.HYBRID}, {"architecture_ignored"}),
        (on_processor, {"goal": Goal.THROUGHPUT}, {"charts_without_load"}),
        (on_processor, {"needs": frozenset({Need.TOOLS})}, {"openai_gaps"}),
        (on_processor, {"goal": Goal.PRIVACY, "purpose": Purpose.APPLICATION}, {"address_counts", "openai_gaps"}),
        (on_processor, {}, set()),
        (on_processor, {"room": Room.PARTLY, "link": Link.NVLINK}, {"room_without_card", "link_of_one"}),
        (lambda: with_cards("M4 Max 40-core"), {"room": Room.SYSTEM}, {"room_is_one"}),
        (
            lambda: with_cards("RTX 3090", 2),
            {"room": Room.UNIFIED, "link": Link.NONE},
            {"room_is_two", "link_of_several"},
        ),
    ],
)
def test_only_mistakes_that_apply_are_warned_of(made_ground, changes, expected):
    said = set(codes(advised(made_ground(), **changes).warnings))
    assert said - {"unverified"} == expected - {"unverified"}
    assert ("unverified" in said) >= ("unverified" in expected)


def test_where_nothing_can_do_it_the_reasons_are_there():
    advice = advised(on_processor(), needs=frozenset({Need.ADAPTERS}))
    assert (advice.engine, advice.format, advice.settings) == (None, None, ())
    assert all(one.against for one in advice.engines)


def test_unknown_bandwidth_is_said_and_can_be_measured():
    hardware = advised(on_processor()).hardware
    assert codes(hardware.against) == ["bandwidth_unknown"]
    assert hardware.action.command == "weighbridge hardware --measure"
    known = advised(on_processor(gbs=80.0)).hardware
    assert (known.against, known.action) == ((), None)
    assert known.why[0].values["most_tps"] == pytest.approx(80e9 / (32 * GIB))


@pytest.mark.parametrize(("sizes", "room"), [((10,), Room.FAST), ((30,), Room.PARTLY), ((), Room.UNKNOWN)])
def test_where_the_model_lies_is_told_by_the_one_that_is_here(sizes, room):
    here = on_rtx(*sizes) if sizes else ground(around(CARD, engines=absent("llama_server")), elsewhere=False)
    told = prefilled(here)
    assert told.answers.room is room
    assert told.basis["room"].code == ("from_model" if sizes else "usual")


def test_what_kind_of_model_is_here():
    info = ModelInfo("gguf", Kind.CHAT, experts=8, experts_used=2)
    here = on_rtx(10)
    (one,) = here.shelf.models
    mixed = replace(here, shelf=replace(here.shelf, models=(replace(one, info=info),)))
    assert prefilled(mixed).answers.kind is ModelKind.MOE
    assert prefilled(here).answers.kind is ModelKind.DENSE


def test_a_model_that_is_to_see_is_loaded_with_its_projector():
    here = on_rtx(10)
    (one,) = here.shelf.models
    near = Helper(Role.PROJECTOR, Path("/m/mmproj.gguf"), GIB)
    seeing = replace(here, shelf=replace(here.shelf, models=(replace(one, companions=(near,)),)))

    wanted = advised(seeing, format="gguf", needs=frozenset({Need.VISION})).model.action
    assert wanted.load.projector == str(near.path)
    assert command_of(wanted).endswith(f"--set projector={near.path}")
    assert advised(seeing, format="gguf").model.action.load.projector is None

    assert advised(here, format="gguf", needs=frozenset({Need.VISION})).model is None
