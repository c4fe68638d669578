"""OpenVINO GenAI on a real model, and what of it can be seen without the package."""

import contextlib
import io
import json
import os
import subprocess
import sys

import pytest

from weighbridge_engines import openvino
from weighbridge_engines.api import (
    Cause,
    ContextExceeded,
    Device,
    FileFacts,
    Load,
    Request,
    RequestRefused,
    Unsupported,
)
from weighbridge_engines.installed import is_installed
from weighbridge_engines.openvino_cache import Known
from weighbridge_engines.openvino_device import chosen, need_bytes, row_elements
from weighbridge_engines.openvino_failures import diagnose
from weighbridge_engines.openvino_model import last_words, weights_bytes
from weighbridge_engines.openvino_settings import checked, generation, properties, scheduling, suits
from weighbridge_engines.openvino_text import Text
from weighbridge_engines.session_log import report
from weighbridge_engines.xgrammar_schemas import check_for_xgrammar

installed = pytest.mark.skipif(not is_installed("openvino_genai"), reason="openvino-genai is not installed")
GREEDY = {"temperature": 0.0}


# Without the package


def test_what_a_load_means_for_the_device():
    assert properties(Load("/m", threads=3)) == {"INFERENCE_NUM_THREADS": 3, "INFERENCE_PRECISION_HINT": "f32"}
    told = Load("/m", threads=1, extra={"precision": "bf16", "cache_precision": "u8"})
    assert properties(told)["INFERENCE_PRECISION_HINT"] == "bf16"
    assert properties(told)["KV_CACHE_PRECISION"] == "u8"
    assert properties(Load("/m", extra={"device": "GPU.1"})) == {}


GIB = 1 << 30
PROCESSOR = Device("CPU", "Core", "cpu")
PART = Device("GPU.0", "UHD Graphics (iGPU)", "shared", 12 * GIB)
CARD = Device("GPU.1", "Arc A770 (dGPU)", "gpu", 16 * GIB)
OTHER = Device("GPU.2", "Arc A380 (dGPU)", "gpu", 6 * GIB)
UNTOLD = Device("GPU", "Arc (dGPU)", "gpu")


@pytest.mark.parametrize(
    ("devices", "need_gib", "device", "because"),
    [
        ([PROCESSOR], 1, "CPU", "setting.device_only"),
        ([PROCESSOR, PART, OTHER, CARD], 5, "GPU.1", "setting.device_card"),
        ([PROCESSOR, PART, OTHER], 5, "GPU.2", "setting.device_card"),
        ([PROCESSOR, PART, OTHER], 8, "GPU.0", "setting.device_shared"),
        ([PROCESSOR, PART, OTHER], 13, "CPU", "setting.device_full"),
        ([PROCESSOR, UNTOLD], 99, "GPU", "setting.device_card"),
        ([], 1, "CPU", "setting.device_only"),
    ],
)
def test_it_computes_on_the_fastest_device_that_has_room(devices, need_gib, device, because):
    assert chosen(devices, need_gib * GIB) == (device, because)


