"""ONNX Runtime GenAI on a folder that was made for it: two layers, random weights, a token for each byte. And what of
it can be seen without the package.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from weighbridge_engines import onnx_genai
from weighbridge_engines.api import ContextExceeded, Load, Request, RequestRefused, Unsupported
from weighbridge_engines.installed import is_installed
from weighbridge_engines.onnx_genai_failures import diagnose
from weighbridge_engines.onnx_genai_folder import cache_names, danger, read
from weighbridge_engines.onnx_genai_settings import checked, context_for, overlay, provider_of, search
from weighbridge_engines.session_log import report

TINY = Path(__file__).parents[1] / "data" / "onnx_tiny"
GREEDY = {"temperature": 0.0}
installed = pytest.mark.skipif(not is_installed("onnxruntime_genai"), reason="onnxruntime-genai is not installed")


def changed(folder, change):
    """The folder's settings with a change made to them."""
    told = json.loads((TINY / "genai_config.json").read_text(encoding="utf-8"))
    change(told)
    shutil.copytree(TINY, folder, dirs_exist_ok=True)
    (folder / "genai_config.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


# Without the package


def test_what_a_load_means():
    assert overlay(Load("/m", threads=3)) == {"model": {"decoder": {"session_options": {"intra_op_num_threads": 3}}}}
    assert context_for(Load("/m", context=900), 512) == 512
    assert context_for(Load("/m", context=300), 512) == 300
    assert context_for(Load("/m"), None) == 4096
    assert [provider_of(device) for device in ("CPU", "CUDA", "DML", "WebGPU")] == [
        "cpu", "cuda", "directml", "webgpu",
    ]  # fmt: skip


def test_how_tokens_are_chosen():
    assert search(GREEDY) == {"repetition_penalty": 1.0, "do_sample": False}
    assert search({"temperature": 0.5, "top_k": 7, "repeat_penalty": 1.1, "seed": 3}) == {
        "repetition_penalty": 1.1,
        "do_sample": True,
        "temperature": 0.5,
        "top_k": 7,
        "top_p": 0.95,
        "random_seed": 3,
    }
    with pytest.raises(RequestRefused):
        search({"min_p": 0.1})


@pytest.mark.parametrize(
    ("values", "code", "named"),
    [
        ({"slots": 2}, "setting.range", "slots"),
        ({"draft": "/d"}, "setting.unknown", "draft"),
        ({"value_type": "q8_0"}, "setting.unknown", "value_type"),
        ({"task": "rerank"}, "setting.choice", "task"),
        ({"extra": {"provider": "qnn"}}, "setting.choice", "provider"),
        ({"sampling": {"min_p": 0.1}}, "setting.unknown", "min_p"),
        ({"sampling": {"temperature": -1.0}}, "setting.range", "temperature"),
    ],
)
def test_what_it_has_no_way_to_follow_is_refused_by_name(values, code, named):
    with pytest.raises(Unsupported) as refused:
        checked(Load("/m", **values))
    assert (refused.value.cause.code, refused.value.cause.values["name"]) == (code, named)


def with_option(**options):
    return lambda told: told["model"]["decoder"]["session_options"].update(options)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (with_option(custom_ops_library="/tmp/own.so"), "onnx_genai.option"),
        (with_option(enable_profiling="/home/me/file"), "onnx_genai.option"),
        (with_option(**{"ep.context_file_path": "/home/me/file"}), "onnx_genai.option"),
        (with_option(provider_options=[{"QNN": {"backend_path": "own.so"}}]), "onnx_genai.provider"),
        (lambda told: told["model"]["decoder"].update(filename="../model.onnx"), "onnx_genai.path"),
        (lambda told: told["model"]["decoder"].update(filename="/etc/passwd"), "onnx_genai.path"),
        (lambda told: told["model"].update(vision={"pipeline": [{"a": {"session_options": {"x": 1}}}]}),
         "onnx_genai.option"),
    ],
)  # fmt: skip
def test_a_folder_that_would_reach_beyond_itself_is_refused(tmp_path, change, code):
    with pytest.raises(Unsupported) as refused:
        onnx_genai.checked(Load(str(changed(tmp_path, change))))
    assert refused.value.cause.code == code


