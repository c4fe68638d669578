"""Which of several choices is recommended, and why."""

from dataclasses import replace

import pytest
from tests.choices.made_speeds import TENTH, here
from tests.choices.made_surroundings import LOAD, NOT_HERE, RTX, around, engine, model
from tests.estimates.made_blueprints import GIB

from weighbridge.base.errors import BadFile
from weighbridge.choices.choice import weigh
from weighbridge.choices.offer_words import recommended_in_words
from weighbridge.choices.recommended import Recommended, Why, recommended
from weighbridge.choices.runner import Runner
from weighbridge.estimates.fit import Verdict
from weighbridge.estimates.speed.speed import Speed
from weighbridge.estimates.speed.speeds import Speeds
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge_engines.api import Cause


def choice(bits, verdict=Verdict.FITS, tps=30.0, form="gguf", around=here(), **changes):  # noqa: B008 - a value
    info = ModelInfo(form, changes.pop("kind", Kind.CHAT), architecture="llama", bits_per_weight=bits)
    made = model(form, info=info, quant=changes.pop("quant", None), size_bytes=int((bits or 5) * GIB), **changes)
    weighed = weigh(made, TENTH, LOAD, around)
    fit = None if verdict is None else replace(weighed.fit or weigh(model(), TENTH, LOAD, here()).fit, verdict=verdict)
    speed = None if tps is None else Speed(tps * 0.9, tps, tps * 1.1, 1024)
    return replace(weighed, fit=fit, speeds=Speeds(speed))


def place(*choices, devices=()):
    found = recommended(choices, devices)
    return found.place if found else None


def why(*choices):
    found = recommended(choices)
    return found.why if found else None


def test_the_most_bits_that_fit_up_to_near_lossless():
    ladder = [choice(bits) for bits in (4.8, 5.7, 6.6)]
    assert (place(*ladder), why(*ladder)) == (2, Why.MOST_BITS)
    ladder += [choice(8.5), choice(16.0)]
    assert (place(*ladder), why(*ladder)) == (3, Why.NEAR_LOSSLESS)


def test_what_fits_with_room_comes_before_what_is_tight_and_that_before_part():
    tight, part = choice(6.6, Verdict.TIGHT), choice(8.5, Verdict.PARTIAL)
    assert place(part, tight, choice(4.8)) == 2
    assert (place(part, tight), why(part, tight)) == (1, Why.TIGHT)
    assert (place(part), why(part)) == (0, Why.PARTIAL)


def test_below_four_bits_only_where_nothing_else_fits():
    few, tight = choice(3.4), choice(4.8, Verdict.TIGHT)
    assert place(few, tight) == 1
    assert (place(few, choice(2.6)), why(few, choice(2.6))) == (0, Why.FEW_BITS)


def test_what_is_fast_enough_comes_before_what_is_not_known_and_that_before_what_is_slow():
    slow, unknown, fast = choice(6.6, tps=4.0), choice(5.7, tps=None), choice(4.8, tps=9.0)
    assert (place(slow, unknown, fast), why(slow, unknown, fast)) == (2, Why.FASTER)
    assert place(slow, unknown) == 1


def test_where_all_are_slow_the_least_slow_that_is_no_worse():
    ladder = [choice(8.5, tps=2.0), choice(4.8, tps=4.0), choice(3.4, tps=6.0)]
    assert (place(*ladder), why(*ladder)) == (1, Why.SLOW)


def test_what_an_installed_engine_runs_comes_first():
    missing = around(engines=(engine("llama_server", NOT_HERE),))
    lacking = choice(8.5, around=missing)
    assert lacking.runner == Runner("llama_server", "Llama", NOT_HERE)
    assert place(lacking, choice(4.8)) == 1
    alone = recommended([lacking])
    assert alone == Recommended(0, Why.NEAR_LOSSLESS, 8.5, "Llama")
    said = recommended_in_words(alone)
    assert said == "Near lossless, and it fits with room to spare. It needs Llama, which is not installed."


def test_what_can_be_installed_comes_before_what_is_no_part_of_this_program():
    missing = around(engines=(engine("llama_server", NOT_HERE),))
    others = choice(8.5, form="awq", around=missing)
    assert place(others, choice(4.8, around=missing)) == 1
    alone = recommended([others])
    assert (alone.engine, alone.is_ours) == ("vLLM", False)
    assert recommended_in_words(alone).endswith("It needs vLLM, which is no part of this program.")


def test_nothing_is_recommended_that_does_not_fit_or_is_damaged_or_no_model():
    assert recommended([]) is None
    assert recommended([choice(4.8, Verdict.NO), choice(4.8, Verdict.UNKNOWN), choice(4.8, None)]) is None
    assert recommended([choice(4.8, problem=BadFile("model.pickle"))]) is None
    assert recommended([choice(4.8, kind=Kind.DRAFT)]) is None


def test_bits_that_are_not_counted_are_those_of_the_label():
    assert place(choice(None, quant="Q4_K_M"), choice(None, quant="UD-Q6_K_XL"), choice(None)) == 1


@pytest.mark.parametrize(("vendor", "meant"), [("nvidia", "exl3"), ("amd", "gguf")])
def test_of_formats_with_much_the_same_bits_the_one_that_suits_the_card(vendor, meant):
    card = replace(RTX, vendor=vendor)
    both = around(card, engines=(engine(formats=("gguf", "exl3")),))
    rows = [choice(5.1, form="gguf", around=both), choice(5.0, form="exl3", around=both)]
    found = recommended(rows, [card])
    assert rows[found.place].model.format == meant


def test_the_smaller_file_of_two_that_are_alike():
    assert place(choice(4.8), replace(choice(4.8), model=replace(choice(4.8).model, size_bytes=GIB))) == 1
    assert why(choice(4.8)) is Why.ONLY_ONE


def test_what_nothing_here_could_ever_run_is_not_recommended():
    needing = Runner("exllamav3", "ExLlamaV3", Cause("program.needs_card"))
    best = replace(choice(6.0, form="exl3"), runner=needing)
    assert place(best) is None
    assert place(best, choice(4.8)) == 1
