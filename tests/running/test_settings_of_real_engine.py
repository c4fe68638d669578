"""Settings reach the real engine: seen in what it tells of itself, or in its answers. Few loads, many settings each."""

import base64
import json
import re
import struct
from urllib.request import Request, urlopen

import pytest
from tests.formats.made_gguf import gguf, tensor

from weighbridge.chat.adapters import with_adapters
from weighbridge.library.index import Library
from weighbridge_engines.api import Load

WAIT_S = 120
pytestmark = pytest.mark.engine


@pytest.fixture
def model(smollm2):
    library = Library([smollm2.parent])
    library.scan()
    return library.resolve("SmolLM2-135M-Instruct.Q4_1")


@pytest.fixture
def loaded(supervisor, model):
    """Loads the model with some settings; its rows by name, and what asks it."""

    def load(**values):
        made = Load(str(model.path), alias=model.id, **{"context": 512, "threads": 1, "batch": 64, **values})
        lease = supervisor.lease(model, made).result(WAIT_S)
        [running] = supervisor.running()
        lease.give_back()

        def ask(path, **body):
            headers = {**lease.headers, "Content-Type": "application/json"}
            with urlopen(Request(lease.url + path, json.dumps(body).encode(), headers), timeout=WAIT_S) as answer:
                return json.loads(answer.read())

        return {row.name: row for row in running.settings}, ask, running

    return load


def answer(ask, words="Count to five.", **body):
    told = ask("/v1/chat/completions", messages=[{"role": "user", "content": words}], **body)
    return told["choices"][0]["message"]["content"], told


SAMPLING = {
    "temperature": 0.25,
    "top_k": 7,
    "top_p": 0.5,
    "min_p": 0.125,
    "typical_p": 0.75,
    "xtc_probability": 0.125,
    "xtc_threshold": 0.25,
    "repeat_penalty": 1.125,
    "repeat_last_n": 32,
    "frequency_penalty": 0.25,
    "presence_penalty": 0.125,
    "dry_multiplier": 0.5,
    "dry_base": 2.0,
    "dry_allowed_length": 3,
    "dry_penalty_last_n": 99,
    "mirostat": 0,
    "mirostat_tau": 3.0,
    "mirostat_eta": 0.5,
    "adaptive_target": 0.5,
    "adaptive_decay": 0.5,
}
TOLD = {
    "context": 512,
    "threads": 1,
    "batch_threads": 2,
    "slots": 2,
    "unified": True,
    "batch": 64,
    "micro_batch": 32,
    "key_type": "q8_0",
    "value_type": "q4_0",
    "flash_attention": True,
    "mapped": False,
    "prompt_cache_mib": 33,
    "checkpoints": 5,
    "checkpoint_step": 100,
    "rope_scale": 2,
    "rope_base": 50000.0,
}


def test_what_the_engine_tells_of_itself_is_what_was_asked_for(loaded):
    extra = {name: TOLD[name] for name in ("checkpoint_step", "rope_scale", "rope_base")}
    fields = {name: value for name, value in TOLD.items() if name not in extra}
    rows, _, running = loaded(**fields, gpu_layers=5, sampling={**SAMPLING, "max_tokens": 3}, extra=extra)
    told = {name: row.effective for name, row in rows.items()}
    assert {name: told[name] for name in (*TOLD, *SAMPLING)} == {**TOLD, **SAMPLING}
    assert not [row for row in rows.values() if row.differs and row.name != "gpu_layers"]
    assert running.slot_context == 512


def test_forms_of_the_answer_and_of_the_prompt(loaded):
    """A grammar, a template with values of its own, an end of its own, and the seed: seen in the answers."""
    template = "{% for m in messages %}{{ m.content }}{% endfor %}{{ harbour }} {% if thinking_mark %}x{% endif %}"
    sampling = {"grammar": 'root ::= ("ebb" | "flow") " "', "seed": 7, "temperature": 0.0, "max_tokens": 8}
    _, ask, _ = loaded(template=template, sampling=sampling, extra={"template_values": {"harbour": "Tide:"}})
    text, told = answer(ask)
    assert text.strip() in ("ebb", "flow")
    assert told["usage"]["completion_tokens"] <= 8
    made = ask("/apply-template", messages=[{"role": "user", "content": "Now. "}])
    assert made["prompt"].rstrip() == "Now. Tide:"
    free, told = answer(ask, grammar='root ::= "wave"')
    assert free == "wave"


