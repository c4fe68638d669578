"""Which build the advice of a model leads to."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.estimates.made_blueprints import card, made

from weighbridge.choices.choice import Choice, Elsewhere
from weighbridge.choices.runner import Runner
from weighbridge.estimates.fit import fit
from weighbridge.estimates.plan import Plan
from weighbridge.hardware.machine import Device, Memory, MemoryKind
from weighbridge.library.model import Model
from weighbridge.ui.widgets.advice import Advice, build_for
from weighbridge_engines.api import Cause, Load

GPU = Device("0", "nvidia", "RTX 3090", Memory(MemoryKind.DEDICATED, 24 << 30, None))
MODEL = Model("m", "m", Path("m.gguf"), (), "gguf", None, 0)
HERE = Runner("llama_server", "llama.cpp")
CHOICE = Choice(MODEL, made(), HERE, None, Load("m"))


def elsewhere(**values):
    told = {"device": "RTX 3090", "build": "CUDA 12", "engine": "llama.cpp", **values}
    return Elsewhere(GPU, fit(made(), Plan(), (card(24),)), Cause("engine.build_not_installed", told))


@pytest.mark.parametrize(
    ("choice", "build_id"),
    [
        (CHOICE, ""),
        (replace(CHOICE, elsewhere=elsewhere(build_id="llama_server-cuda12")), "llama_server-cuda12"),
        (replace(CHOICE, elsewhere=elsewhere()), ""),
        (replace(CHOICE, runner=replace(HERE, missing=Cause("engine.not_installed"))), "llama_server"),
        (replace(CHOICE, runner=Runner("vllm", "vLLM", Cause("engine.not_ours"))), ""),
        (replace(CHOICE, runner=None), ""),
    ],
)
def test_it_leads_to_the_build_that_helps(choice, build_id):
    assert build_for(choice) == build_id


def test_the_button_is_there_only_where_it_leads_somewhere(qtbot):
    advice = Advice()
    qtbot.addWidget(advice)
    advice.show_choice(CHOICE, None)
    assert advice.build.isHidden()
    advice.show_choice(replace(CHOICE, elsewhere=elsewhere(build_id="llama_server-cuda12")), None)
    told = []
    advice.build_wanted.connect(told.append)
    advice.build.click()
    assert told == ["llama_server-cuda12"]


def test_the_library_leads_to_the_page_engines(library_page, full):
    told = []
    full.bus.build_wanted.connect(told.append)
    library_page.detail.weighed.advice.show_choice(replace(CHOICE, elsewhere=elsewhere(build_id="a-build")), None)
    library_page.detail.weighed.advice.build.click()
    assert told == ["a-build"]
