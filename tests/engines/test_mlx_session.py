"""mlx-lm on small models with random weights, made here: a real load, real answers, no model of anybody."""

import gc
import json
import math
import os
import shutil
from contextlib import closing
from itertools import pairwise

import pytest
from tests.engines.mlx_made import make

from weighbridge_engines.api import ContextExceeded, Load, Request, RequestRefused, TemplateRefused, Unsupported
from weighbridge_engines.installed import is_installed
from weighbridge_engines.mlx import ENGINE, devices, open_here
from weighbridge_engines.mlx_log import report
from weighbridge_engines.mlx_model import LoadGivenUp

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(ENGINE.missing() is not None, reason="mlx-lm is not installed, or not with what computes"),
]
formed = pytest.mark.skipif(not is_installed("llguidance"), reason="llguidance is not installed")
GREEDY = {"temperature": 0.0}
SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


def messages(*contents):
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": content} for place, content in enumerate(contents)]


def asked(*contents, **values):
    return Request(messages(*contents), **{"sampling": GREEDY, "max_tokens": 12, **values})


def said(chunks):
    return "".join(chunk.text for chunk in chunks)


def opened(folder, lines=None, **values):
    load = Load(str(folder), **{"context": 400, "batch": 16, **values})
    return open_here(load, [].append if lines is None else lines.append, lambda: False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make(tmp_path_factory.mktemp("mlx") / "four bits")


@pytest.fixture(scope="module")
def lines():
    return []


@pytest.fixture(scope="module")
def session(folder, lines):
    one = opened(folder, lines)
    yield one
    one.close()


@pytest.fixture
def another(folder):
    """Opens the same model otherwise; closed at the end."""
    opens = []

    def open_it(**values):
        opens.append(opened(values.pop("folder", folder), **values))
        return opens[-1]

    yield open_it
    for one in opens:
        one.close()


def told_by(lines):
    told = {}
    for line in lines:
        told |= report(line)
    return told


def test_the_build_tells_its_devices_and_version():
    assert devices()[-1].kind == "cpu"
    assert ENGINE.version()


def test_the_log_tells_what_is_really_used(session, lines):
    told = told_by(lines)
    assert (told["context"], told["trained_context"], told["batch"], told["slots"]) == (400, 512, 16, 1)
    assert [report(line)["stage"] for line in lines if "stage" in report(line)] == [
        "reading",
        "weights",
        "context",
        "warming",
    ]
    assert told["weights_bytes"] > 100_000
    assert told["layers"] == 2
    if told["device"] == "Host":
        assert (told["gpu_layers"], told["compute_type"], told["key_type"]) == (0, "float32", "f32")


def test_an_answer_and_the_next_turn_reads_only_what_is_new(session):
    first = list(session.stream(asked("hello harbour master", max_tokens=8)))
    assert sum(chunk.tokens for chunk in first) == 8
    assert first[-1].finish == "length"
    progress = [chunk for chunk in first if chunk.prompt_total is not None]
    assert progress[-1].prompt_done == progress[-1].prompt_total > 16
    assert progress[-1].prompt_tps > 0
    assert any(chunk.decode_tps for chunk in first)
    again = list(session.stream(asked("hello harbour master", "hello", "count", max_tokens=4)))
    read = [chunk for chunk in again if chunk.prompt_total is not None]
    assert {chunk.prompt_cached for chunk in read} == {progress[-1].prompt_total}
    anew = next(iter(session.stream(asked("hello harbour master", "hello", "count", cache_prompt=False))))
    assert anew.prompt_cached == 0


def test_what_was_held_before_changes_no_answer(session):
    fresh = said(session.stream(asked("hello count", cache_prompt=False)))
    list(session.stream(asked("hello count", fresh, "harbour", max_tokens=3)))
    assert said(session.stream(asked("hello count"))) == fresh


def test_seeds(session):
    def story(seed):
        return said(session.stream(asked("harbour", sampling={"temperature": 1.5, "top_p": 1.0, "seed": seed})))

    assert story(7) == story(7)
    assert len({story(seed) for seed in range(4)}) > 1


@pytest.mark.parametrize(
    "sampling",
    [
        {"temperature": 1.0, "top_k": 3, "top_p": 0.0},
        {"temperature": 1.0, "top_k": 100_000, "min_p": 0.2, "min_keep": 2},
        {"temperature": 1.0, "xtc_probability": 1.0, "xtc_threshold": 0.9},
        {"repeat_penalty": 1.3, "presence_penalty": 0.5, "frequency_penalty": 0.5, "repeat_last_n": 0},
    ],
)
def test_every_sampler_chooses(session, sampling):
    chunks = session.stream(asked("harbour", sampling={"seed": 1, **sampling}, max_tokens=6, ignore_eos=True))
    assert sum(chunk.tokens for chunk in chunks) == 6


def test_a_share_of_nothing_is_the_likeliest_token(session):
    plain = said(session.stream(asked("harbour")))
    assert said(session.stream(asked("harbour", sampling={"temperature": 1.0, "top_p": 0.0}))) == plain


def test_penalties_look_at_what_was_said_before_whether_it_is_read_again_or_not(session):
    penal = {**GREEDY, "repeat_penalty": 50.0, "repeat_last_n": 300}
    text = said(session.stream(asked("harbour" * 5, sampling=penal, cache_prompt=False)))
    assert text != said(session.stream(asked("harbour" * 5)))
    assert said(session.stream(asked("harbour" * 5, sampling=penal))) == text


def test_bias_and_an_answer_that_may_not_end(session):
    (token,) = session.tokens("hello")
    assert said(session.stream(asked("count", logit_bias={token: 100.0}, max_tokens=3))) == "hello" * 3
    (end,) = session.tokens("<|im_end|>")
    ended = list(session.stream(asked("count", logit_bias={end: 100.0})))
    assert (sum(chunk.tokens for chunk in ended), ended[-1].finish) == (0, "stop")
    endless = list(session.stream(asked("count", logit_bias={end: 100.0}, ignore_eos=True)))
    assert (sum(chunk.tokens for chunk in endless), endless[-1].finish) == (12, "length")
    with pytest.raises(RequestRefused, match="no such token"):
        list(session.stream(asked("count", logit_bias={10**6: 1.0})))


def test_a_sampler_that_it_has_not_is_refused(session):
    with pytest.raises(RequestRefused) as refused:
        list(session.stream(asked("count", sampling={"mirostat": 2})))
    assert refused.value.field == "mirostat"


def test_leaving_amid_the_prompt_or_the_answer_keeps_what_was_computed(session):
    long = "count " * 60
    stream = session.stream(asked(long, cache_prompt=False))
    while next(stream).prompt_done < 64:
        pass
    stream.close()
    stream = session.stream(asked(long))
    assert next(stream).prompt_cached >= 64
    for chunk in stream:
        if chunk.tokens:
            break
    stream.close()
    whole = said(session.stream(asked(long)))
    assert said(session.stream(asked(long, cache_prompt=False))) == whole


def test_one_batch_of_a_prompt_is_the_most_that_stop_waits_for(session):
    request = asked("count " * 30, max_tokens=1, cache_prompt=False)
    done = [chunk.prompt_done for chunk in session.stream(request) if chunk.prompt_total]
    assert max(later - earlier for earlier, later in pairwise(done)) == 16


def test_a_stop_text_over_several_tokens(session):
    (token,) = session.tokens("hello")
    chunks = list(session.stream(asked("count", logit_bias={token: 100.0}, stop=["lohel"])))
    assert (said(chunks), chunks[-1].finish) == ("hel", "stop")


@formed
def test_characters_of_several_tokens_are_whole(session):
    text = "😸 漢字 ñandú"
    chunks = list(
        session.stream(asked("count", grammar=f"root ::= {json.dumps(text, ensure_ascii=False)}", max_tokens=40))
    )
    assert said(chunks) == text
    assert sum(chunk.tokens for chunk in chunks) > len(text)


@formed
def test_a_schema_is_kept_to(session):
    told = json.loads(said(session.stream(asked("count", schema=SCHEMA, max_tokens=90))))
    assert isinstance(told["count"], int)
    least = {"type": "integer", "minimum": 7, "maximum": 9}
    assert json.loads(said(session.stream(asked("count", schema=least, max_tokens=30)))) in (7, 8, 9)


@formed
@pytest.mark.parametrize(
    ("values", "field", "named"),
    [
        ({"schema": {"type": "array", "uniqueItems": True}}, "response_format", "uniqueItems"),
        ({"schema": {"$ref": "https://example.org/schema"}}, "response_format", "example.org"),
        ({"schema": {"type": "foo"}}, "response_format", "foo"),
        ({"schema": {"$ref": "#"}}, "response_format", "leads back"),
        ({"grammar": "root ::= (("}, "grammar", "no grammar"),
        ({"grammar": "nothing"}, "grammar", "no grammar"),
        ({"grammar": 'other ::= "a"'}, "grammar", "no grammar"),
        ({"schema": SCHEMA, "ignore_eos": True}, "ignore_eos", "form"),
    ],
)
def test_a_form_that_cannot_be_kept_to_is_refused_by_name(session, values, field, named):
    with pytest.raises(RequestRefused, match=named) as refused:
        list(session.stream(asked("count", **values)))
    assert refused.value.field == field
    assert sum(chunk.tokens for chunk in session.stream(asked("count", max_tokens=2))) == 2


def test_a_prompt_too_long_is_told_with_both_numbers_and_the_next_is_answered(session):
    with pytest.raises(ContextExceeded) as exceeded:
        list(session.stream(asked("count " * 300)))
    assert exceeded.value.prompt_tokens > 600
    assert exceeded.value.context == 400
    assert said(session.stream(asked("count", max_tokens=2))) is not None


def test_an_answer_ends_with_the_context(session):
    chunks = list(session.stream(asked("count " * 180, max_tokens=4096, ignore_eos=True)))
    total = next(chunk.prompt_total for chunk in chunks if chunk.prompt_total)
    assert (total + sum(chunk.tokens for chunk in chunks), chunks[-1].finish) == (400, "length")


def test_a_shifted_context_goes_on(another):
    session = another(context=64, extra={"context_shift": True})
    chunks = list(session.stream(asked("hello", max_tokens=120, ignore_eos=True)))
    assert sum(chunk.tokens for chunk in chunks) == 120
    again = list(session.stream(asked("hello", max_tokens=2)))
    assert again[0].prompt_cached == 0
    with pytest.raises(ContextExceeded):
        list(session.stream(asked("count " * 60)))


def test_probabilities(session):
    chunks = list(session.stream(asked("hello", logprobs=3, max_tokens=4, ignore_eos=True)))
    told = [one for chunk in chunks for one in chunk.logprobs]
    assert len(told) == 4
    for one in told:  # greedy: what was chosen was the likeliest
        assert one.likeliest[0] == (one.data, one.logprob)
        assert sorted((logprob for _, logprob in one.likeliest), reverse=True) == [each for _, each in one.likeliest]
        assert sum(math.exp(logprob) for _, logprob in one.likeliest) <= 1.0 + 1e-5


def test_scores_are_those_of_an_answer(session):
    chunks = list(session.stream(asked("count", logprobs=0, max_tokens=3, ignore_eos=True)))
    told = [one.logprob for chunk in chunks for one in chunk.logprobs]
    scores = [one for part in session.score(list(session._held.tokens)) for one in part]
    assert scores[-3:] == pytest.approx(told, abs=0.02)
    (token,) = session.tokens("hello")
    scores = [one for part in session.score([token] * 50) for one in part]
    assert (len(scores), scores[0]) == (50, None)
    assert all(one < 0 for one in scores[1:])
    assert [one for part in session.score([token] * 9) for one in part][1:] == pytest.approx(scores[1:9], abs=0.02)
    with pytest.raises(RequestRefused):
        list(session.score([10**6]))
    with pytest.raises(ContextExceeded):
        list(session.score([1] * 500))
    assert list(session.score([1])) == [[None]]


@pytest.mark.parametrize(
    "told",
    [
        [("system", "Be brief."), ("user", "a"), ("user", "b")],
        [("assistant", "Welcome."), ("user", "a")],
        [("user", "count"), ("assistant", "one")],
    ],
)
def test_turns_in_any_order_are_answered(session, told):
    request = Request(
        [{"role": role, "content": content} for role, content in told], 4, sampling=GREEDY, ignore_eos=True
    )
    assert sum(chunk.tokens for chunk in session.stream(request)) == 4


@formed
def test_a_last_turn_of_the_assistant_is_gone_on_with_and_keeps_its_space(session):
    request = asked("count", "one", grammar='root ::= " two"')
    assert said(session.stream(request)) == " two"


def test_half_a_character_in_a_message_is_read_as_something_else(session):
    assert sum(chunk.tokens for chunk in session.stream(asked("\ud83d", max_tokens=2, ignore_eos=True))) == 2


def test_a_hostile_template_is_a_clear_fault_and_not_run(another, tmp_path):
    mark = tmp_path / "marker"
    attack = "{{ ''.__class__.__mro__[1].__subclasses__()[0]('" + str(mark) + "') }}"
    session = another(template=attack)
    with pytest.raises(TemplateRefused, match="forbidden"):
        list(session.stream(asked("count")))
    assert not mark.exists()


def test_a_template_that_makes_nothing_is_refused(another):
    with pytest.raises(RequestRefused) as refused:
        list(another(template="{# nothing #}").stream(asked("count")))
    assert refused.value.field == "messages"


def test_a_model_whose_template_is_mlx_lms_own_code(another, folder, tmp_path):
    coded = shutil.copytree(folder, tmp_path / "coded")
    (coded / "chat_template.jinja").unlink()
    settings = json.loads((coded / "tokenizer_config.json").read_text())
    (coded / "tokenizer_config.json").write_text(json.dumps({**settings, "chat_template_type": "deepseek_v32"}))
    chunks = list(another(folder=coded).stream(asked("count", max_tokens=2, ignore_eos=True)))
    assert sum(chunk.tokens for chunk in chunks) == 2
    with pytest.raises(RequestRefused, match="takes no such messages"):
        list(another(folder=coded).stream(Request([{"role": "tool", "content": "x"}], 2)))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"key_type": "q8_0"}, "q8_0"),
        ({"value_type": "q4_0", "extra": {"cache_group": "32", "cache_quantised_from": 20}}, "q4_0"),
    ],
)
def test_a_smaller_cache_is_kept_over_turns(another, values, kind):
    lines = []
    session = another(lines=lines, **values)
    assert (told_by(lines)["key_type"], told_by(lines)["value_type"]) == (kind, kind)
    first = said(session.stream(asked("count", max_tokens=30, ignore_eos=True)))
    assert session.stream(asked("count", first, "hello")).__next__().prompt_cached > 4
    assert {type(cache).__name__ for cache in session._held.caches} == {"QuantizedKVCache"}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_draft_changes_the_speed_and_no_answer(another, session, tmp_path, seed):
    lines = []
    draft = make(tmp_path / "draft", seed=seed)
    drafted = another(lines=lines, draft=str(draft), extra={"draft_tokens": 4})
    assert (told_by(lines)["draft"], told_by(lines)["draft_tokens"]) == (str(draft), 4)
    penal = {**GREEDY, "repeat_penalty": 1.5, "frequency_penalty": 0.5}
    for values in ({}, {"sampling": penal}, {"max_tokens": 1}, {"logprobs": 1}):
        request = asked("hello count", **{"max_tokens": 20, "ignore_eos": True, **values})
        assert said(drafted.stream(request)) == said(session.stream(request))
    stream = drafted.stream(asked("hello count", max_tokens=20, ignore_eos=True))
    for chunk in stream:
        if chunk.tokens:
            break
    stream.close()
    turn = asked("hello count", "hello", "count", max_tokens=20, ignore_eos=True)
    assert said(drafted.stream(turn)) == said(session.stream(turn))


