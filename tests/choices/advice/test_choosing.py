"""Which engine is taken for a file, and what stands against the others."""

from dataclasses import replace

import pytest
from tests.choices.advice.made_grounds import absent, codes, ground, on_processor, with_cards
from tests.choices.made_surroundings import GIB, RTX, around, told, unseen

from weighbridge.choices.advice.advice import ActionKind, Standing
from weighbridge.choices.advice.answers import Need
from weighbridge.choices.advice.choosing import Wish, choose
from weighbridge.estimates.estimate import Estimate, Share, Term
from weighbridge.estimates.fit import Fit, Verdict
from weighbridge.estimates.plan import Plan
from weighbridge_engines.api import Cause, FileFacts

GGUF, EXL3, FP8 = FileFacts("gguf", "llama"), FileFacts("exl3"), FileFacts("fp8")
SERVED = "awq"


def order(*arguments, **rest):
    return [one.engine_id for one in choose(*arguments, **rest) if one.possible]


def found(engine_id, *arguments, **rest):
    return next(one for one in choose(*arguments, **rest) if one.engine_id == engine_id)


def needing(gib, verdict=Verdict.FITS, left_gib=1):
    estimate = Estimate(Plan(), (Share("host", {Term.WEIGHTS: gib * GIB}),))
    return Fit(verdict, estimate, left_gib * GIB)


def test_only_engines_of_the_format_are_thought_of():
    assert order(FileFacts("exl2"), with_cards("RTX 3090")) == ["exllamav2"]
    assert set(order(EXL3, with_cards("RTX 3090"))) == {"exllamav3", "tabbyapi", "aphrodite"}
    assert choose(FileFacts("pickle"), with_cards("RTX 3090")) == ()


@pytest.mark.parametrize(
    ("wish", "first"),
    [
        (Wish.ONE_CHAT, "vllm"),
        (Wish.MANY_USERS, "vllm"),
        (Wish.LONG_CONTEXT, "sglang"),
        (Wish.COMPARISON, "lmdeploy"),
    ],
)
def test_the_wish_decides(wish, first):
    here = with_cards("RTX 4090", installed=("lmdeploy",))
    assert order(FileFacts(SERVED), here, wish)[0] == first


def test_for_one_chat_a_gguf_goes_to_llama_cpp():
    here = with_cards("RTX 4090", installed=("llama_server", "llama_cpp"))
    assert order(GGUF, here)[:2] == ["llama_server", "llama_cpp"]


def test_for_the_least_memory_the_estimates_decide():
    fits = {"llama_server": needing(9), "llama_cpp": needing(8)}
    assert order(GGUF, on_processor(), Wish.LEAST_MEMORY, fits)[:2] == ["llama_cpp", "llama_server"]


def test_what_does_not_fit_is_said_with_its_bytes_and_comes_last():
    one = found("llama_server", GGUF, on_processor(), fits={"llama_server": needing(30, Verdict.NO, -3)})
    assert (one.standing, codes(one.against)) == (Standing.IMPOSSIBLE, ["does_not_fit"])
    assert one.against[0].values["short_bytes"] == 3 * GIB


@pytest.mark.parametrize(
    ("engine_id", "facts", "card", "code"),
    [
        ("exllamav3", EXL3, "RTX 2080 Ti", "capability_low"),
        ("sglang", FP8, "RTX 2080 Ti", "capability_low"),
        ("exllamav3", EXL3, "Radeon RX 7900 XTX", "needs_cards"),
        ("aphrodite", EXL3, "RTX 2080 Ti", "format_needs"),
        ("mlx", FileFacts("mlx"), "Radeon RX 7900 XTX", "needs_cards"),
    ],
)
def test_cards_that_an_engine_cannot_use(engine_id, facts, card, code):
    one = found(engine_id, facts, with_cards(card))
    assert (one.possible, codes(one.against)[0]) == (False, code)


def test_the_compute_capability_is_told_with_what_is_needed():
    against = found("exllamav3", EXL3, with_cards("RTX 2080 Ti")).against[0].values
    assert (against["capability"], against["least"]) == ("7.5", "8.0")
    why = {one.code: one.values for one in found("exllamav3", EXL3, with_cards("RTX 3090")).why}
    assert (why["capability_enough"]["capability"], why["capability_enough"]["least"]) == ("8.6", "8.0")


@pytest.mark.parametrize(
    ("format_id", "card", "has_kernel"),
    [
        ("fp8", "RTX 3090", False),
        ("fp8", "RTX 4090", True),
        ("nvfp4", "RTX 4090", False),
        ("nvfp4", "RTX 5090", True),
        ("nvfp4", "B200", True),
        ("mxfp4", "H100 SXM5 80 GB", False),
    ],
)
def test_kernels_of_a_format(format_id, card, has_kernel):
    one = found("vllm", FileFacts(format_id), with_cards(card))
    assert ("kernel" in codes(one.why), "no_kernel" in codes(one.against)) == (has_kernel, not has_kernel)


