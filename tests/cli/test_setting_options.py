"""Settings of a load on the command line."""

import re

import pytest
from tests.server.fakes import model

from weighbridge.base.errors import Refused
from weighbridge.base.words import use_language
from weighbridge.cli.setting_options import listing, values_told, with_told
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.llama_server import ENGINE

TINY = model("tiny")
ENGINES = {"llama_server": ENGINE}


def unchanged(load, one):
    return load


def test_what_is_told_is_put_into_loads_of_that_model_after_its_preset():
    told = with_told(lambda load, one: Load(load.model, context=1, threads=2), ["context=8"], TINY, ENGINES)
    assert told(Load("m"), TINY) == Load("m", context=8, threads=2)
    assert told(Load("m"), model("other")).context == 1


def test_each_kind_of_value_is_read():
    told = values_told(
        TINY,
        ENGINE,
        ["temperature=0.5", "slots=2", "mapped=off", "key_type=q8_0", "split=3,1", "template={{ a=b }}"],
    )
    assert told == {
        "temperature": 0.5,
        "slots": 2,
        "mapped": False,
        "key_type": "q8_0",
        "split": (3, 1),
        "template": "{{ a=b }}",
    }


def test_files_may_be_told_one_by_one():
    assert values_told(TINY, ENGINE, ["adapters=/a b", "adapters=/c"]) == {"adapters": ("/a b", "/c")}


def test_nothing_behind_the_sign_leaves_it_to_the_engine_whatever_a_preset_says():
    told = with_told(lambda load, one: Load(load.model, projector="p", threads=2), ["projector="], TINY, ENGINES)
    assert told(Load("m"), TINY) == Load("m", threads=2)
    with pytest.raises(Refused):
        values_told(TINY, ENGINE, ["projector="])
    with pytest.raises(Refused):
        with_told(unchanged, ["projector"], TINY, ENGINES)


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ("nothing=1", "setting.unknown"),
        ("context", "setting.kind.whole"),
        ("context=0", "setting.range"),
        ("mapped=perhaps", "setting.kind.switch"),
        ("key_type=q9", "setting.choice"),
        ("draft_kind=eagle3", "setting.needs"),
        ("attributes=[", "setting.kind.values"),
    ],
)
def test_a_wrong_one_is_refused(told, code):
    with pytest.raises(Refused) as refusal:
        with_told(unchanged, [told], TINY, ENGINES)
    assert refusal.value.code == code


def test_a_setting_is_one_of_a_model():
    with pytest.raises(Refused) as refusal:
        with_told(unchanged, ["context=8"], None, ENGINES)
    assert refusal.value.code == "options.needs"
    assert with_told(unchanged, [], None, ENGINES) is unchanged


def test_a_default_is_listed_as_it_can_be_told_in_every_language():
    use_language("es")
    try:
        rows = [re.split("  +", line) for line in listing([ENGINE]).splitlines()[1:]]
    finally:
        use_language("en")
    controls = {control.name: control for control in ENGINE.controls}
    defaults = {name: controls[name].read(default) for name, _, default, _ in rows if default != "-"}
    assert defaults == {name: one.default for name, one in controls.items() if one.default is not None}
    assert (defaults["checkpoint_step"], defaults["top_p"], defaults["context_shift"]) == (8192, 0.95, False)


def test_all_settings_are_listed_once_with_their_range():
    lines = listing([ENGINE, ENGINE]).splitlines()
    assert len(lines) == len(ENGINE.controls) + 1
    (top_p,) = [line for line in lines if line.startswith("top_p ")]
    assert "0..1" in top_p and "0.95" in top_p
    assert any(line.startswith("split_mode") and "none|layer|row|tensor" in line for line in lines)


def test_the_settings_of_one_engine_are_listed_as_that_one_has_them():
    names = [line.split()[0] for line in listing(catalogue().values(), "openvino").splitlines()[1:]]
    assert names == [control.name for control in catalogue()["openvino"].controls]
    assert "cache_precision" in names
    assert "key_type" not in names