def test_what_a_model_takes_of_a_card(tmp_path):
    assert need_bytes(tmp_path, 1000, 4096) == 1100
    config = {"num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3, "hidden_size": 576}
    assert row_elements(config) == 30 * 2 * 3 * 64
    assert row_elements({**config, "num_key_value_heads": None, "head_dim": 32}) == 30 * 2 * 9 * 32
    assert row_elements({**config, "hidden_size": "576"}) is None
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert need_bytes(tmp_path, 1000, 10) == int((1000 + 10 * 11520 * 2) * 1.1)
    (tmp_path / "config.json").write_text("[", encoding="utf-8")
    assert need_bytes(tmp_path, 1000, 10) == 1100


def test_a_load_without_a_device_gets_one_that_is_told_with_its_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(openvino, "devices", lambda: [PROCESSOR, PART, CARD])
    (tmp_path / "openvino_model.bin").write_bytes(b"x")
    placed = openvino.placed(Load(str(tmp_path), extra={"precision": "f16"}))
    assert placed.extra == {"precision": "f16", "device": "GPU.1"}
    asked = openvino.placed(Load(str(tmp_path), extra={"device": "GPU.0"}))
    assert asked.extra == {"device": "GPU.0"}
    told = [report(line) for line in capsys.readouterr().err.splitlines()]
    assert told == [{"device": "GPU.1", "because": "setting.device_card"}, {"device": "GPU.0"}]


class Core:
    """What OpenVINO's core tells of a machine with a neural processor, a graphics part and a card."""

    available_devices = ("CPU", "GPU.0", "GPU.1", "NPU")

    def get_property(self, device, name):
        told = {
            "CPU": {"FULL_DEVICE_NAME": "Core Ultra", "DEVICE_TYPE": "Type.INTEGRATED"},
            "GPU.0": {"FULL_DEVICE_NAME": "Arc 140V (iGPU)", "DEVICE_TYPE": "Type.INTEGRATED",
                      "GPU_DEVICE_TOTAL_MEM_SIZE": 12 * GIB},
            "GPU.1": {"FULL_DEVICE_NAME": "Arc A770 (dGPU)", "DEVICE_TYPE": "Type.DISCRETE",
                      "GPU_DEVICE_TOTAL_MEM_SIZE": 16 * GIB,
                      "DEVICE_PCI_INFO": "{domain: 0 bus: 60 device: 0x1f function: 0}"},
            "NPU": {"FULL_DEVICE_NAME": "AI Boost", "DEVICE_TYPE": "Type.INTEGRATED"},
        }[device]  # fmt: skip
        if name not in told:
            raise RuntimeError(name)
        return told[name]


def test_what_it_can_use_are_processors_and_graphics_devices(monkeypatch):
    monkeypatch.setattr(openvino, "imported", lambda _name: type("Library", (), {"Core": Core}))
    assert openvino.devices() == [
        Device("CPU", "Core Ultra", "cpu"),
        Device("GPU.0", "Arc 140V (iGPU)", "shared", 12 * GIB),
        Device("GPU.1", "Arc A770 (dGPU)", "gpu", 16 * GIB, pci_id="0000:3c:1f.0"),
    ]


def test_the_cache_has_room_for_the_context_and_for_what_is_kept_besides():
    assert scheduling(Load("/m"), 1000, 0)["num_kv_blocks"] == 33
    assert scheduling(Load("/m", extra={"cached_tokens": 6400}), 1000, 0)["num_kv_blocks"] == 201
    assert scheduling(Load("/m", extra={"device": "GPU"}), 1000, 0)["num_kv_blocks"] == 64
    assert scheduling(Load("/m", batch=48), 1000, 0)["max_num_batched_tokens"] == 48


def test_how_tokens_are_chosen():
    assert generation(GREEDY, 1)["do_sample"] is False
    told = generation({"temperature": 0.5, "top_k": 0, "min_p": 0.2, "seed": 7, "presence_penalty": 1.0}, 1)
    assert told == {
        "do_sample": True,
        "temperature": 0.5,
        "top_p": 0.95,
        "min_p": 0.2,
        "rng_seed": 7,
        "repetition_penalty": 1.0,
        "frequency_penalty": 0.0,
        "presence_penalty": 1.0,
    }
    assert generation({}, 99)["rng_seed"] == 99
    with pytest.raises(RequestRefused):
        generation({"mirostat": 1}, 1)


@pytest.mark.parametrize(
    ("values", "code", "named"),
    [
        ({"slots": 2}, "setting.range", "slots"),
        ({"draft": "/d"}, "setting.unknown", "draft"),
        ({"adapters": ("/a",)}, "setting.unknown", "adapters"),
        ({"key_type": "q8_0"}, "setting.unknown", "key_type"),
        ({"gpu_layers": 3}, "setting.unknown", "gpu_layers"),
        ({"task": "embedding"}, "setting.choice", "task"),
        ({"threads": 0}, "setting.range", "threads"),
        ({"extra": {"device": "NPU"}}, "setting.choice", "device"),
        ({"extra": {"numa": "isolate"}}, "setting.unknown", "numa"),
        ({"sampling": {"top_p": 2.0}}, "setting.range", "top_p"),
        ({"sampling": {"typical_p": 0.5}}, "setting.unknown", "typical_p"),
    ],
)
def test_what_it_has_no_way_to_follow_is_refused_by_name(values, code, named):
    with pytest.raises(Unsupported) as refused:
        checked(Load("/m", **values))
    assert (refused.value.cause.code, refused.value.cause.values["name"]) == (code, named)


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (FileFacts("openvino", "gemma3"), None),
        (FileFacts("gguf", "llama", frozenset({"Q4_1", "F32", "Q8_0"})), None),
        (FileFacts("gguf", "qwen3"), None),
        (FileFacts("gguf", "gemma3"), "openvino.architecture"),
        (FileFacts("gguf", "llama", frozenset({"Q5_0", "F32"})), "openvino.tensor_type"),
    ],
)
def test_which_gguf_files_it_reads(facts, code):
    cause = suits(facts)
    assert (cause and cause.code) == code


