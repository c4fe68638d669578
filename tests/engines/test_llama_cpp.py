"""llama-cpp-python on a real model, and what of it can be seen without the package."""

import json
import math
from copy import copy
from importlib import util
from itertools import pairwise
from types import SimpleNamespace

import pytest

from weighbridge_engines import llama_log
from weighbridge_engines.api import (
    Capability,
    ContextExceeded,
    Load,
    Request,
    RequestRefused,
    TemplateRefused,
    Unsupported,
)
from weighbridge_engines.llama_cpp import ENGINE, devices, open_here
from weighbridge_engines.llama_cpp_model import LoadFailed
from weighbridge_engines.llama_cpp_parameters import OUTPUTS, checked, context_values, filled, model_values

installed = pytest.mark.skipif(util.find_spec("llama_cpp") is None, reason="llama-cpp-python is not installed")
GREEDY = {"temperature": 0.0}


def messages(*contents):
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": content} for place, content in enumerate(contents)]


def asked(*contents, **values):
    return Request(messages(*contents), **{"sampling": GREEDY, "max_tokens": 24, **values})


def said(chunks):
    return "".join(chunk.text for chunk in chunks)


# Without the package


def test_what_a_load_means_for_the_library():
    load = Load("/m.gguf", context=2000, threads=3, batch=64, key_type="q8_0", flash_attention=True, mapped=False)
    values = context_values(load)
    assert (values["n_ctx"], values["n_batch"], values["n_ubatch"], values["n_seq_max"]) == (2000, 64, 64, 1)
    assert (values["n_threads"], values["n_threads_batch"]) == (3, 3)
    assert (values["type_k"], values["flash_attn_type"]) == ("GGML_TYPE_Q8_0", "LLAMA_FLASH_ATTN_TYPE_ENABLED")
    assert (values["swa_full"], values["n_outputs_max"]) == (False, OUTPUTS)
    assert model_values(load) == {"n_gpu_layers": -1, "load_mode": "LLAMA_LOAD_MODE_NONE"}
    more = Load(
        "/m.gguf", gpu_layers=7, split_mode="row", main_gpu=1, whole_window=True, extra={"cache_on_card": False}
    )
    assert model_values(more) == {"n_gpu_layers": 7, "split_mode": "LLAMA_SPLIT_MODE_ROW", "main_gpu": 1}
    assert (context_values(more)["swa_full"], context_values(more)["offload_kqv"]) == (True, False)


@pytest.mark.parametrize(
    ("values", "code", "named"),
    [
        ({"slots": 2}, "setting.range", "slots"),
        ({"projector": "/p.gguf"}, "setting.unknown", "projector"),
        ({"draft": "/d.gguf"}, "setting.unknown", "draft"),
        ({"key_type": "q9_9"}, "setting.choice", "key_type"),
        ({"context": 0}, "setting.range", "context"),
        ({"task": "embedding"}, "setting.choice", "task"),
        ({"adapters": ("/a",), "adapter_scales": (1.0, 2.0)}, "setting.needs", "adapter_scales"),
        ({"value_type": "q8_0", "flash_attention": False}, "setting.needs", "value_type"),
        ({"extra": {"arguments": ("--x",)}}, "setting.unknown", "arguments"),
        ({"sampling": {"samplers": "top_k"}}, "setting.unknown", "samplers"),
        ({"sampling": {"top_p": 2.0}}, "setting.range", "top_p"),
    ],
)
def test_what_it_has_no_way_to_follow_is_refused_by_name(values, code, named):
    with pytest.raises(Unsupported) as refused:
        checked(Load("/m.gguf", **values))
    assert (refused.value.cause.code, refused.value.cause.values["name"]) == (code, named)


def test_an_older_build_is_told_what_it_knows_and_refuses_the_rest():
    library = SimpleNamespace(GGML_TYPE_Q8_0=8)
    parameters = SimpleNamespace(n_ctx=0, type_k=1)
    values = {"n_ctx": 5, "type_k": "GGML_TYPE_Q8_0", "n_outputs_max": 32}
    assert vars(filled(parameters, values, library)) == {"n_ctx": 5, "type_k": 8}
    with pytest.raises(Unsupported) as refused:
        filled(parameters, {"load_mode": 1}, library)
    assert refused.value.cause.values == {"name": "load_mode"}


def test_what_it_says_of_itself():
    assert Capability.SCORE in ENGINE.capabilities
    assert "GGML_NATIVE=OFF" in ENGINE.install
    assert {"context", "temperature", "gpu_layers", "cpu_experts"} <= {control.name for control in ENGINE.controls}


