"""A model weighed against this machine: where it would lie, who would run it, and what a missing build would change."""

from dataclasses import replace

import pytest
from tests.choices.made_surroundings import LOAD, NOT_HERE, RTX, around, engine, loaded, machine, model, told, unseen
from tests.estimates.made_blueprints import GIB, made

from weighbridge.base.errors import BadFile, Refused
from weighbridge.choices.blueprints import Blueprints
from weighbridge.choices.choice import weigh
from weighbridge.choices.runner import runner_for
from weighbridge.choices.words import elsewhere_in_words
from weighbridge.estimates.config_widths import Widths
from weighbridge.estimates.estimate import HOST
from weighbridge.estimates.fit import Verdict
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.running.builds import Offer
from weighbridge.running.devices import missing_build
from weighbridge.running.state import State

INTEL = replace(RTX, id="arc", vendor="intel", name="Arc A770", memory=Memory(MemoryKind.DEDICATED, 16 * GIB, 15 * GIB))


def weighed(here, load=LOAD, blueprint=None, **options):
    return weigh(model(), blueprint or made(), load, here, **options)


def test_on_a_machine_without_cards():
    choice = weighed(around())
    assert [place.id for place in choice.places] == [HOST]
    assert (choice.fit.verdict, choice.fit.gpu_layers) == (Verdict.FITS, None)
    assert (choice.runner.engine_id, choice.runner.installed) == ("llama_server", True)
    assert (choice.elsewhere, choice.last_off, choice.load) == (None, None, LOAD)


@pytest.mark.parametrize("changed", [{"key_type": "q9"}, {"value_type": "turbo"}])
def test_a_type_of_cache_that_llama_cpp_has_not_is_refused_with_those_that_it_has(changed):
    with pytest.raises(Refused) as refused:
        weighed(around(), replace(LOAD, **changed))
    assert refused.value.code == "setting.choice"
    assert refused.value.values["value"] in changed.values()
    assert refused.value.values["known"].startswith("f32, f16, bf16, q8_0")


def test_on_a_card_that_the_engine_sees():
    choice = weighed(around(RTX))
    assert [place.id for place in choice.places] == [HOST, "cuda0"]
    assert (choice.fit.verdict, choice.fit.gpu_layers, choice.fit.all_layers) == (Verdict.FITS, 11, 11)
    assert choice.elsewhere is None


def test_a_card_that_nothing_here_can_use_is_told_with_the_missing_build():
    choice = weighed(around(unseen(RTX)))
    assert [place.id for place in choice.places] == [HOST]
    assert choice.fit.gpu_layers is None
    assert (choice.elsewhere.device.id, choice.elsewhere.fit.verdict) == ("cuda0", Verdict.FITS)
    assert choice.elsewhere.fit.gpu_layers == 11
    assert choice.elsewhere.missing.code == "engine.no_build"
    assert choice.elsewhere.missing.values["build"] == "CUDA"


@pytest.mark.parametrize(
    ("installed", "code", "said"),
    [
        (False, "engine.build_not_installed", "on {card} with the CUDA 13 build of llama.cpp (install)"),
        (True, "engine.build_not_used", "on {card} with CUDA 13 of llama.cpp (here, not in use)"),
    ],
)
def test_a_build_that_would_use_the_card_is_named(installed, code, said):
    offer = Offer("llama_server-cuda13", "CUDA 13", "llama_server", "llama.cpp", ("nvidia",), installed)
    other = replace(offer, build_id="llama_cpp-cuda13", engine_id="llama_cpp")
    answers = (replace(told(engine_id="llama_cpp"), offers=(other,)), replace(told(), offers=(offer,)))
    elsewhere = weighed(around(unseen(RTX), told=answers)).elsewhere
    assert missing_build(unseen(RTX), answers).values["build_id"] == "llama_server-cuda13"
    assert missing_build(unseen(RTX), answers, "llama_cpp").values["build_id"] == "llama_cpp-cuda13"
    assert (elsewhere.missing.code, elsewhere.missing.values["build_id"]) == (code, "llama_server-cuda13")
    assert elsewhere_in_words(elsewhere).endswith(said.format(card=RTX.name))


def test_the_best_of_two_unused_cards_is_told():
    small = replace(INTEL, memory=Memory(MemoryKind.DEDICATED, 6 * GIB, 6 * GIB))
    choice = weighed(around(unseen(small), unseen(RTX)))
    assert choice.elsewhere.device.id == "cuda0"


