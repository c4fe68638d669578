"""Of models of many builds the row of a table has the verdict that the whole header gives, for the start of it says
what layers keep."""

from pathlib import Path

import pytest
from tests.choices.made_surroundings import machine
from tests.cli.fitting import CARD, ENGINE, TOLD
from tests.fake_hub import FakeHub, Made
from tests.hub.looking_repos import claim_hashes, header_bytes, looking
from tests.model_zoo.__main__ import everything

from weighbridge.base.task import Task
from weighbridge.choices.blueprints import Blueprints
from weighbridge.choices.choice import Surroundings, weigh
from weighbridge.choices.offered import offered
from weighbridge.hub.layout import Layout, shelf_of
from weighbridge.hub.looking import Spot
from weighbridge_engines.api import Load

NAMES = (
    *("deepseek-v2", "falcon-h1-7b", "gemma-4-e4b", "gemma-4-26b-a4b", "jamba-mini", "lfm2-2.6b", "mamba-2.8b"),
    *("nemotron-h-8b", "olmo-3-7b", "qwen3.5-27b", "qwen3-next-80b-a3b", "rwkv-7-2.9b", "gpt-oss-120b", "mixtral-8x7b"),
)
COUNTED = {"deepseek-v2", "gemma-4-26b-a4b", "qwen3-next-80b-a3b", "gpt-oss-120b", "mixtral-8x7b"}
"""Mixtures whose speed is known before their tables are read."""

MODELS = [model for model in everything() if model.name in NAMES]


@pytest.fixture
def fake():
    with FakeHub() as made:
        yield made


def total(model, around):
    choice = weigh(model, Blueprints().of(model), Load("", context=8192), around)
    return choice.fit.verdict, choice.fit.estimate.total_bytes


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_the_start_of_a_header_gives_the_verdict_of_the_whole(fake, model):
    content = Made(model.file_bytes(), head=model.header())
    told = {"total": model.info().parameters}
    claim_hashes(fake.add("zoo/Model-GGUF", {f"{model.name}-Q4_K_M.gguf": content}, tags=("gguf",), gguf=told))
    here = Surroundings(machine(CARD, free_gib=120, total_gib=128), {"llama_server": ENGINE}, (TOLD,))
    with looking(fake) as looker:
        sight = looker.look(Spot("zoo/Model-GGUF"), Task())
        assert header_bytes(fake) <= 64 << 10
        shelf = shelf_of(sight.repository, Layout.FOLDER, Path("models"))
        [row] = offered(sight, shelf, ())
        looker.look_closely(sight, sight.offers[0], Task())
        [whole] = offered(looker.look(sight.spot, Task()), shelf, ())
    assert not row.model.info.full
    assert Blueprints().of(row.model).weights.counted is (model.name in COUNTED)
    assert whole.model.info.full
    brief_verdict, brief_bytes = total(row.model, here)
    whole_verdict, whole_bytes = total(whole.model, here)
    assert brief_verdict == whole_verdict
    assert brief_bytes == pytest.approx(whole_bytes, rel=0.25)