@formed
def test_a_draft_keeps_to_a_form(another, session, folder):
    request = asked("count", schema=SCHEMA, max_tokens=60)
    assert said(another(draft=str(folder)).stream(request)) == said(session.stream(request))


def adapter(folder, size):
    import mlx.core as mx

    folder.mkdir()
    parameters = {"rank": 4, "scale": 2.0, "dropout": 0.0, "keys": ["self_attn.q_proj"]}
    config = {"fine_tune_type": "lora", "num_layers": 2, "lora_parameters": parameters}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    shapes = {"lora_a": (size, 4), "lora_b": (4, 128)}
    weights = {
        f"model.layers.{layer}.self_attn.q_proj.{name}": mx.random.normal(shape, key=mx.random.key(layer))
        for layer in range(2)
        for name, shape in shapes.items()
    }
    mx.save_safetensors(str(folder / "adapters.safetensors"), weights)
    return str(folder)


def test_an_adapter_changes_answers_as_strongly_as_it_is_asked(another, session, tmp_path):
    path = adapter(tmp_path / "adapter", 128)
    lines = []
    plain = said(session.stream(asked("hello")))
    assert said(another(adapters=(path,), lines=lines).stream(asked("hello"))) != plain
    assert told_by(lines)["adapters"] == path
    assert said(another(adapters=(path,), adapter_scales=(0.0,)).stream(asked("hello"))) == plain