def test_a_card_that_would_hold_nothing_is_not_told():
    tiny = unseen(replace(RTX, memory=Memory(MemoryKind.DEDICATED, GIB, GIB // 4)))
    assert weighed(around(tiny)).elsewhere is None
    some = replace(tiny, memory=Memory(MemoryKind.DEDICATED, 4 * GIB, 4 * GIB))
    assert weighed(around(some)).elsewhere.fit.gpu_layers == 3


def test_an_engine_that_could_not_tell_leaves_open_what_is_missing():
    unknown = replace(told(), devices=None)
    assert weighed(around(unseen(RTX), told=(unknown,))).elsewhere is None


def test_the_memory_of_idle_models_counts_as_free():
    here = around(machine=machine(free_gib=8))
    assert weighed(here).fit.verdict is Verdict.NO
    assert weighed(replace(here, running=[loaded(9)])).fit.verdict is Verdict.FITS
    assert weighed(replace(here, running=[loaded(9)])).places[0].given_back_bytes == 9 * GIB


@pytest.mark.parametrize("held", [{"in_flight": 1}, {"pinned": True}, {"state": State.LOADING}])
def test_the_memory_of_models_in_use_does_not(held):
    here = around(machine=machine(free_gib=8), running=[loaded(9, **held)])
    assert weighed(here).fit.verdict is Verdict.NO


def test_a_model_that_is_loaded_itself_would_give_back_first():
    used = [loaded(9, in_flight=1, pinned=True), loaded(2, model_id="another", in_flight=1)]
    here = around(machine=machine(free_gib=8), running=used)
    assert weighed(here).places[0].given_back_bytes == 0
    assert weighed(here.if_unused("other")).places[0].given_back_bytes == 9 * GIB
    assert weighed(here.if_unused("a third")).places[0].given_back_bytes == 0


def test_a_damaged_model_has_no_verdict():
    choice = weigh(model(problem=BadFile("file.cut", name="m.gguf")), made(), LOAD, around())
    assert (choice.fit, choice.runner.engine_id) == (None, "llama_server")


def test_a_model_of_which_nothing_is_known_has_no_verdict():
    assert weigh(model(info=None), Blueprints().of(model(info=None)), LOAD, around()).fit is None


def test_free_memory_that_is_not_known_is_no_verdict():
    assert weighed(around(machine=machine(free_gib=None))).fit.verdict is Verdict.UNKNOWN


def test_a_remedy_is_looked_for_where_it_is_asked_for():
    long = replace(LOAD, context=131_072)
    here = around(machine=machine(free_gib=15))
    assert weighed(here, long).fit.remedy is None
    assert weighed(here, long, with_remedy=True).fit.remedy is not None


def test_a_format_that_an_engine_of_others_runs_names_it():
    runner = runner_for("awq", [engine()])
    assert (runner.title, runner.installed, runner.missing.code) == ("vLLM", False, "engine.not_ours")


@pytest.mark.parametrize("kind", [Kind.IMAGE, Kind.AUDIO, Kind.ADAPTER, Kind.PROJECTION])
def test_what_is_no_model_of_text_is_run_by_nobody_whatever_its_format(kind):
    choice = weigh(model(info=ModelInfo("gguf", kind)), made(), LOAD, around())
    assert (choice.runner, choice.fit) == (None, None)


@pytest.mark.parametrize("kind", [Kind.CHAT, Kind.EMBEDDING, Kind.UNKNOWN])
def test_a_model_of_text_and_a_new_architecture_are_weighed(kind):
    assert weigh(model(info=ModelInfo("gguf", kind)), made(), LOAD, around()).fit.verdict is Verdict.FITS


def test_a_format_that_nobody_runs_has_no_runner_and_no_verdict():
    choice = weigh(model("pickle"), made(), LOAD, around())
    assert (choice.runner, choice.fit) == (None, None)


def test_an_engine_that_is_not_installed_is_weighed_for_all_the_same():
    choice = weighed(around(engines=(engine(missing=NOT_HERE),)))
    assert choice.fit.verdict is Verdict.FITS
    assert (choice.runner.installed, choice.runner.missing) == (False, NOT_HERE)


def test_the_first_installed_engine_runs_it():
    two = [engine("llama_server", NOT_HERE), engine("other")]
    assert runner_for("gguf", two).engine_id == "other"
    assert runner_for("gguf", [two[0], engine("other", NOT_HERE)]).engine_id == "llama_server"


def test_an_engine_can_be_named():
    two = (engine("llama_server"), engine("other"))
    assert weighed(around(engines=two), engine_id="other").runner.engine_id == "other"
    assert weighed(around(engines=two), engine_id="other").fit.plan.engine == "other"
    python = weighed(around(), engine_id="llama_cpp")
    assert (python.runner.title, python.runner.installed) == ("llama-cpp-python", False)
    with pytest.raises(Refused) as refused:
        weighed(around(), engine_id="mlx")
    assert refused.value.code == "engine.not_for_format"
    assert refused.value.values == {"engine": "mlx", "format": "gguf"}


def test_only_cards_that_the_engine_of_the_format_can_use_are_told():
    exl = replace(made(), format="exl3", widths=Widths(1024))
    for card, told_of in ((unseen(INTEL), None), (unseen(RTX), "cuda0")):
        choice = weigh(model("exl3"), exl, LOAD, around(card))
        assert (choice.elsewhere and choice.elsewhere.device.id) == told_of


def test_a_digest_is_made_once_for_each_header():
    brief, full = ModelInfo("gguf", Kind.CHAT, layers=2), ModelInfo("gguf", Kind.CHAT, layers=4)
    digests = Blueprints()
    first = digests.of(model(info=brief))
    assert digests.of(model(info=brief)) is first
    assert digests.of(model(info=brief, size_bytes=GIB)) is not first
    assert len(digests.of(model(info=full)).weights.layers) == 4
