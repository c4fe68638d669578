"""How columns stand to each other, and what makes that doubtful."""

from dataclasses import replace

import pytest
from tests.bench.made import LONG, column, comparison, turn

from weighbridge.base.explain import explain_code
from weighbridge.base.units import THIN
from weighbridge.bench.cautions import cautions
from weighbridge.bench.compare import Ratio, ratio, verdicts
from weighbridge.bench.plan import Fresh
from weighbridge.bench.result import Held
from weighbridge.bench.score import Spread
from weighbridge.running.state import Setting
from weighbridge_engines.api import Cause


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        (Spread(100, 95, 105, 3), Spread(50, 48, 52, 3), Ratio(2.0, True)),
        (Spread(52, 45, 60, 3), Spread(50, 48, 52, 3), Ratio(1.04, False)),
        (Spread(100, 100, 100, 1), Spread(50, 48, 52, 3), Ratio(2.0, None)),
        (Spread(100, 95, 105, 3), Spread(0, 0, 0, 3), None),
        (None, Spread(50, 48, 52, 3), None),
    ],
)
def test_ratios(mine, theirs, expected):
    assert ratio(mine, theirs) == expected


@pytest.mark.parametrize(
    ("one", "alike"),
    [(Ratio(1.02, True), True), (Ratio(0.5, False), True), (Ratio(1.1, True), False), (Ratio(1.1, None), False)],
)
def test_what_nobody_can_tell_apart(one, alike):
    assert one.alike is alike


def test_each_is_put_beside_the_first_that_answered():
    slow = column("slow", [turn(LONG, decode_tps=20.0), turn(LONG, 2, decode_tps=22.0)], held=Held(600 << 20))
    told = verdicts([column("gone", []), column("a"), slow, column("also gone", [])])
    (one,) = told
    assert (one.column, one.baseline) == (2, 1)
    assert (one.writing, one.reading) == (Ratio(0.42, True), Ratio(1.0, False))
    assert one.memory == Ratio(2.0, None)
    assert one.answer.same
    assert verdicts([column("alone")]) == ()


def test_memory_of_cards_counts():
    on_card = column("b", held=Held(100 << 20, on_devices={"CUDA0": 200 << 20}))
    assert verdicts([column("a"), on_card])[0].memory.times == pytest.approx(1.0)


def codes(*columns, **changes):
    return [cause.code for cause in cautions(comparison(*columns, **changes))]


def test_nothing_to_say_of_a_fair_comparison():
    assert codes(column("a"), column("b")) == []


def other(**changes):
    return column("b", [turn(LONG, **changes), turn(LONG, 2, **changes)])


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (other(busy=0.4), "compare.busy"),
        (other(alone=False), "compare.not_alone"),
        (other(cached_tokens=39), "compare.cached"),
        (other(cached_tokens=None), "compare.cache_untold"),
        (other(by_engine=False), "compare.counted"),
        (other(read_by_engine=False), "compare.counted"),
        (other(output_tokens=9), "compare.short"),
        (other(prompt_tokens=31), "compare.prompt_differs"),
        (column("b", [turn(LONG, decode_tps=40.0), turn(LONG, 2, decode_tps=60.0)]), "compare.unsteady"),
        (column("b", [turn(LONG), turn(LONG + "!", 2)]), "compare.not_repeated"),
        (column("b", subject=replace(column().subject, endpoint="A server")), "compare.elsewhere"),
        (column("b", held=Held(1 << 30, swapped_bytes=1 << 20)), "compare.swapped"),
        (column("b", threads=2, settings=(Setting("context", 4096, 4096),)), "compare.threads_differ"),
        (column("b", settings=(Setting("context", 2048, 2048),)), "compare.context_differs"),
        (column("b", subject=replace(column().subject, parameters=200_000_000)), "compare.other_models"),
    ],
)
def test_what_is_doubtful_is_said(made, code):
    assert codes(column("a"), made) == [code]


def test_a_setting_that_the_engine_changed_is_said_with_its_name():
    changed = column("a", settings=(Setting("context", 4000, 4096, "setting.padded"),))
    (cause,) = cautions(comparison(changed))
    assert (cause.code, cause.values["columns"]) == ("compare.changed", ["a (context)"])


def test_a_doubt_about_several_is_told_once():
    (cause,) = cautions(comparison(column("a", [turn(LONG, busy=0.4)]), other(), other(busy=0.256)))
    labels = [f"a (40{THIN}%)", f"b (26{THIN}%)"]
    assert cause == Cause("compare.busy", {"columns": labels, "names": ["a", "b"]})


def test_what_did_not_answer_is_not_doubted():
    assert codes(column("a"), column("b", [], threads=1, settings=())) == []


def test_turns_whose_prompts_differ_need_not_have_the_same_answers():
    assert codes(column("a", [turn(LONG), turn(LONG + "!", 2)]), fresh=Fresh.PREFIXED) == []


def test_no_room_for_all_is_said():
    assert codes(column("a"), not_interleaved=True) == ["compare.no_room_for_all"]


def test_every_caution_has_its_words():
    made = (
        other(busy=0.4),
        column("c", threads=9, settings=()),
        column("d", held=Held(1 << 30, swapped_bytes=5 << 20)),
    )
    for cause in cautions(comparison(column("a"), *made)):
        said = str(explain_code(cause.code, cause.values))
        assert said and "{" not in said and said != cause.code