def test_on_windows_vllm_and_sglang_do_not_run_and_lmdeploy_does():
    here = with_cards("RTX 4090", system="Windows 11 10.0.26100 AMD64")
    assert order(FileFacts(SERVED), here) == ["lmdeploy"]
    against = found("vllm", FileFacts(SERVED), here).against[0]
    assert (against.code, against.values["system"], against.values["wsl"]) == ("not_on_system", "windows", True)


def test_who_answers_one_at_a_time_comes_after_those_that_batch():
    ids = order(FileFacts("safetensors"), with_cards("RTX 4090"), Wish.MANY_USERS)
    assert ids.index("transformers") == len(ids) - 1
    assert "one_at_a_time" in codes(
        found("transformers", FileFacts("safetensors"), with_cards("RTX 4090"), Wish.MANY_USERS).against
    )


def test_what_is_needed_and_lacking_keeps_an_engine_out():
    one = found("exllamav3", EXL3, with_cards("RTX 4090"), needs=frozenset({Need.VISION}))
    assert (one.possible, one.against[0].values["need"]) == (False, "vision")


def test_nothing_is_said_twice_of_an_engine():
    here = with_cards("RTX 4090")
    for wish in Wish:
        for one in choose(FileFacts("fp8"), here, wish):
            assert len(codes(one.why)) == len(set(codes(one.why)))


def test_an_archived_one_says_so():
    assert "archived" in codes(found("exllamav2", FileFacts("exl2"), with_cards("RTX 3090")).against)


def test_what_is_under_the_agpl_is_never_installed():
    one = found("tabbyapi", EXL3, with_cards("RTX 3090"))
    assert (one.standing, one.action) == (Standing.TO_INSTALL, None)
    assert "agpl" in codes(one.against)


def test_what_is_to_be_installed_has_its_build():
    one = found("exllamav3", EXL3, with_cards("RTX 3090"))
    assert (one.action.kind, one.action.build_id) == (ActionKind.INSTALL, "exllamav3-cuda13")  # there, not here
    assert one.action.command == "weighbridge engines install exllamav3-cuda13"
    plain = found("llama_server", GGUF, on_processor(installed=()))
    assert (plain.standing, plain.action.build_id) == (Standing.TO_INSTALL, "llama_server-plain")


def test_where_the_driver_is_too_old_for_every_build_that_is_said_and_nothing_is_offered():
    old = replace(RTX, driver="550.120", compute_capability="8.6")
    here = ground(around(old, engines=absent()), elsewhere=False)
    vllm = found("vllm", FileFacts(SERVED), here)
    assert (vllm.standing, vllm.action, codes(vllm.against)) == (Standing.TO_INSTALL, None, ["no_build"])
    assert found("exllamav3", EXL3, here).action.build_id == "exllamav3-cuda12"


def test_a_build_that_is_blind_to_the_card_is_ready_and_offers_one_that_sees_it():
    here = ground(around(unseen(RTX), engines=absent("llama_server"), told=(told(),)), elsewhere=False)
    one = found("llama_server", GGUF, here)
    assert (one.standing, codes(one.against)[0]) == (Standing.READY, "build_blind")
    assert (one.action.kind, one.action.build_id) == (ActionKind.INSTALL_BUILD, "llama_server-cuda13")


def test_one_that_sees_the_card_and_is_here_has_nothing_to_do():
    one = found("llama_server", GGUF, ground(around(RTX, engines=absent("llama_server")), elsewhere=False))
    assert (one.standing, one.action) == (Standing.READY, None)
    assert "is_here" in codes(one.why)


def test_one_that_cannot_tell_what_it_sees_is_not_called_blind():
    here = ground(around(RTX, engines=absent("vllm")), elsewhere=False)
    assert "build_blind" not in codes(found("vllm", FileFacts(SERVED), here).against)


def test_the_engine_s_own_reason_against_this_very_file():
    cause = Cause("engine.bad_architecture", {"architecture": "mamba"})
    engines = tuple(replace(one, suits=lambda facts: cause) for one in absent("llama_server"))
    one = found("llama_server", GGUF, ground(around(engines=engines), elsewhere=False))
    assert (one.possible, one.against[0].values["cause"]) == (False, cause)


def test_what_is_not_known_of_a_card_is_said_and_stands_in_nobody_s_way():
    unknown = replace(RTX, compute_capability=None)
    one = found("exllamav3", EXL3, ground(around(unknown, engines=absent()), elsewhere=False))
    assert one.possible
    assert "capability_unknown" in codes(one.against)
