"""A real model on the fake Hub: its header by ranges is the one that is read of the file on disk, and an engine that
gets nothing but it says of it what it says of the file."""

import pytest
from tests.fake_hub import FakeHub
from tests.hub.looking_repos import header_bytes, looking

from weighbridge.base.task import Task
from weighbridge.hub.looking import Spot
from weighbridge.library.recognise_path import recognise_path
from weighbridge.running.sizing import Sizing, Table
from weighbridge.running.skeleton import read_head
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

MIB = 1 << 20


@pytest.mark.engine
def test_a_real_model_by_its_header_alone(smollm2, tmp_path):
    with FakeHub() as fake, looking(fake, tmp_path / "kept") as looker:
        fake.add("real/SmolLM2-GGUF", {smollm2.name: smollm2}, tags=("gguf",))
        sight = looker.look(Spot("real/SmolLM2-GGUF"), Task())
        assert header_bytes(fake) == 8192
        whole = looker.look_closely(sight, sight.offers[0], Task())
        assert header_bytes(fake) <= 4 * MIB
    local = recognise_path(smollm2)
    assert whole.info == local.info
    assert whole.heads == (read_head(smollm2),)
    assert whole.chat_template == local.info.metadata["tokenizer.chat_template"]
    sizing, load = Sizing(catalogue(), tmp_path / "sizing", lambda: None), Load("", context=4096, batch=256)
    of_heads = sizing.table_of_heads("llama_server", whole.heads, load)
    assert isinstance(of_heads, Table)
    assert of_heads == sizing.table("llama_server", [smollm2], load)
    assert of_heads.rows[0].model_bytes == 92 * MIB