@pytest.mark.parametrize(
    ("line", "code", "values"),
    [
        ('Cannot load library "/e/openvino/libs/libopenvino_intel_gpu_plugin.so": libOpenCL.so.1: cannot open shared'
         " object file: No such file or directory", "openvino.no_card_runtime", {"library": "libOpenCL.so.1"}),
        ('Device with "GPU" name is not registered in the OpenVINO Runtime', "engine.no_such_device",
         {"device": "GPU"}),
        ("[load_gguf] gguf_tensor_to_f16 failed", "openvino.tensor_types", {}),
        ("Unsupported model architecture 'gemma3'", "openvino.architecture", {"architecture": "gemma3"}),
        ("expect kvcache type bf16, current: f32 , f32", "openvino.cache_precision", {"needs": "bf16", "has": "f32"}),
        ("Could not find a model in the directory '\"/m\"'", "engine.no_model_file", {}),
        ("[load_gguf] Failed to open '/m.gguf'", "engine.no_model_file", {}),
        ("Failed to open '/m.gguf' with gguf_open", "engine.bad_model_file", {}),
        ("Incorrect weights in bin file!", "engine.bad_model_file", {}),
        ("Empty weights data in bin file or bin file cannot be found!", "engine.bad_model_file", {}),
        ('Unable to read the model: "/m/openvino_model.xml" Please check that model format', "engine.bad_model_file",
         {}),
        ("Check 'res.status == pugi::status_ok' failed at src/frontends/ir/src/input_model.cpp:219:",
         "engine.bad_model_file", {}),
        ("ModuleNotFoundError: No module named 'jinja2'", "engine.not_installed", {"package": "jinja2"}),
        ("[GPU] CL_OUT_OF_RESOURCES: clEnqueueNDRangeKernel", "engine.out_of_memory",
         {"device": "GPU", "setting": "device", "instead": "CPU"}),
        ("MemoryError: std::bad_alloc", "engine.out_of_memory", {"device": "Host"}),
        ("RuntimeError: Check 'total_requested_bytes <= total_available_memory' failed at cache_orchestrator.hpp:916:",
         "engine.out_of_memory", {"device": "Host"}),
        ("RuntimeError: Check 'shape_size(shape) == 0 || m_ptr != nullptr' failed at src/inference/make_tensor.cpp:57",
         "engine.out_of_memory", {"device": "Host"}),
    ],
)  # fmt: skip
def test_why_a_load_failed(line, code, values):
    cause = diagnose(["session: {}", line], 1)
    assert cause is not None
    assert cause.code == code
    assert values.items() <= cause.values.items()


def test_what_the_library_says_without_its_places():
    told = "[16:11] /b/cpp/grammar_parser.cc:552: EBNF parser error at line 1, column 1: no root.\n\n"
    assert last_words(told) == "EBNF parser error at line 1, column 1: no root"
    assert last_words("") == ""


def test_what_the_cache_knows_comes_in_whole_blocks_and_the_oldest_gives_way():
    known = Known(room=100, block=16)
    known.add(range(50))
    assert known.of(range(50)) == 48
    assert known.of([*range(40), 99, 98]) == 32
    assert known.of(range(16)) == 0  # the last token is computed in any case
    assert known.of([5, 6]) == 0
    known.add(range(1000, 1080))
    assert known.of(range(50)) == 0
    known.forget()
    assert known.of(range(1000, 1080)) == 0


def test_text_waits_for_whole_characters():
    pieces = {1: b" \xe2", 2: b"\x98", 3: b"\x83", 4: b"a"}
    text = Text(lambda tokens: b"".join(pieces[token] for token in tokens).decode("utf-8", "ignore"))
    assert [text.feed(token) for token in (4, 1, 2, 3, 4)] == ["a", " ", "", "☃", "a"]


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"type": "object"}, {}]},
        {"type": "object", "properties": {"a": {"type": "string", "format": "uuid1"}}},
    ],
)
def test_what_xgrammar_would_pass_over_is_refused(schema):
    with pytest.raises(RequestRefused):
        check_for_xgrammar(schema)