def fault_of(folder, **values):
    lines = []
    with pytest.raises(Exception) as raised:
        opened(folder, lines, **values)
    cause = ENGINE.diagnose(lines, None)
    assert cause is not None, raised.value
    return cause


def damaged(folder, tmp_path, **files):
    made = shutil.copytree(folder, tmp_path / "damaged")
    for name, text in files.items():
        path = made / f"{name}.json"
        path.unlink() if text is None else path.write_text(text)
    return made


def test_a_file_that_is_cut_short(folder, tmp_path):
    made = damaged(folder, tmp_path)
    for size in (90_000, 100, 0):
        os.truncate(made / "model.safetensors", size)
        assert fault_of(made).code == "engine.bad_model_file"
    (made / "model.safetensors").unlink()
    assert fault_of(made).code == "engine.no_model_file"


def test_a_folder_without_a_tokenizer(folder, tmp_path):
    assert fault_of(damaged(folder, tmp_path, tokenizer=None)).code == "engine.no_tokenizer"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"model_type": "nosuch"}, "engine.unknown_architecture"),
        ({"model_type": "cache"}, "engine.unknown_architecture"),
        ({"model_file": "own.py"}, "engine.own_code"),
        ({"num_hidden_layers": 3}, "engine.other_layout"),
        ({"hidden_size": 192}, "engine.other_layout"),
    ],
)
def test_settings_that_do_not_go_with_this_library(folder, tmp_path, changes, code):
    config = json.loads((folder / "config.json").read_text()) | changes
    made = damaged(folder, tmp_path, config=json.dumps(config))
    mark = tmp_path / "ran"
    (made / "own.py").write_text(f"open({str(mark)!r}, 'w')")
    assert fault_of(made).code == code
    assert not mark.exists()