# With it

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def lines():
    return []


@pytest.fixture(scope="module")
def session(smollm2, lines):
    load = Load(str(smollm2), context=250, threads=1, batch_threads=2, batch=32)
    one = open_here(load, lines.append, lambda: False)
    yield one
    one.close()


@installed
def test_the_log_tells_what_is_really_used(session, lines):
    told = {}
    for line in lines:
        told |= llama_log.report(line)
    assert (told["context"], told["batch"], told["slots"]) == (256, 32, 1)
    assert (told["threads"], told["batch_threads"]) == (1, 2)
    assert told["flash_attention"] is True
    sums = [llama_log.report(line) for line in lines]
    # 30 layers x 3 KV heads x 64 elements x (K and V) x 2 bytes, for 256 cells.
    told_bytes = sum(one.get("kv_bytes", 0) for one in sums)
    assert told_bytes == pytest.approx(30 * 3 * 64 * 2 * 2 * 256, rel=0.001)  # told in hundredths of a MiB
    assert next(one["stage"] for one in sums if "stage" in one) == "reading"
    assert not any(line[:2] == "D " for line in lines)


@installed
def test_the_build_tells_its_devices_and_version():
    assert "cpu" in {device.kind for device in devices()}
    assert ENGINE.version()
    assert ENGINE.missing() is None


@installed
def test_an_answer_and_the_next_turn_reads_only_what_is_new(session):
    first = list(session.stream(asked("Say hello to the harbour master.", max_tokens=8)))
    assert said(first)
    assert first[-1].finish == "length"
    assert sum(chunk.tokens for chunk in first) == 8
    progress = [chunk for chunk in first if chunk.prompt_total is not None]
    assert progress[-1].prompt_done == progress[-1].prompt_total > 10
    assert progress[-1].prompt_tps > 0
    again = list(
        session.stream(asked("Say hello to the harbour master.", said(first), "And to his dog.", max_tokens=4))
    )
    assert again[0].prompt_cached >= progress[-1].prompt_total
    assert any(chunk.decode_tps for chunk in again)


@installed
def test_a_prompt_is_read_anew_where_that_is_asked(session):
    words = "Say hello to the harbour master."
    first = said(session.stream(asked(words, max_tokens=4)))
    assert next(session.stream(asked(words, max_tokens=4))).prompt_cached > 10
    again = list(session.stream(asked(words, max_tokens=4, cache_prompt=False)))
    assert again[0].prompt_cached == again[0].prompt_done == 0
    assert said(again) == first


@installed
def test_what_was_held_before_changes_no_answer(session):
    fresh = said(session.stream(asked("Count from one to five.")))
    list(session.stream(asked("Count from one to five.", fresh, "Go on.", max_tokens=3)))
    assert said(session.stream(asked("Count from one to five."))) == fresh


@installed
def test_seeds(session):
    def story(seed):
        sampling = {"temperature": 1.0, "seed": seed}
        return said(session.stream(asked("Tell me of the sea.", sampling=sampling, max_tokens=12)))

    assert story(7) == story(7)
    assert len({story(seed) for seed in range(4)}) > 1


@installed
@pytest.mark.parametrize(
    "sampling",
    [
        {"repeat_penalty": 1.3, "presence_penalty": 0.5, "frequency_penalty": 0.5},
        {"dry_multiplier": 0.8, "xtc_probability": 0.5},
        {"mirostat": 1},
        {"mirostat": 2},
        {"top_n_sigma": 1.0, "typical_p": 0.9, "dynatemp_range": 0.5},
        {"adaptive_target": 0.5, "min_keep": 2},
    ],
)
def test_every_sampler_chooses(session, sampling):
    assert said(session.stream(asked("Tell me of the sea.", sampling={"seed": 1, **sampling}, max_tokens=6)))


@installed
def test_penalties_look_at_what_was_said_before(session):
    words = "harbour harbour harbour harbour"
    plain = said(session.stream(asked(words, max_tokens=12)))
    penal = said(session.stream(asked(words, sampling={**GREEDY, "repeat_penalty": 5.0}, max_tokens=12)))
    assert plain != penal


@installed
def test_bias_and_an_answer_that_may_not_end(session):
    (token,) = session.tokens(" sea")[-1:]
    assert said(session.stream(asked("Hi", logit_bias={token: 100.0}, max_tokens=3))) == " sea" * 3
    with pytest.raises(RequestRefused, match="no token"):
        list(session.stream(asked("Hi", logit_bias={10**6: 1.0})))
    chunks = list(session.stream(asked("Say only: yes", ignore_eos=True, max_tokens=80)))
    assert (sum(chunk.tokens for chunk in chunks), chunks[-1].finish) == (80, "length")