def test_a_usual_folder_is_none_of_these(tmp_path):
    assert danger(read(TINY)) is None
    cuda = changed(tmp_path, with_option(provider_options=[{"cuda": {"enable_cuda_graph": "0"}}]))
    assert danger(read(cuda)) is None
    assert cache_names(read(TINY)) == ["present.0.key", "present.1.key", "present.0.value", "present.1.value"]


@pytest.mark.parametrize(
    ("content", "code"),
    [(None, "onnx_genai.no_config"), (b"{", "engine.bad_model_file"), (b"[]", "engine.bad_model_file"),
     (b"{}", "engine.bad_model_file"), (b"\xff\xfe", "engine.bad_model_file")],
)  # fmt: skip
def test_a_folder_without_settings(tmp_path, content, code):
    if content is not None:
        (tmp_path / "genai_config.json").write_bytes(content)
    with pytest.raises(Unsupported) as refused:
        read(tmp_path)
    assert refused.value.cause.code == code


@pytest.mark.parametrize(
    ("line", "code", "values"),
    [
        ("RuntimeError: Cuda interface not available: Failed to load library: /e/libonnxruntime-genai-cuda.so: cannot"
         " open shared object file", "onnx_genai.other_build", {"package": "onnxruntime-genai-cuda"}),
        ("DML provider requested, but the installed GenAI has not been built with DML support",
         "onnx_genai.other_build", {"package": "onnxruntime-genai-directml"}),
        ("QNN execution provider is not supported in this build. ", "onnx_genai.provider", {"provider": "QNN"}),
        ("Unknown provider name 'foo'. Currently supported values are 'DML'", "onnx_genai.provider",
         {"provider": "foo"}),
        ("Unsupported model_type in config.json: foo", "engine.unknown_architecture", {"architecture": "foo"}),
        ("Invalid file: /m/tokenizer.json", "onnx_genai.no_tokenizer", {}),
        ("RuntimeError: Failed to open a json file: /m 1/tokenizer_config.json", "onnx_genai.no_tokenizer", {}),
        ("RuntimeError: model context_length is 0 or was not set. It must be greater than 0", "engine.bad_settings",
         {"reason": "model context_length is 0 or was not set"}),
        ("Load model from /m/model.onnx failed:Load model /m/model.onnx failed. File doesn't exist",
         "engine.no_model_file", {}),
        ("Load model from /m/model.onnx failed:Protobuf parsing failed.", "engine.bad_model_file", {}),
        ("Load model from /m/model.onnx failed:No graph was found in the protobuf.", "engine.bad_model_file", {}),
        ("RuntimeError: External data path validation failed for initializer: a.weight. Error: External data path"
         " escapes model directory.", "engine.bad_model_file", {}),
        ("Failed to allocate memory for requested buffer of size 4096", "engine.out_of_memory",
         {"needed_bytes": 4096, "device": "Host"}),
        ("ModuleNotFoundError: No module named 'onnxruntime_genai'", "engine.not_installed",
         {"package": "onnxruntime_genai"}),
    ],
)  # fmt: skip
def test_why_a_load_failed(line, code, values):
    cause = diagnose([line], 1)
    assert cause is not None
    assert cause.code == code
    assert values.items() <= cause.values.items()


# With it

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def log():
    return []


@pytest.fixture(scope="module")
def session(log):
    with contextlib.redirect_stderr(io.StringIO()) as told:
        one = onnx_genai.open_session(Load(str(TINY), context=400, threads=1, batch=16))
    log += told.getvalue().splitlines()
    yield one
    one.close()


