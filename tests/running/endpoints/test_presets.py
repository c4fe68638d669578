"""The table of kinds of servers, and which of them an address is."""

import pytest

from weighbridge.hub.addresses import origin_of
from weighbridge.running.endpoints.presets import OTHER, Key, KnownBy, Ready, preset_for, presets
from weighbridge_engines.api import Capability

KNOWN = presets()


def test_all_that_is_promised_is_there():
    told = "ollama lm_studio llama_server vllm tgi tensorrt_llm nim dynamo mlc ovms triton foundry_local"
    hosted = "openai openrouter groq cerebras together fireworks"
    assert {*told.split(), *hosted.split(), OTHER} <= set(KNOWN)
    assert all(KNOWN[name].local for name in told.split())
    assert not any(KNOWN[name].local for name in hosted.split())


@pytest.mark.parametrize("preset", KNOWN.values(), ids=list(KNOWN))
def test_each_holds_together(preset):
    assert preset.title and preset.base_path.startswith("/")
    assert (preset.known_by is KnownBy.NOTHING) == (preset.id == OTHER)
    assert preset.limit in ("max_tokens", "max_completion_tokens")
    assert (preset.ready is Ready.HEALTH) == bool(preset.health)
    assert preset.address == "" or origin_of(preset.address).loopback is preset.local
    engine = preset.engine("x", preset.base_path)
    assert engine.dialect.base_path == preset.base_path
    assert engine.dialect.fields is None or {"model", "messages", "stream"} <= engine.dialect.fields
    assert not set(preset.lacks) & (engine.dialect.fields or set())


@pytest.mark.parametrize("preset", [each for each in KNOWN.values() if not each.local], ids=lambda each: each.id)
def test_what_is_paid_for_is_asked_nothing_and_needs_a_key(preset):
    assert (preset.ready, preset.key) == (Ready.NOTHING, Key.NEEDED)
    assert preset.address.startswith("https:")


def test_what_a_server_does_not_know_its_engine_cannot():
    assert Capability.LOGPROBS not in KNOWN["groq"].engine("Groq", "/openai/v1").capabilities
    assert Capability.GRAMMAR in KNOWN["llama_server"].engine("x", "/v1").capabilities
    assert Capability.GRAMMAR not in KNOWN["vllm"].engine("x", "/v1").capabilities


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("http://127.0.0.1:11434", "ollama"),
        ("http://10.0.0.2:1234", "lm_studio"),
        ("http://10.0.0.2:30000", "sglang"),
        ("https://api.openai.com", "openai"),
        ("https://api.groq.com", "groq"),
        ("http://127.0.0.1:8000", OTHER),
        ("https://evil.example", OTHER),
        ("https://api.groq.com.evil.example", OTHER),
    ],
)
def test_what_a_server_most_likely_is(address, name):
    assert preset_for(origin_of(address)).id == name