def test_properties_may_be_called_like_keywords():
    check_for_xgrammar({"type": "object", "properties": {"allOf": {"type": "integer"}, "format": {"type": "string"}}})


def test_the_size_of_weights(tmp_path):
    (tmp_path / "openvino_model.bin").write_bytes(b"x" * 10)
    (tmp_path / "openvino_model.xml").write_bytes(b"x" * 100)
    assert weights_bytes(tmp_path) == 10
    assert weights_bytes(tmp_path / "openvino_model.bin") == 10


# With it

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def log():
    return []


@pytest.fixture(scope="module")
def session(smollm2, log):
    beside = sorted(smollm2.parent.iterdir())
    with contextlib.redirect_stderr(io.StringIO()) as told:
        one = openvino.open_session(Load(str(smollm2), context=500, threads=1, batch=32))
    log += told.getvalue().splitlines()
    assert sorted(smollm2.parent.iterdir()) == beside
    yield one
    one.close()


def asked(*contents, **values):
    messages = [{"role": ("user", "assistant")[place % 2], "content": one} for place, one in enumerate(contents)]
    return Request(messages, **{"sampling": GREEDY, "max_tokens": 12, **values})


def said(chunks):
    return "".join(chunk.text for chunk in chunks)


@installed
def test_importing_it_tells_nobody(tmp_path):
    """By itself it writes an id into the home and sends an event."""
    code = "from weighbridge_engines.openvino_library import imported; imported('openvino').Core()"
    home = {"HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    outside = {name: value for name, value in os.environ.items() if name != "CI"}
    subprocess.run([sys.executable, "-c", code], check=True, env={**outside, **home})
    assert list(tmp_path.iterdir()) == []


@installed
def test_the_build_tells_its_devices_and_version():
    assert "CPU" in {device.id for device in openvino.devices()}
    assert openvino.version()
    assert openvino.missing() is None


@installed
def test_an_answer_is_the_librarys_own_and_the_next_turn_reads_only_what_is_new(session):
    question = "Say hello to the harbour master of the old town, and to his dog."
    first = list(session.stream(asked(question)))
    model = session._model
    prompt = model.encoded(session._prompts.text(asked(question)), begun=True)
    config = model._library.GenerationConfig(max_new_tokens=12, do_sample=False)
    (own,) = model._pipeline.generate([prompt], [config])
    assert said(first) == model.decoded(own.m_generation_ids[0])
    progress = [chunk for chunk in first if chunk.prompt_total is not None]
    assert (progress[0].prompt_done, progress[-1].prompt_done) == (0, progress[-1].prompt_total)
    assert len(progress) == 3  # two batches
    assert first[-1].finish == "length"
    assert first[-1].decode_tps > 0
    again = next(session.stream(asked(question, said(first), "Go on.")))
    assert again.prompt_cached >= 32


@installed
def test_without_the_cache_nothing_is_known_of_the_prompt(session, monkeypatch):
    renewed = []
    monkeypatch.setattr(session._model, "renew", lambda: renewed.append(True))
    question = "Tell me of the harbour and of its ships, of grain and of salt, and of the sea."
    list(session.stream(asked(question, max_tokens=1)))
    first = next(session.stream(asked(question, max_tokens=1, cache_prompt=False)))
    assert (first.prompt_cached, renewed) == (0, [True])


@installed
def test_stop_texts_and_an_answer_that_is_given_up(session):
    whole = said(session.stream(asked("Count from one to five.")))
    stop = whole.split()[2]
    cut = list(session.stream(asked("Count from one to five.", stop=[stop])))
    assert (said(cut), cut[-1].finish) == (whole[: whole.index(stop)], "stop")
    begun = session.stream(asked("Count from one to five.", max_tokens=300, ignore_eos=True))
    for _ in range(5):
        next(begun)
    begun.close()
    assert said(session.stream(asked("Count from one to five."))) == whole


@installed
def test_an_answer_keeps_to_a_form_and_a_form_that_is_none_harms_nothing(session):
    assert said(session.stream(asked("Yes?", grammar='root ::= "yes" | "no"'))) in ("yes", "no")
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
    assert "".join(said(session.stream(asked("Yes?", schema=schema, max_tokens=40))).split()) in (
        '{"a":true}', '{"a":false}',
    )  # fmt: skip
    with pytest.raises(RequestRefused) as refused:
        next(session.stream(asked("Yes?", grammar="rot ::= x")))
    assert "root" in refused.value.reason
    with pytest.raises(RequestRefused):
        next(session.stream(asked("Yes?", schema={"type": "array", "uniqueItems": True})))
    assert said(session.stream(asked("Yes?", max_tokens=3)))


class Failing:
    """A pipeline whose steps fail, else the real one."""

    def __init__(self, real):
        self._real = real

    def __getattr__(self, name):
        return getattr(self._real, name)

    def step(self):
        raise RuntimeError("no step")


@installed
def test_after_a_step_that_failed_the_model_is_loaded_anew(session, monkeypatch):
    model, renewed = session._model, []
    real = model._pipeline
    monkeypatch.setattr(model, "renew", lambda: renewed.append(model) or setattr(model, "broken", False))
    model._pipeline = Failing(real)
    with pytest.raises(RuntimeError, match="no step"):
        list(session.stream(asked("Hi")))
    model._pipeline = real
    assert renewed == []
    assert said(session.stream(asked("Hi")))
    assert renewed == [model]


@installed
def test_what_is_too_long_or_not_to_be_had_is_refused(session):
    with pytest.raises(ContextExceeded) as refused:
        next(session.stream(asked("word " * 600)))
    assert (refused.value.context, refused.value.prompt_tokens > 600) == (500, True)
    with pytest.raises(RequestRefused):
        next(session.stream(asked("Hi", logit_bias={5: 1.0})))
    with pytest.raises(RequestRefused):
        list(session.score([1, 10**6]))


@installed
def test_a_text_that_the_tokenizer_would_cut_off_is_refused_with_its_true_length(session, monkeypatch):
    model = session._model
    monkeypatch.setattr(model, "context", 20000)
    monkeypatch.delitem(vars(model), "_most_tokens", raising=False)
    for asks in (lambda: next(session.stream(asked("word " * 9000))), lambda: session.tokens("word " * 9000)):
        with pytest.raises(ContextExceeded) as refused:
            asks()
        assert refused.value.context == 8192
        assert refused.value.prompt_tokens == pytest.approx(9000, abs=60)
    monkeypatch.setattr(model, "context", 4000)
    with pytest.raises(ContextExceeded) as refused:
        next(session.stream(asked("word " * 30000)))
    assert (refused.value.context, refused.value.prompt_tokens) == (4000, pytest.approx(30000, abs=300))
    monkeypatch.delitem(vars(model), "_most_tokens")


@installed
def test_scores_are_those_of_the_tokens_after_each_other(session):
    tokens = session.tokens(
        "The capital of France is Paris. The capital of Spain is Madrid. The capital of Italy is Rome"
    )
    found = [one for part in session.score(tokens) for one in part]
    assert len(found) == len(tokens)
    assert found[0] is None
    assert all(one < 0 for one in found[1:])
    assert max(found[1:]) > -0.5


@installed
def test_what_a_load_tells(session, log):
    """Its stages in order, and what it really has."""
    told = [report(line) for line in log]
    assert [one["stage"] for one in told if "stage" in one] == ["reading", "weights", "warming"]
    values = {name: value for one in told for name, value in one.items()}
    assert (values["context"], values["threads"], values["batch"], values["device"]) == (500, 1, 32, "CPU")
    assert "kv_bytes" not in values  # it is taken as it is filled
    # 17 blocks of 32 tokens, 30 layers, 3 heads of 64 bytes, keys and values; scales and zeros take a quarter at most
    plain = 17 * 32 * 30 * 3 * 64 * 2
    assert plain < session._model._pipeline.get_metrics().kv_cache_size_in_bytes <= plain * 5 // 4


@installed
def test_a_damaged_file_is_named_as_such(tmp_path):
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"x" * 1000)
    code = (
        "from weighbridge_engines.openvino import open_session; from weighbridge_engines.api import Load;"
        f"open_session(Load({str(bad)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    cause = diagnose(done.stderr.splitlines(), done.returncode)
    assert isinstance(cause, Cause)
    assert cause.code == "engine.bad_model_file"