def test_an_answer_is_held_to_the_loads_own_schema(loaded):
    schema = '{"type": "object", "properties": {"depth": {"type": "integer"}}, "required": ["depth"]}'
    _, ask, _ = loaded(sampling={"json_schema": schema, "temperature": 0.0, "max_tokens": 16})
    assert re.match(r'\s*\{\s*"depth"\s*:', answer(ask)[0])


def test_an_answer_that_never_ends_ends_at_its_limit(loaded):
    _, ask, _ = loaded(sampling={"ignore_eos": True, "max_tokens": 30, "samplers": "top_k", "top_k": 1})
    first, told = answer(ask, "Say yes.")
    assert told["usage"]["completion_tokens"] == 30
    assert answer(ask, "Say yes.")[0] == first


def test_a_draft_is_loaded_and_writes_ahead(loaded, model):
    extra = {"draft_tokens": 6, "draft_least_tokens": 1, "draft_least_probability": 0.25}
    rows, ask, _ = loaded(draft=str(model.path), sampling={"temperature": 0.0}, extra=extra)
    assert rows["draft"].effective == str(model.path)
    assert {name: rows[name].effective for name in extra} == extra
    _, told = answer(ask, max_tokens=24)
    assert told["timings"]["draft_n"] > 0 and told["timings"]["draft_n_accepted"] > 0


def test_a_chat_model_that_is_loaded_for_embeddings(loaded):
    rows, ask, running = loaded(task="embedding", batch=None, extra={"pooling": "last", "embedding_norm": 2})
    assert rows["batch"].effective == 512
    told = ask("/v1/embeddings", input=["tide", "tide", "ledger"])
    first, same, other = (each["embedding"] for each in told["data"])
    assert len(first) == 576 and first == pytest.approx(same, abs=1e-3) and first != pytest.approx(other, abs=1e-2)
    assert sum(one * one for one in first) == pytest.approx(1, abs=1e-3)
    assert running.state == "ready"
    packed = ask("/v1/embeddings", input="tide", encoding_format="base64")["data"][0]["embedding"]
    assert struct.unpack("<576f", base64.b64decode(packed)) == pytest.approx(first, abs=1e-3)


def test_a_model_that_is_loaded_to_rank(loaded):
    _, ask, running = loaded(task="rerank", batch=None)
    told = ask("/v1/rerank", query="tide", documents=["sea", "ledger", "wave"], top_n=2)
    assert len(told["results"]) == 2 and {"index", "relevance_score"} <= set(told["results"][0])
    assert running.state == "ready"


LORA = {"general.architecture": "llama", "general.type": "adapter", "adapter.type": "lora", "adapter.lora.alpha": 1.0}
WIDE, NARROW = 1536, 576


@pytest.fixture
def adapters(tmp_path):
    """Two adapters for SmolLM2: one that changes nothing, one that turns what a layer writes."""
    parts = (
        tensor("blk.3.ffn_down.weight.lora_a", (WIDE, 1)),
        tensor("blk.3.ffn_down.weight.lora_b", (1, NARROW), 0, 4 * WIDE),
    )
    paths = []
    for name, strength in (("still", 0.0), ("turning", 9.0)):
        numbers = [(-1.0) ** place for place in range(WIDE)]
        numbers += [strength * (-1.0) ** (place // 2) for place in range(NARROW)]
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(gguf(LORA, parts, struct.pack(f"<{len(numbers)}f", *numbers)))
        paths.append(str(path))
    return tuple(paths)


def test_adapters_are_chosen_per_request(loaded, adapters):
    sampling = {"temperature": 0.0, "max_tokens": 8}
    rows, ask, running = loaded(adapters=adapters, adapter_scales=(0.0, 0.0), prompt_cache_mib=64, sampling=sampling)
    assert rows["adapters"].effective == adapters
    assert (rows["prompt_cache_mib"].effective, rows["prompt_cache_mib"].reason) == (
        0,
        "setting.no_prompts_with_adapters",
    )

    def said(*lora):
        return answer(ask, **with_adapters({"lora": list(lora)} if lora else {}, running.load))[0]

    plain = said()
    assert said({"id": 0, "scale": 1.0}) == plain
    assert said({"id": 1, "scale": 1.0}) != plain
    assert said() == plain


def test_one_slot_has_its_share_where_they_share_nothing(loaded):
    rows, _, running = loaded(context=1024, slots=2, unified=False)
    assert (rows["slot_context"].effective, running.slot_context, running.context) == (512, 512, 1024)