@installed
def test_leaving_amid_the_prompt_or_the_answer_keeps_what_was_computed(session):
    long = "harbour " * 150
    stream = session.stream(asked(long))
    while next(stream).prompt_done < 64:
        pass
    stream.close()
    assert session.stream(asked(long)).__next__().prompt_cached >= 64
    stream = session.stream(asked("Count to a thousand.", max_tokens=None))
    for _ in range(5):
        next(stream)
    stream.close()
    assert said(session.stream(asked("Say hello.", max_tokens=4)))


@installed
def test_characters_of_several_tokens_are_whole(session):
    text = "😸 漢字 ñandú"
    grammar = f"root ::= {json.dumps(text, ensure_ascii=False)}"
    chunks = list(session.stream(asked("Repeat.", grammar=grammar, max_tokens=40)))
    assert said(chunks) == text
    assert sum(chunk.tokens for chunk in chunks) > len(text.split())
    assert not any("\ufffd" in chunk.text for chunk in chunks)


@installed
def test_a_stop_text_over_several_tokens(session):
    grammar = 'root ::= "one two three four"'
    chunks = list(session.stream(asked("Repeat.", grammar=grammar, stop=["wo thr"])))
    assert (said(chunks), chunks[-1].finish) == ("one t", "stop")


@installed
def test_a_schema_is_kept_to(session):
    schema = {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "blue"]}, "count": {"type": "integer"}},
        "required": ["colour", "count"],
    }
    told = json.loads(said(session.stream(asked("A colour and a count.", schema=schema, max_tokens=60))))
    assert set(told) == {"colour", "count"}
    assert told["colour"] in ("red", "blue") and isinstance(told["count"], int)
    assert json.loads(said(session.stream(asked("Hi", schema={"type": "string", "pattern": "^hi!$"})))) == "hi!"


@installed
@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": "integer", "minimum": 3}, "minimum"),
        ({"type": "string", "pattern": r"^hi\!$"}, "pattern"),
        ({"type": "string", "pattern": r"^[^@]+@(?:a|b)$"}, "pattern"),
        ({"type": "string", "pattern": "hi"}, "pattern"),
        ({"$ref": "#/$defs/nothing"}, "nothing"),
        ({"$ref": "https://example.org/schema"}, "schema"),
    ],
)
def test_a_schema_that_cannot_be_kept_to_is_refused_by_its_keyword(session, schema, named):
    with pytest.raises(RequestRefused, match=named) as refused:
        list(session.stream(asked("Hi", schema=schema)))
    assert refused.value.field == "response_format"
    assert said(session.stream(asked("Say hello.", max_tokens=2)))


@installed
@pytest.mark.parametrize("grammar", ["root ::= ((", 'root ::= root "a"', "nothing", 'other ::= "a"'])
def test_a_grammar_that_is_none_is_refused(session, grammar):
    with pytest.raises(RequestRefused) as refused:
        list(session.stream(asked("Hi", grammar=grammar)))
    assert refused.value.field == "grammar"


@installed
def test_a_prompt_too_long_is_told_with_both_numbers_and_the_next_is_answered(session):
    with pytest.raises(ContextExceeded) as exceeded:
        list(session.stream(asked("harbour " * 300)))
    assert exceeded.value.prompt_tokens > 300
    assert exceeded.value.context == 256
    assert said(session.stream(asked("Say hello.", max_tokens=2)))


@installed
def test_an_answer_ends_with_the_context(session):
    chunks = list(session.stream(asked("harbour " * 214, max_tokens=4096, ignore_eos=True)))
    total = next(chunk.prompt_total for chunk in chunks if chunk.prompt_total)
    assert chunks[-1].finish == "length"
    assert total + sum(chunk.tokens for chunk in chunks) == 256


@installed
def test_probabilities(session):
    chunks = list(session.stream(asked("Say hello.", logprobs=3, max_tokens=4)))
    told = [one for chunk in chunks for one in chunk.logprobs]
    assert len(told) == 4
    for one in told:  # greedy: what was chosen was the likeliest
        assert one.likeliest[0] == (one.data, one.logprob)
        assert sorted((logprob for _, logprob in one.likeliest), reverse=True) == [each for _, each in one.likeliest]
        assert sum(math.exp(logprob) for _, logprob in one.likeliest) <= 1.0 + 1e-9


