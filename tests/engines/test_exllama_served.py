"""Both ExLlama engines through the real worker and HTTP, over libraries of the same surface that compute nothing."""

import contextlib

import pytest
from tests.engines.exl_worker import events, model_in, serving

from weighbridge_engines.api import Cause

TWO_CARDS = {"STANDIN_CARDS": "2"}
LONG = [f" word{number}" for number in range(400)]
FULL = (
    "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 23.69 GiB of"
    " which 512.00 MiB is free."
)
BOTH = pytest.mark.parametrize("engine", ["exllamav2", "exllamav3"])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("exl")


@pytest.fixture(scope="module", params=["exllamav2", "exllamav3"])
def served(request, place):
    """A model that answers four words, two answers at a time, with everything beside it that goes together."""
    into = place / request.param
    adapter = into / "adapter"
    adapter.mkdir(parents=True)
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (adapter / name).write_text("{}")
    load = {"context": 1000, "slots": 2, "key_type": "q8_0", "adapters": (str(adapter),), "adapter_scales": (0.5,)}
    with serving(request.param, model_in(into / "model", cached=3), into, **load) as one:
        yield one


def test_an_answer_comes_in_pieces_with_the_librarys_own_figures(served):
    with served.asking(stream_options={"include_usage": True}, return_progress=True, temperature=0) as response:
        told = events(response)
    text = "".join(one["choices"][0]["delta"].get("content", "") for one in told if one["choices"])
    assert text == "One two three."
    assert [one["choices"][0]["finish_reason"] for one in told if one["choices"]][-1] == "stop"
    prompt = "<begin>user: Hello there "
    assert served.heard("encode")[-1] == [prompt, False, True]
    read = [one["prompt_progress"] for one in told if "prompt_progress" in one]
    assert [(one["processed"], one["total"], one["cache"]) for one in read] == [(2, 3, 3), (3, 3, 3)]
    last = told[-1]
    assert last["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert last["timings"]["predicted_per_second"] == 5 / 0.25
    assert last["timings"]["cache_n"] == 3


def test_a_limit_and_a_stop_text_end_an_answer(served):
    choice = served.ask(max_tokens=2).json()["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("One two", "length")
    choice = served.ask(stop=["three"]).json()["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("One two", "stop")
    assert "three" in served.heard("job")[-1][3]


def test_the_load_is_told_as_it_goes_on_and_as_it_is(served):
    told = served.reported()
    stages = [one["stage"] for one in told if "stage" in one]
    assert list(dict.fromkeys(stages)) == ["starting", "kernels", "reading", "weights", "warming"]
    steps = [(one["done"], one["total"]) for one in told if one.get("stage") == "weights"]
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]
    compiled = [one for one in told if one.get("stage") == "kernels" and "done" in one]
    assert [one["done"] for one in compiled] == [*range(1, len(compiled) + 1)]
    assert compiled
    values = {name: value for one in told for name, value in one.items()}
    assert (values["context"], values["slots"], values["key_type"]) == (1024, 2, "q8_0")
    assert (values["weights_bytes"], values["kv_bytes"], values["device"]) == (2 << 30, 1 << 30, "cuda:0")


def test_an_adapter_is_put_on_the_model(served):
    ((path, scale),) = served.heard("lora")
    assert path.endswith("adapter_model.safetensors")
    assert scale == 0.5


def test_a_prompt_that_is_too_long_is_told_with_both_numbers(served):
    answer = served.ask("word " * 2000)
    assert answer.status_code == 400
    told = answer.json()["error"]
    assert told["n_prompt_tokens"] == 2001
    assert told["n_ctx"] == {"exllamav2": 512, "exllamav3": 1024}[served.engine.id]


def test_what_the_engine_has_not_is_refused_by_name(served):
    for name in ("mirostat", "top_n_sigma"):
        answer = served.ask(**{name: 2})
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, name)


@BOTH
def test_two_answers_are_written_at_once_and_one_is_left_at_its_end(engine, tmp_path):
    folder = model_in(tmp_path / "model", answer=LONG, pause_s=0.02)
    with serving(engine, folder, tmp_path, slots=2, context=4096) as one:
        with one.asking("a") as first, one.asking("b") as second:
            lines = first.iter_lines(), second.iter_lines()
            seen = [next(line for line in each if "word5" in line) for each in lines]
        assert len(seen) == 2
        one.until(lambda: sorted(one.heard("cancelled")) == [0, 1])
        assert one.ask(max_tokens=1).json()["usage"]["completion_tokens"] == 1


@BOTH
def test_memory_that_runs_out_at_the_load_is_told_with_its_numbers(engine, tmp_path):
    at = {"exllamav2": "load", "exllamav3": "warm"}[engine]
    with serving(engine, model_in(tmp_path / "model", **{at: FULL}), tmp_path) as one:
        cause = one.diagnosed()
        assert one.heard("unloaded") == [1]
    assert cause.code == "engine.out_of_memory"
    told = {name: cause.values[name] for name in ("device", "needed_bytes", "free_bytes")}
    assert told == {"device": "cuda:1", "needed_bytes": 2 << 30, "free_bytes": 512 << 20}


@BOTH
def test_memory_that_runs_out_amid_an_answer_ends_it_in_words_and_not_the_engine(engine, tmp_path):
    with serving(engine, model_in(tmp_path / "model", step=FULL), tmp_path) as one:
        answer = one.ask()
        told = "OutOfMemory: cuda:1 has no more memory for this answer: 2048 MiB were asked for, 512 MiB are free."
        assert (answer.status_code, answer.json()["error"]["message"]) == (500, told)
        assert one.heard("cancelled") == [0]
        assert one.ask(max_tokens=1).json()["choices"][0]["message"]["content"] == "One"


def test_a_card_that_is_dead_ends_the_engine(tmp_path):
    words = "AcceleratorError: CUDA error: an illegal memory access was encountered"
    with serving("exllamav3", model_in(tmp_path / "model", step=words), tmp_path) as one:
        with contextlib.suppress(Exception):
            one.ask()
        cause = one.diagnosed()
    assert cause.code == "engine.card_failed"
    assert cause.values["reason"] == "an illegal memory access was encountered"


@BOTH
def test_an_architecture_that_is_not_known_is_not_loaded_as_another(engine, tmp_path):
    with serving(engine, model_in(tmp_path / "model", architecture="NewForCausalLM"), tmp_path) as one:
        cause = one.diagnosed()
    assert (cause.code, cause.values["architecture"]) == ("engine.unknown_architecture", "NewForCausalLM")


def test_exllamav3_is_told_all_that_a_load_asks_for(tmp_path):
    draft = model_in(tmp_path / "draft")
    load = {
        "context": 512,
        "split": (20.0, 8.0),
        "split_mode": "tensor",
        "key_type": "q6",
        "value_type": "q4",
        "batch": 600,
        "draft": str(draft),
        "prompt_cache_mib": 64,
        "extra": {"draft_tokens": 3},
        "environment": TWO_CARDS,
    }
    with serving("exllamav3", model_in(tmp_path / "model"), tmp_path, **load) as one:
        cache = [512, "CacheLayer_quant", 1, 3, {"k_bits": 6, "v_bits": 4}]
        assert one.heard("cache") == [cache, cache]
        assert one.heard("load") == [[None, [20, 8], False, 512, 1], [None, [17, 8], True, 512, 1]]
        assert one.heard("generator") == [[1, 512, 3, 64 << 20, 64 << 20]]
        values = {name: value for told in one.reported() for name, value in told.items()}
        assert (values["draft"], values["draft_tokens"], values["split_mode"]) == (str(draft), 3, "tensor")


def test_exllamav3_writes_to_a_schema_and_tells_probabilities(tmp_path):
    with serving("exllamav3", model_in(tmp_path / "model"), tmp_path) as one:
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
        asked = {"type": "json_schema", "json_schema": {"schema": schema}}
        told = one.ask(response_format=asked, logprobs=True, top_logprobs=2).json()["choices"][0]["logprobs"]["content"]
        assert one.heard("schema") == [schema]
        assert [one["token"] for one in told] == ["One", " two", " three", "."]
        assert told[0]["logprob"] == pytest.approx(-0.6931, abs=1e-4)
        assert [one["token"] for one in told[0]["top_logprobs"]] == ["One", "<end>"]
        for refused in ({"not": {}}, {"x-guidance": {"lenient": True}}):
            answer = one.ask(response_format={"type": "json_schema", "json_schema": {"schema": refused}})
            assert (answer.status_code, answer.json()["error"]["param"]) == (400, "response_format")


@pytest.mark.parametrize("lacking", [{"STANDIN_NO_FLASH": "1"}, {"STANDIN_TORCH": "older"}])
def test_exllamav2_without_flash_attention_gives_one_answer_at_a_time_and_says_so(lacking, tmp_path):
    with serving("exllamav2", model_in(tmp_path / "model"), tmp_path, slots=4, environment=lacking) as one:
        values = {name: value for told in one.reported() for name, value in told.items()}
        assert (values["slots"], values["flash_attention"]) == (1, False)
        assert one.heard("generator") == [[1, 2048, 8, 0, False]]
        assert one.ask().json()["choices"][0]["message"]["content"] == "One two three."


def test_exllamav2_is_told_all_that_a_load_asks_for(tmp_path):
    draft = model_in(tmp_path / "draft")
    load = {"context": 300, "draft": str(draft), "key_type": "q4", "extra": {"reserve_gib": (1.5,)}}
    with serving("exllamav2", model_in(tmp_path / "model"), tmp_path, environment=TWO_CARDS, **load) as one:
        cache = ["ExLlamaV2Cache_Q4", 512, True, 512, 512]
        assert one.heard("cache") == [cache, cache]
        assert one.heard("load_autosplit") == [[None], [[int(1.5 * (1 << 30)), 64 << 20]]]
        assert one.heard("whole") == ["not cut", "not filled up"]
        one.ask(max_tokens=2, seed=7)
        assert one.heard("job")[-1][:4] == [2 + 4, 0, 7, [0, 7]]


def test_exllamav2_splits_by_parts_of_each_matrix(tmp_path):
    load = {"context": 512, "split": (10.0, 12.0), "split_mode": "tensor", "environment": TWO_CARDS}
    with serving("exllamav2", model_in(tmp_path / "model"), tmp_path, **load) as one:
        assert one.heard("load_tp") == [[[10, 12], 512, "ExLlamaV2Cache"]]
        assert one.heard("cache") == [["ExLlamaV2Cache_TP", 512, False, 512, 512]]


@BOTH
def test_a_card_that_cannot_be_used_is_told_before_the_library_fails_with_other_words(engine, tmp_path):
    with serving(engine, model_in(tmp_path / "model"), tmp_path, environment={"STANDIN_TORCH": "cpu"}) as one:
        assert one.diagnosed() == Cause("exl.cpu_torch", {"torch": "2.13.0+cpu"})