def test_a_tokenizer_that_is_a_program_is_not_run(folder, tmp_path):
    settings = json.dumps({"auto_map": {"AutoTokenizer": ["own.Y", None]}, "tokenizer_class": "Y"})
    made = damaged(folder, tmp_path, tokenizer_config=settings, tokenizer=None)
    mark = tmp_path / "ran"
    (made / "own.py").write_text(f"open({str(mark)!r}, 'w')\nclass Y: ...\n")
    assert fault_of(made).code == "engine.own_code"
    assert not mark.exists()


def test_what_lies_beside_a_model_must_be_there_and_go_with_it(folder, tmp_path):
    assert fault_of(folder, adapters=("/nowhere",)).code == "engine.no_adapter_file"
    assert fault_of(folder, adapters=(adapter(tmp_path / "a", 64),)).code == "engine.adapter_mismatch"
    assert fault_of(folder, draft="/nowhere").code == "engine.no_draft_file"
    other = json.loads((folder / "tokenizer.json").read_text())
    other["added_tokens"][0]["content"] = "<|other|>"
    made = damaged(folder, tmp_path, tokenizer=json.dumps(other))
    assert fault_of(folder, draft=str(made)).code == "engine.draft_mismatch"


def test_a_window_cannot_be_shifted_packed_or_drafted_for(folder, tmp_path):
    changes = {"model_type": "gemma3_text", "sliding_window": 32, "sliding_window_pattern": 2}
    made = make(tmp_path / "window", bits=None, changes={**changes, "query_pre_attn_scalar": 64})
    session = opened(made)
    first = said(session.stream(asked("count " * 40, max_tokens=4)))
    assert said(session.stream(asked("count " * 40, max_tokens=4))) == first  # what was forgotten is read again
    session.close()
    assert fault_of(made, key_type="q8_0").code == "engine.load_refused"
    assert fault_of(made, extra={"context_shift": True}).code == "engine.no_shift"
    assert fault_of(folder, draft=str(made)).code == "engine.no_draft_here"


def test_nothing_is_fetched_and_what_is_not_wanted_is_given_up(folder):
    assert fault_of("someone/model").code == "engine.no_model_file"
    with pytest.raises(LoadGivenUp):
        open_here(Load(str(folder)), [].append, lambda: True)
    with pytest.raises(Unsupported):
        opened(folder, slots=2)


def test_what_is_closed_holds_no_memory(folder):
    import mlx.core as mx

    gc.collect()  # what earlier tests have left is not freed amid this one
    before = mx.get_active_memory()
    with closing(opened(folder)) as session:
        list(session.stream(asked("count " * 20, max_tokens=3)))
        held = mx.get_active_memory()
    assert held > before + 100_000
    assert mx.get_active_memory() <= before
    assert mx.get_cache_memory() == 0