@installed
def test_scores_are_those_of_the_answer(session):
    """A greedy answer's own probabilities are what the same tokens score."""
    tokens = session.tokens("The quick brown fox jumps over the lazy dog." * 8)
    scores = [one for part in session.score(tokens) for one in part]
    assert len(scores) == len(tokens) > 2 * OUTPUTS
    assert scores[0] is None
    assert all(one <= 0 for one in scores[1:])
    assert sum(scores[-20:]) > sum(scores[1:21])  # what is said again is likelier
    again = [one for part in session.score(tokens[:10]) for one in part]
    assert again[1:] == pytest.approx(scores[1:10], abs=0.02)
    with pytest.raises(RequestRefused):
        list(session.score([10**6]))
    with pytest.raises(ContextExceeded):
        list(session.score([1] * 2000))
    assert said(session.stream(asked("Say hello.", max_tokens=2)))


@installed
@pytest.mark.parametrize(
    "told",
    [
        [("system", "Be brief."), ("user", "a"), ("user", "b")],
        [("user", "a"), ("system", "Now answer."), ("user", "b")],
        [("assistant", "Welcome."), ("user", "a")],
        [("system", "Only this.")],
        [("user", "Tell me the answer."), ("assistant", "The answer is")],
    ],
)
def test_turns_in_any_order_are_answered(session, told):
    request = Request([{"role": role, "content": content} for role, content in told], 4, sampling=GREEDY)
    assert sum(chunk.tokens for chunk in session.stream(request)) > 0


STRICT = (
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant') }}{% endif %}"
    "<{{ m.role }}>{{ m.content }}{% endfor %}"
)


@installed
def test_a_template_that_insists_on_turns_gets_them(session):
    session = with_template(session, STRICT)
    request = Request([{"role": role, "content": role} for role in ("system", "user", "user", "assistant", "user")], 2)
    assert session._prompts.text(request) == "<user>system\n\nuser\n\nuser<assistant>assistant<user>user"
    with pytest.raises(RequestRefused, match="must alternate") as refused:
        session._prompts.text(Request([{"role": "tool", "content": "x"}, {"role": "user", "content": "y"}], 2))
    assert refused.value.field == "messages"


@installed
def test_a_hostile_template_is_a_clear_fault_and_not_run(session, tmp_path):
    mark = tmp_path / "marker"
    attack = "{{ ''.__class__.__mro__[1].__subclasses__()[0]('" + str(mark) + "') }}"
    with pytest.raises(TemplateRefused, match="forbidden"):
        list(with_template(session, attack).stream(asked("Hi")))
    assert not mark.exists()
    assert said(session.stream(asked("Say hello.", max_tokens=2)))


def with_template(session, template):
    twin = object.__new__(type(session))
    twin.__dict__.update(session.__dict__)
    twin._prompts = copy(session._prompts)
    twin._prompts._template = template
    return twin


@installed
def test_a_load_that_is_given_up_or_cannot_be(smollm2, tmp_path):
    lines = []
    with pytest.raises(LoadFailed):
        open_here(Load(str(smollm2), threads=1), lines.append, lambda: True)
    cut = tmp_path / "cut.gguf"
    with smollm2.open("rb") as whole:
        cut.write_bytes(whole.read(3_000_000))
    with pytest.raises(LoadFailed):
        open_here(Load(str(cut), threads=1), lines.append, lambda: False)
    assert ENGINE.diagnose(lines, 1).code == "engine.bad_model_file"


@installed
def test_the_other_settings_reach_the_library(smollm2):
    lines = []
    load = Load(
        str(smollm2),
        context=512,
        threads=1,
        batch=128,
        micro_batch=32,
        key_type="q8_0",
        value_type="q4_0",
        flash_attention=True,
        mapped=False,
        cpu_experts=1,
        extra={"rope_base": 50_000.0},
    )
    session = open_here(load, lines.append, lambda: False)
    try:
        assert said(session.stream(asked("Say hello.", max_tokens=2)))
    finally:
        session.close()
    told = {}
    for line in lines:
        told |= llama_log.report(line)
    assert (told["batch"], told["micro_batch"], told["mapped"]) == (128, 32, False)
    assert (told["key_type"], told["value_type"], told["flash_attention"]) == ("q8_0", "q4_0", True)
    assert any("freq_base" in line and "50000" in line for line in lines)


@installed
def test_one_batch_of_a_prompt_is_the_most_that_stop_waits_for(session):
    stream = session.stream(asked("harbour " * 120, max_tokens=1))
    done = [chunk.prompt_done for chunk in stream if chunk.prompt_total]
    assert max(later - earlier for earlier, later in pairwise(done)) == 32
