"""How fast a weighed model would be here."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.choices.made_speeds import FAST_RTX, TABLES, TENTH, here, weighed
from tests.choices.made_surroundings import LOAD, around, engine, model, told
from tests.estimates.made_blueprints import GIB, made

from weighbridge.choices.choice import weigh
from weighbridge.choices.speed_words import basis_of_decode_in_words, speed_in_words
from weighbridge.choices.speeds import Speedometer, needs_whole_header, speeds_of
from weighbridge.estimates.config_widths import Widths
from weighbridge.estimates.fit import Verdict
from weighbridge.estimates.shape import Certainty
from weighbridge.estimates.speed.speed import SpeedBasis
from weighbridge.estimates.speed.speeds import Speeds
from weighbridge.estimates.use import Use
from weighbridge.hardware.machine import Bandwidth, Device, Memory, MemoryKind, Sight
from weighbridge.running.speed_observations import SpeedObservation, bandwidths_of, speed_situation

READ_BYTES = 10 * (GIB // 10) + GIB
CACHE_BYTES = 10 * 1024 * 2048 * 2
"""Of 1,024 tokens, in ten layers with keys and values of 1,024 elements in two bytes."""


def test_on_a_processor_the_measured_memory_carries_it():
    known = speeds_of(weighed(here()), here(), TABLES)
    token_s = 0.010 + READ_BYTES / 50e9 + CACHE_BYTES / 100e9
    assert known.decode.mid_tps == pytest.approx(1 / token_s)
    assert (known.decode.depth, known.decode.basis) == (1024, SpeedBasis.CALCULATED)
    assert known.prefill is None  # nothing is known of this processor's vectors


def test_with_more_in_the_cache_it_is_slower():
    choice = weighed(here())
    token_s = 0.010 + READ_BYTES / 50e9 + 2 * CACHE_BYTES / 100e9
    assert speeds_of(choice, here(), TABLES, depth=2048).decode.mid_tps == pytest.approx(1 / token_s)


def test_on_a_card_the_published_figure_does():
    on_card = here(FAST_RTX)
    known = speeds_of(weighed(on_card), on_card, TABLES)
    assert known.decode.mid_tps == pytest.approx(1 / (READ_BYTES / 800e9 + CACHE_BYTES / 1000e9))
    assert known.prefill.mid_tps == pytest.approx(35.58e12 / 2e9, rel=0.05)
    assert known.first_token_s(512) == pytest.approx(512 / known.prefill.mid_tps + 1 / known.decode.mid_tps)


def test_what_lies_in_two_places_is_read_in_both():
    small = replace(FAST_RTX, memory=Memory(MemoryKind.DEDICATED, 2 * GIB, int(1.9 * GIB)))
    choice = weighed(here(small))
    assert choice.fit.verdict is Verdict.PARTIAL
    known = speeds_of(choice, here(small), TABLES)
    assert [leg.work.place for leg in known.decode.legs] == ["host", "cuda0"]
    assert sum(leg.work.weight_bytes for leg in known.decode.legs) == READ_BYTES


def test_what_does_not_fit_has_no_speed():
    tiny = here(free_gib=1)
    choice = weighed(tiny)
    assert choice.fit.verdict is Verdict.NO
    assert speeds_of(choice, tiny, TABLES) == Speeds()
    assert why(choice, tiny).code == "speed.does_not_fit"


def why(choice, surroundings):
    return Speedometer(surroundings, TABLES).why_unknown(choice)


def test_a_memory_that_was_never_measured_is_unknown_and_not_0():
    unmeasured = here(bandwidth=None)
    choice = weighed(unmeasured)
    assert speeds_of(choice, unmeasured, TABLES).decode is None
    assert why(choice, unmeasured).code == "speed.no_ram_bandwidth"


def test_a_card_that_no_table_knows_is_unknown_by_its_name():
    unknown = here(replace(FAST_RTX, name="Foo 9000", bandwidth=None))
    choice = weighed(unknown)
    assert speeds_of(choice, unknown, TABLES).decode is None
    cause = why(choice, unknown)
    assert (cause.code, cause.values["device"]) == ("speed.no_bandwidth", "Foo 9000")


def test_a_way_to_reach_a_card_without_constants_is_unknown():
    odd = here(replace(FAST_RTX, seen_by=(Sight("llama_server", "SYCL0"),)))
    cause = why(weighed(odd), odd)
    assert (cause.code, cause.values) == ("speed.no_constants", {"device": "NVIDIA GeForce RTX 3090", "way": "sycl"})


def test_an_engine_of_cards_has_no_speed_on_a_processor():
    surroundings = replace(here(), engines={"mlx": engine("mlx", formats=("mlx",))})
    choice = weigh(model("mlx"), replace(TENTH, format="mlx"), LOAD, surroundings)
    assert choice.fit.verdict is not Verdict.NO
    assert speeds_of(choice, surroundings, TABLES) == Speeds()
    cause = why(choice, surroundings)
    assert (cause.code, cause.values) == ("speed.no_engine_constants", {"engine": "Mlx"})


def test_an_engine_that_is_none_of_ours_has_no_speed():
    choice = weighed(
        here(), replace(TENTH, format="bitsandbytes", widths=Widths(hidden=1024)), format_id="bitsandbytes"
    )
    assert speeds_of(choice, here(), TABLES) == Speeds()
    cause = why(choice, here())
    assert (cause.code, cause.values) == ("speed.no_engine_constants", {"engine": "transformers"})


@pytest.mark.parametrize(
    ("blueprint", "code"),
    [
        (made(certainty=Certainty.UNKNOWN), "speed.header"),
        (None, "speed.not_weighed"),
        (replace(TENTH, weights=replace(TENTH.weights, exact=False), use=Use(0.1)), "speed.brief_header"),
        (replace(TENTH, weights=replace(TENTH.weights, exact=False), architecture="qwen3moe"), "speed.brief_header"),
    ],
    ids=["a header that does not tell", "nothing known", "experts of a brief header", "experts by its name"],
)
def test_what_is_not_known_of_the_model(blueprint, code):
    choice = weighed(here(), blueprint)
    assert speeds_of(choice, here(), TABLES) == Speeds()
    assert why(choice, here()).code == code


def test_what_is_known_is_not_explained_as_unknown():
    assert why(weighed(here()), here()) is None


def test_a_memory_that_is_one_for_both_is_as_fast_as_its_chip():
    memory = Memory(MemoryKind.UNIFIED, 24 * GIB, 20 * GIB, 18 * GIB)
    chip = Device("gpu0", "apple", "Apple M4 Pro", memory, bandwidth=Bandwidth(273.0, 273.0, "its maker"),
                  seen_by=(Sight("llama_server", "CUDA0"),))  # fmt: skip
    one = here(chip, bandwidth=None)
    (leg,) = speeds_of(weighed(one), one, TABLES).decode.legs
    assert (leg.pace.name, leg.pace.mid_gbs, leg.pace.constants.api) == ("Apple M4 Pro", pytest.approx(273), "cuda")


@pytest.mark.parametrize(
    ("quant", "parameters"),
    [("Q4_0", 2 * GIB * 8 / 4.5), ("Q4_K_M", 2 * GIB * 8 / 4.5), ("Q8_0", 2 * GIB * 8 / 8.5), ("4bit", 0), (None, 0)],
)
def test_parameters_of_a_brief_header_are_counted_by_size_and_type(quant, parameters):
    brief = replace(TENTH, weights=replace(TENTH.weights, exact=False, input_bytes=0), use=Use())
    able = replace(here(), machine=replace(here().machine, cpu=replace(here().machine.cpu, extensions=("AVX2",))))
    (leg,) = speeds_of(weighed(able, brief, quant=quant), able, TABLES).decode.legs
    assert leg.work.parameters == pytest.approx(parameters, rel=0.01)


@pytest.mark.parametrize(
    ("changes", "quant", "needed"),
    [
        ({}, "Q4_K_M", False),
        ({}, None, True),
        ({"experts": 8}, "Q4_0", True),
        ({"architecture": "qwen3moe"}, "Q8_0", True),
        ({"experts": 8, "tensors": ()}, "Q4_0", False),
    ],
)
def test_when_the_start_of_a_header_is_not_enough(changes, quant, needed):
    brief = model(quant=quant)
    assert needs_whole_header(replace(brief, info=replace(brief.info, **changes))) is needed
    assert not needs_whole_header(replace(brief, info=None))


def ran(surroundings, tps, calculated_tps, files=None, load=LOAD):
    now = speed_situation(model(), load, "llama_server", "1", ("A Processor",))
    now = replace(now, files=files or now.files)
    gbs = bandwidths_of(surroundings.machine, "llama_server")
    return SpeedObservation(now, False, 512, tps, None, None, calculated_tps, None, 0.0, 0.0, gbs)


def test_a_run_of_the_very_model_takes_the_place_of_the_formula():
    choice = weighed(here())
    calculated = speeds_of(choice, here(), TABLES).decode.mid_tps
    known = speeds_of(choice, here(), TABLES, [ran(here(), 12.0, 10.0)]).decode
    assert (known.basis, known.runs) == (SpeedBasis.MEASURED, 1)
    assert known.mid_tps == pytest.approx(1.2 * calculated)


def test_runs_of_others_put_right_and_are_asked_for_once():
    others = [ran(here(), 12.0, 10.0, files=json.dumps([[f"/other{number}.gguf", 1, 1]])) for number in range(3)]
    speedometer = Speedometer(here(), TABLES, others)
    first, second = (speedometer.of(weighed(here(), path=path)).decode for path in ("/a.gguf", "/b.gguf"))
    assert (first.basis, first.runs) == (SpeedBasis.CORRECTED, 3)
    assert first == second
    assert speeds_of(weighed(here()), here(), TABLES).decode.mid_tps < first.mid_tps


def test_runs_on_another_build_or_memory_say_nothing():
    past = [ran(here(), 12.0, 10.0)]
    for other in (replace(here(), told=(replace(told(), version="2", devices=()),)), replace(here(), told=())):
        assert speeds_of(weighed(other), other, TABLES, past).decode.basis is SpeedBasis.CALCULATED
    faster = here(bandwidth=Bandwidth(200.0, 200.0, "", "2026-12-01"))
    assert speeds_of(weighed(faster), faster, TABLES, past).decode.basis is SpeedBasis.CALCULATED


@pytest.mark.parametrize("files", ["", "null", "[[]]", "{}", "not JSON", "[1]"])
def test_a_row_that_somebody_changed_breaks_nothing(files):
    known = speeds_of(weighed(here()), here(), TABLES, [ran(here(), 12.0, 10.0, files=files or " ")]).decode
    assert known.basis is SpeedBasis.CORRECTED


def test_surroundings_without_engines_tell_nothing():
    nothing = around(engines=())
    choice = weigh(model("unheard-of"), TENTH, LOAD, nothing)
    assert choice.runner is None
    assert speeds_of(choice, nothing, TABLES) == Speeds()


def test_where_nothing_can_be_calculated_its_own_run_stands_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.gguf").write_bytes(b"x")
    one = here(bandwidth=None)
    choice, own, other = weighed(one), ran(one, 12.0, None), ran(one, 30.0, None, files="[]")
    known = speeds_of(choice, one, TABLES, [other, own]).decode
    assert (known.mid_tps, known.depth, known.basis, known.legs) == (12.0, 512, SpeedBasis.MEASURED, ())
    assert "12.0" in speed_in_words(known)
    assert basis_of_decode_in_words(known, one.machine)
    assert speeds_of(choice, one, TABLES, [other]) == Speeds()