def asked(*contents, **values):
    messages = [{"role": ("user", "assistant")[place % 2], "content": one} for place, one in enumerate(contents)]
    return Request(messages, **{"sampling": GREEDY, "max_tokens": 12, **values})


def said(chunks):
    return "".join(chunk.text for chunk in chunks)


def own_answer(session, prompt, count):
    """The library's own, by a generator of its own that reads the prompt in one go."""
    model = session._model
    parameters = model._library.GeneratorParams(model._model)
    parameters.set_search_options(max_length=400, do_sample=False)
    generator = model._library.Generator(model._model, parameters)
    generator.append_tokens(prompt)
    for _ in range(count):
        generator.generate_next_token()
    return generator.get_sequence(0).tolist()[len(prompt) :]


@installed
def test_loading_it_tells_nobody(tmp_path):
    """By itself it writes an id into the home and sends events."""
    code = (
        "from weighbridge_engines.onnx_genai import open_session; from weighbridge_engines.api import Load;"
        f"open_session(Load({str(TINY)!r}, context=64, threads=1)).close()"
    )
    outside = {name: value for name, value in os.environ.items() if name not in ("CI", "XDG_CACHE_HOME")}
    home = {"HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env={**outside, **home}, capture_output=True)
    assert list(tmp_path.iterdir()) == []


@installed
def test_what_a_load_tells(session, log):
    told = [report(line) for line in log]
    assert [one["stage"] for one in told if "stage" in one] == ["reading", "weights", "warming"]
    values = {name: value for one in told for name, value in one.items()}
    assert (values["context"], values["threads"], values["batch"], values["slots"]) == (400, 1, 16, 1)
    assert values["provider"] == "cpu"
    assert {"device": "CPU"} in told
    # 2 layers, 1 head of 16 elements of 4 bytes, keys and values, for 400 tokens
    assert (values["kv_bytes"], values["device"]) == (2 * 16 * 4 * 2 * 400, "Host")


@installed
def test_the_build_tells_its_devices_and_version():
    assert "CPU" in {device.id for device in onnx_genai.devices()}
    assert onnx_genai.version()
    assert onnx_genai.missing() is None


@installed
def test_an_answer_is_the_librarys_own(session):
    question = "Say hello to the harbour master, ☃."
    chunks = list(session.stream(asked(question)))
    prompt = session._model.encoded(session._prompts.text(asked(question)), begun=True)
    assert session._model.held[len(prompt) :] == own_answer(session, prompt, 12)
    progress = [chunk for chunk in chunks if chunk.prompt_total is not None]
    assert (progress[0].prompt_done, progress[-1].prompt_done) == (0, len(prompt))
    assert len(progress) == 1 + -(-len(prompt) // 16)
    assert sum(chunk.tokens for chunk in chunks) == 12
    assert chunks[-1].finish == "length"


@installed
def test_the_next_turn_reads_only_what_is_new_and_answers_the_same(session):
    list(session.stream(asked("One, two, three, four.", max_tokens=5)))
    again = list(session.stream(asked("One, two, three, five.", max_tokens=8)))
    assert again[0].prompt_cached > 16
    prompt = session._model.encoded(session._prompts.text(asked("One, two, three, five.")), begun=True)
    assert session._model.held[len(prompt) :] == own_answer(session, prompt, 8)


@installed
def test_a_prompt_is_read_anew_where_that_is_asked(session):
    words = "Say hello to the harbour master."
    first = said(session.stream(asked(words, max_tokens=4)))
    again = list(session.stream(asked(words, max_tokens=4, cache_prompt=False)))
    assert again[0].prompt_cached == again[0].prompt_done == 0
    assert said(again) == first


@installed
def test_a_seed_makes_the_same_answer_and_none_another(session):
    def held(**sampling):
        list(session.stream(asked("Hello", sampling={"temperature": 5.0, "top_k": 0, "top_p": 1.0, **sampling})))
        return session._model.held[-12:]

    assert held(seed=5) == held(seed=5)
    assert held(seed=5) != held(seed=6)
    assert len({tuple(held()) for _ in range(3)}) == 3


@installed
def test_stop_texts_biases_and_the_end(session):
    only = {token: -100.0 for token in range(258) if token not in (32, 33)}
    whole = said(session.stream(asked("Hello", logit_bias=only)))
    assert set(whole) <= {"A", "B", "a", "b", "!", '"'} and len(whole) == 12
    cut = list(session.stream(asked("Hello", logit_bias=only, stop=[whole[3:5]])))
    assert cut[-1].finish == "stop"
    assert said(cut) == whole[: whole.index(whole[3:5])]
    ended = list(session.stream(asked("Hello", logit_bias={257: 1000.0})))
    assert (said(ended), ended[-1].finish) == ("", "stop")
    going_on = list(session.stream(asked("Hello", logit_bias={257: 1000.0}, ignore_eos=True)))
    assert going_on[-1].finish == "length"
    with pytest.raises(RequestRefused):
        list(session.stream(asked("Hello", logit_bias={300: 1.0})))


@installed
def test_an_answer_keeps_to_a_schema_and_one_that_cannot_be_kept_harms_nothing(session):
    assert said(session.stream(asked("Yes?", schema={"enum": ["yes", "no"]}))) in ('"yes"', '"no"')
    with pytest.raises(RequestRefused) as refused:
        next(session.stream(asked("Yes?", schema={"type": "array", "uniqueItems": True})))
    assert "uniqueItems" in refused.value.reason
    assert len(list(session.stream(asked("Yes?", max_tokens=3)))) > 3


@installed
def test_what_is_too_long_is_refused(session):
    with pytest.raises(ContextExceeded) as refused:
        next(session.stream(asked("word " * 100)))
    assert (refused.value.context, refused.value.prompt_tokens > 500) == (400, True)
    full = list(session.stream(asked("w" * 340, max_tokens=1000, ignore_eos=True)))
    assert full[-1].finish == "length"
    assert len(session._model.held) == 400


@installed
def test_scores_are_the_same_in_parts_and_one_by_one(session):
    tokens = session.tokens("The harbour lies quiet, and old ships wait there.")
    found = [one for part in session.score(tokens) for one in part]
    assert (len(found), found[0]) == (len(tokens), None)
    assert all(one < 0 for one in found[1:])
    session._model.tells_all = False
    one_by_one = [one for part in session.score(tokens) for one in part]
    session._model.tells_all = True
    assert one_by_one[1:] == pytest.approx(found[1:], abs=0.2)
    with pytest.raises(RequestRefused):
        list(session.score([1, 258]))


@installed
def test_a_damaged_folder_is_named_as_such(tmp_path):
    shutil.copytree(TINY, tmp_path, dirs_exist_ok=True)
    (tmp_path / "model.onnx").write_bytes((TINY / "model.onnx").read_bytes()[:5000])
    with pytest.raises(RuntimeError) as failed:
        onnx_genai.open_session(Load(str(tmp_path)))
    cause = diagnose(str(failed.value).splitlines(), 1)
    assert cause is not None
    assert cause.code == "engine.bad_model_file"


@installed
def test_a_text_that_the_library_would_cut_is_refused(session):
    for asks, field in (
        (lambda: next(session.stream(asked("a\0b"))), "messages"),
        (lambda: session.tokens("a\0b"), "input"),
    ):
        with pytest.raises(RequestRefused) as refused:
            asks()
        assert (refused.value.field, "NUL" in refused.value.reason) == (field, True)


@installed
def test_a_schema_that_leads_to_nothing_is_refused(session):
    with pytest.raises(RequestRefused) as refused:
        next(session.stream(asked("Yes?", schema={"$ref": "#"})))
    assert refused.value.field == "response_format"
