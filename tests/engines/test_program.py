"""Server programs as data: command lines, keys, names, what their logs tell."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from weighbridge.base.explain import WHAT_AND_NEXT
from weighbridge_engines import program_devices
from weighbridge_engines.api import STAGES, Load, Unsupported
from weighbridge_engines.controls import with_value
from weighbridge_engines.program import ENGINES, TABLE, engines_of, read_listing
from weighbridge_engines.program_command import START
from weighbridge_engines.program_log import COMMON, plain
from weighbridge_engines.program_table import read_table

BY_ID = {engine.id: engine for engine in ENGINES}
ENTRIES = {entry.id: entry for entry in read_table(TABLE.read_text(encoding="utf-8"))[0]}
OPTIONS = json.loads((Path(__file__).parents[1] / "data" / "program_options.json").read_text())
LOAD = Load("/m/a model", alias="a", context=4096, threads=3)


def said(engine_id, **values):
    return BY_ID[engine_id].said(changed(engine_id, **values))


def changed(engine_id, **values):
    load = LOAD
    controls = {control.name: control for control in BY_ID[engine_id].controls}
    for name, value in values.items():
        load = with_value(load, controls[name], value)
    return load


def options_in(entry):
    """Every option that an entry may say."""
    words = [*entry.argv, *([entry.key_by] if entry.key == "argument" else [])]
    for option in entry.options:
        words += [*option.option.split(), *option.off.split(), *option.also, *option.before]
    return {word for word in words if word.startswith("--")}


def test_the_six_are_there():
    assert list(BY_ID) == ["vllm", "sglang", "lmdeploy", "transformers", "tabbyapi", "aphrodite"]


@pytest.mark.parametrize("engine_id", sorted(OPTIONS))
def test_an_entry_says_only_what_the_parser_of_its_wheel_knows(engine_id):
    told = OPTIONS[engine_id]
    assert options_in(ENTRIES[engine_id]) - set(told["options"]) == set()
    if told["fields"]:
        assert (ENTRIES[engine_id].fields or set()) - set(told["fields"]) == set()


def test_a_command_line():
    assert said("vllm", memory_share=0.35, tensor_parallel=2, key_type="fp8", eager=True) == [
        "vllm", "serve", "/m/a model", "--host", "127.0.0.1", "--port", "8000", "--served-model-name", "a",
        "--enable-force-include-usage", "--disable-uvicorn-access-log", "--max-model-len", "4096",
        "--kv-cache-dtype", "fp8", "--gpu-memory-utilization", "0.35", "--tensor-parallel-size", "2", "--enforce-eager",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("engine_id", "values", "words"),
    [
        ("vllm", {"slots": 16}, ["--max-num-seqs", "16"]),
        ("vllm", {"eager": False}, ["--no-enforce-eager"]),
        ("vllm", {"tool_parser": "hermes"}, ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"]),
        ("vllm", {"executor": "ray"}, ["--distributed-executor-backend", "ray"]),
        ("vllm", {"arguments": ("--seed", "1")}, ["--seed", "1"]),
        ("sglang", {"memory_share": 0.5}, ["--mem-fraction-static", "0.5"]),
        ("lmdeploy", {"key_type": "int8"}, ["--quant-policy", "int8"]),
        ("transformers", {"dtype": "float32"}, ["--dtype", "float32"]),
        ("tabbyapi", {"context": 8192}, ["--max-seq-len", "8192", "--cache-size", "8192"]),
        ("tabbyapi", {"split_by_tensor": True}, ["--tensor-parallel", "true"]),
        ("tabbyapi", {"card_gigabytes": (20, 20.5)}, ["--gpu-split", "20", "20.5"]),
        ("aphrodite", {"quantization": "exl3"}, ["--quantization", "exl3"]),
    ],
)
def test_a_setting_on_the_command_line(engine_id, values, words):
    told = said(engine_id, **values)
    assert told[told.index(words[0]) :][: len(words)] == words


@pytest.mark.parametrize("engine", ENGINES, ids=list(BY_ID))
def test_they_listen_to_this_machine_alone(engine):
    words = engine.said(LOAD)
    host = words[words.index("--server-name" if engine.id == "lmdeploy" else "--host") + 1]
    assert host == "127.0.0.1"
    assert "0.0.0.0" not in words


def test_what_a_load_sets_by_environment():
    told = {"OMP_NUM_THREADS": "3", "WEIGHBRIDGE_CONTEXT": "4096"}
    assert BY_ID["transformers"].environment_of(LOAD) == told
    assert BY_ID["sglang"].environment_of(LOAD) == {}
    assert BY_ID["vllm"].environment_of(changed("vllm", ray_address="10.0.0.1:6379"))["RAY_ADDRESS"] == "10.0.0.1:6379"


def test_a_model_by_its_name_there():
    assert [BY_ID[name].name_of(LOAD) for name in ("vllm", "transformers", "tabbyapi")] == [
        "a",
        "/m/a model",
        "a model",
    ]


@pytest.mark.parametrize(
    ("engine_id", "load", "code", "name"),
    [
        ("vllm", Load("/m", key_type="q8_0"), "setting.choice", "key_type"),
        ("vllm", Load("/m", key_type="fp8", value_type="bfloat16"), "setting.needs", "value_type"),
        ("vllm", Load("/m", gpu_layers=3), "setting.unknown", "gpu_layers"),
        ("transformers", Load("/m", slots=2), "setting.unknown", "slots"),
        ("vllm", Load("/m", extra={"memory_share": 1.5}), "setting.range", "memory_share"),
        ("vllm", Load("/m", extra={"arguments": ("--host", "0.0.0.0")}), "setting.ours", "--host"),
        ("vllm", Load("/m", extra={"arguments": ("--api_key=x",)}), "setting.ours", "--api-key"),
        ("vllm", Load("/m", extra={"arguments": ("--served-model", "x")}), "setting.ours", "--served-model"),
        ("lmdeploy", Load("/m", extra={"arguments": ("--server-name=0.0.0.0",)}), "setting.ours", "--server-name"),
    ],
)
def test_what_a_program_could_not_follow_is_refused(engine_id, load, code, name):
    with pytest.raises(Unsupported) as refusal:
        BY_ID[engine_id].check(load)
    assert (refusal.value.cause.code, refusal.value.cause.values["name"]) == (code, name)


@pytest.mark.parametrize("engine", ENGINES, ids=list(BY_ID))
def test_the_load_that_is_made_without_wishes_is_followed(engine):
    engine.check(Load("/m", alias="a", context=4096, threads=3, prompt_cache_mib=None))


def environment(folder, *programs):
    """An environment as pip makes it: a Python, and console scripts beside it."""
    place = folder / "bin"
    place.mkdir(parents=True)
    (place / "python").symlink_to(sys.executable)
    for name in programs:
        (place / name).write_text(f"#!{place}/python\n")
        (place / name).chmod(0o755)
    return place


posix = pytest.mark.skipif(os.name != "posix", reason="the made environments are those of POSIX")


@posix
def test_where_a_program_is(tmp_path):
    place = environment(tmp_path, "vllm", "sglang")
    by_python, by_path = (BY_ID["vllm"].placed(str(place / name)) for name in ("python", "vllm"))
    assert by_python.command(LOAD, 1)[0] == by_path.command(LOAD, 1)[0] == str(place / "vllm")
    assert (by_python.python, by_path.python) == (str(place / "python"), str(place / "python"))
    assert by_python.missing() is None
    (place / "vllm").unlink()
    assert by_path.missing().code == "build.no_program"


@posix
def test_a_script_elsewhere_tells_its_python(tmp_path):
    place, elsewhere = environment(tmp_path / "env"), tmp_path / "transformers"
    elsewhere.write_text(f"#!{place}/python\n")
    elsewhere.chmod(0o755)
    told = BY_ID["transformers"].placed(str(elsewhere))
    assert (told.python, told.missing()) == (str(place / "python"), None)
    assert told.command(LOAD, 1)[:4] == [
        str(place / "python"), str(START.with_name("transformers_serve.py")), "serve", "/m/a model",
    ]  # fmt: skip
    elsewhere.write_text("#!/bin/sh\n")
    unheld = BY_ID["transformers"].placed(str(elsewhere))
    assert (unheld.python, unheld.missing().code) == (None, "program.no_python")


@posix
def test_a_key_that_must_be_an_argument_is_on_no_command_line(tmp_path):
    place = environment(tmp_path, "sglang")
    engine = BY_ID["sglang"].placed(str(place / "sglang"))
    assert engine.command(LOAD, 1)[:5] == [
        str(place / "python"), str(START), "sglang.cli.main:main", "--api-key", "serve",
    ]  # fmt: skip
    assert engine.knows_keys
    (tmp_path / "server.py").write_text("import sys, os\ndef main():\n    print(sys.argv[1:], 'K' in os.environ)\n")
    argv = [sys.executable, str(START), "server:main", "--api-key", "serve", "--port", "1"]
    told = {**os.environ, "WEIGHBRIDGE_ENGINE_KEY": "secret", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(argv, env=told, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['serve', '--port', '1', '--api-key', 'secret'] False"


@posix
def test_without_its_python_it_is_said_that_it_knows_no_key(tmp_path):
    (tmp_path / "sglang").write_text("#!/bin/sh\n")
    (tmp_path / "sglang").chmod(0o755)
    engine = BY_ID["sglang"].placed(str(tmp_path / "sglang"))
    assert not engine.knows_keys
    assert engine.command(LOAD, 1)[:2] == [str(tmp_path / "sglang"), "serve"]


@pytest.mark.parametrize(("engine_id", "variable"), [("vllm", "VLLM_API_KEY"), ("aphrodite", "APHRODITE_API_KEY")])
def test_a_key_by_environment(engine_id, variable):
    assert (BY_ID[engine_id].key_variable, BY_ID[engine_id].knows_keys) == (variable, True)


@posix
def test_a_program_in_a_folder(tmp_path):
    environment(tmp_path / "venv")
    (tmp_path / "main.py").write_text("")
    engine = BY_ID["tabbyapi"].placed(str(tmp_path))
    assert engine.missing() is None
    assert engine.command(LOAD, 7)[:6] == [
        str(tmp_path / "venv/bin/python"), str(tmp_path / "main.py"), "--host", "127.0.0.1", "--port", "7",
    ]  # fmt: skip
    assert engine.folder == str(tmp_path)
    assert engine.own_key() is None
    (tmp_path / "api_tokens.yml").write_text("admin_key: b\napi_key: 0123abc\n")
    assert engine.own_key() == "0123abc"


def test_nothing_is_there_before_it_is_got():
    assert BY_ID["tabbyapi"].missing().code in ("program.to_get", "program.not_for_system")


def test_what_an_environment_tells():
    told = program_devices.look("yes", "pytest", ["json", "no_such_module"])
    assert (told["version"], told["missing"], told["devices"][0]["id"]) == (
        pytest.__version__,
        ["no_such_module"],
        "CPU",
    )
    assert program_devices.look("+cpu", "pytest", [])["devices"] == []
    assert read_listing("a library says\n" + json.dumps({**told, "missing": []}))[0].kind == "cpu"
    assert read_listing(json.dumps(told)) is None
    assert read_listing("Traceback\n{") is None


def card(number):
    return SimpleNamespace(name=f"Card {number}", total_memory=24 << 30, is_integrated=0)


TORCH = SimpleNamespace(
    cuda=SimpleNamespace(is_available=lambda: True, device_count=lambda: 2, get_device_properties=card),
    version=SimpleNamespace(hip=None),
    backends=SimpleNamespace(),
)


def test_cards_as_torch_tells_them():
    assert [(one["id"], one["kind"], one["memory_total_bytes"]) for one in program_devices.cards(TORCH)] == [
        ("CUDA0", "gpu", 24 << 30),
        ("CUDA1", "gpu", 24 << 30),
    ]


GIB = 1 << 30
VLLM_LINES = [
    ("INFO 11-29 12:00:01 [model.py:1510] Using max model len 2048", {"context": 2048}),
    ("(EngineCore pid=7) INFO [gpu_model_runner.py:4979] Starting to load model /m...", {"stage": "reading"}),
    ("Loading safetensors checkpoint shards: 50% Completed | 1/2 [00:01]", {"stage": "weights", "done": 1, "total": 2}),
    ("Loading safetensors checkpoint", {"stage": "weights"}),
    ("INFO [gpu_model_runner.py] Model loading took 14.25 GiB memory and 3.1 seconds", {"weights_bytes": 15300820992}),
    ("INFO [gpu_worker.py] Available KV cache memory: 2.00 GiB", {"kv_bytes": 2 * GIB}),
    (
        "INFO GPU KV cache size: 16,384 tokens, Maximum concurrency for 2,048 tokens per request: 8.00x",
        {"stage": "context", "cache_tokens": 16384, "concurrency": 8.0},
    ),
    ("INFO:     Application startup complete.", {"stage": "warming"}),
]


@pytest.mark.parametrize(("line", "told"), VLLM_LINES)
def test_what_the_log_of_vllm_tells(line, told):
    assert BY_ID["vllm"].report(line) == told


@pytest.mark.parametrize(
    ("engine_id", "line", "told"),
    [
        ("sglang", "Load weight begin. avail mem=22.1 GB", {"stage": "weights"}),
        (
            "sglang",
            "max_total_num_tokens=41000, chunked_prefill_size=2048, max_prefill_tokens=16384, max_running_requests=160,"
            " context_len=4096, available_gpu_mem=2.11 GB",
            {"cache_tokens": 41000, "slots": 160, "context": 4096},
        ),
        ("transformers", "weighbridge: context = 2048", {"context": 2048}),
        ("transformers", "weighbridge: trained context = 8192", {"trained_context": 8192}),
        ("transformers", "weighbridge: trained context = None", {}),
        ("transformers", "weighbridge: cache tokens = 8192", {"cache_tokens": 8192}),
        ("transformers", "weighbridge: dtype = torch.float32", {"dtype": "float32"}),
        ("transformers", "\x1b[33m[transformers] Loading /m\x1b[0m", {"stage": "reading"}),
        (
            "transformers",
            "Loading weights:   0%|   | 0/2\rLoading weights: 100%|###| 2/2",
            {"stage": "weights", "done": 2, "total": 2},
        ),
        (
            "sglang",
            "Loading safetensors checkpoint shards:  33% Completed | 1/3 [00:00<00:01]",
            {"stage": "weights", "done": 1, "total": 3},
        ),
        ("tabbyapi", "INFO: Developer documentation: http://127.0.0.1:5001/redoc", {"port": 5001}),
    ],
)
def test_what_other_logs_tell(engine_id, line, told):
    assert BY_ID[engine_id].report(line) == told


@pytest.mark.parametrize(
    ("engine_id", "line", "code", "values"),
    [
        (
            "vllm",
            "ValueError: To serve at least one request with the model's max seq len (8192), (0.35 GiB KV cache is"
            " needed, which is larger than the available KV cache memory (0.01 GiB). Based on the available memory, the"
            " estimated maximum model length is 256. Try increasing `gpu_memory_utilization`",
            "program.context_too_long",
            {"context": 8192, "needed_bytes": 375809638, "available_bytes": 10737418, "offer": 256},
        ),
        (
            "vllm",
            "ValueError: Free memory on device cuda:0 (3.10/23.99 GiB) on startup is less than desired GPU memory"
            " utilization (0.92, 22.07 GiB). Decrease GPU memory utilization",
            "program.card_not_free",
            {"device": "cuda:0", "share": 0.92, "free_bytes": 3328599654, "whole_bytes": 25759066357},
        ),
        (
            "vllm",
            "ValueError: Available memory on node 0 (20.62/23.54 GiB) on startup is less than desired CPU memory"
            " utilization (0.92, 21.66 GiB). On the CPU backend, the `--gpu-memory-utilization` flag controls",
            "program.card_not_free",
            {"device": "CPU", "share": 0.92, "free_bytes": 22140556410, "needed_bytes": 23257247907},
        ),
        (
            "vllm",
            "ValueError: Model architectures ['FooForCausalLM'] are not supported for now. Supported architectures: x",
            "engine.unknown_architecture",
            {"architecture": "FooForCausalLM"},
        ),
        (
            "sglang",
            "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value:"
            " mem_fraction_static=0.31",
            "program.no_room_for_cache",
            {"share": 0.31},
        ),
        ("lmdeploy", "RuntimeError: No enough gpu memory for kv cache.", "program.no_room_for_cache", {}),
        (
            "lmdeploy",
            "AssertionError: turbomind does not support /m/x. Plz try pytorch engine instead.",
            "program.other_backend",
            {"setting": "backend", "instead": "pytorch"},
        ),
        (
            "transformers",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of"
            " 8.00 GiB of which 1.00 GiB is free.",
            "engine.out_of_memory",
            {"device": "CUDA", "needed_bytes": 3 * GIB // 2, "free_bytes": GIB},
        ),
        (
            "transformers",
            "RuntimeError: unable to mmap 269060552 bytes from file </m/m.safetensors>: Cannot allocate memory (12)",
            "engine.out_of_memory",
            {},
        ),
        (
            "transformers",
            "ValueError: Unrecognized model in /m/c. Should have a `model_type` key in its config.json.",
            "engine.bad_settings",
            {"reason": "Should have a `model_type` key in its config.json"},
        ),
        ("transformers", "[Errno 98] error while attempting to bind", "engine.port_taken", {}),
        (
            "transformers",
            "weighbridge: this version of transformers is not known: No module named 'uvicorn'",
            "program.no_module",
            {"package": "uvicorn"},
        ),
        (
            "transformers",
            "weighbridge: this version of transformers is not known: no attribute 'GenerateManager'",
            "program.other_version",
            {"reason": "no attribute 'GenerateManager'"},
        ),
        (
            "vllm",
            "RuntimeError: operator torchvision::nms does not exist",
            "program.no_module",
            {"package": "torchvision"},
        ),
        (
            "vllm",
            "importlib.metadata.PackageNotFoundError: No package metadata was found for vllm",
            "program.no_module",
            {"package": "vllm"},
        ),
        ("transformers", "ModuleNotFoundError: No module named 'uvicorn'", "program.no_module", {"package": "uvicorn"}),
        (
            "transformers",
            "ValueError: The checkpoint you are trying to load has model type `lama9` but Transformers does not"
            " recognize this architecture.",
            "engine.unknown_architecture",
            {"architecture": "lama9"},
        ),
        (
            "transformers",
            "ImportError: Using `bitsandbytes` 4-bit quantization requires bitsandbytes: `pip install -U bitsandbytes`",
            "program.no_module",
            {"package": "bitsandbytes"},
        ),
        (
            "transformers",
            "ImportError: FlashAttention2 has been toggled on, but it cannot be used due to the following error: the"
            " package for FlashAttention2 doesn't seem to be installed.",
            "program.no_module",
            {"package": "flash-attn"},
        ),
        (
            "transformers",
            "ValueError: Unrecognized processing class in /m/c. Can't instantiate a processor, a tokenizer, an image",
            "program.no_tokenizer",
            {"path": "/m/c"},
        ),
        ("transformers", "AssertionError: Torch not compiled with CUDA enabled", "program.sees_no_card", {}),
        (
            "transformers",
            "safetensors._safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata",
            "engine.bad_model_file",
            {},
        ),
        ("transformers", "Error: No such option '--no-such'.", "engine.bad_option", {"option": "--no-such"}),
        ("tabbyapi", "RuntimeError: Insufficient VRAM in split for model and cache", "program.no_room_for_cache", {}),
    ],
)
def test_why_a_program_ended(engine_id, line, code, values):
    cause = BY_ID[engine_id].diagnose(["INFO all is well", line, "Engine core initialization failed."], 1)
    assert cause.code == code
    assert values.items() <= cause.values.items()
    assert cause.values["line"] == line[:300].strip()


def test_an_end_without_a_word_has_no_cause_of_its_own():
    assert BY_ID["vllm"].diagnose(["INFO all is well"], 1) is None


def test_every_code_of_the_table_is_explained():
    codes = {failing.code for entry in ENTRIES.values() for failing in (*entry.fails, *COMMON)}
    codes |= {note for entry in ENTRIES.values() for note in entry.notes}
    assert codes - WHAT_AND_NEXT.keys() == set()


def test_every_stage_of_the_table_is_one():
    assert {saying.stage for entry in ENTRIES.values() for saying in entry.says} - {*STAGES, ""} == set()


def test_of_a_bar_only_the_last_state_is_read():
    assert plain("a\rb\rc\r") == "c"


def test_what_computes_on_what():
    assert BY_ID["vllm"].hardware.vendors == {"nvidia", "amd", "intel"}
    assert [BY_ID[name].hardware.processor for name in ("lmdeploy", "transformers", "tabbyapi")] == [False, True, False]
    assert {name: engine.hardware.share for name, engine in BY_ID.items()} == {
        "vllm": "all", "sglang": "static", "lmdeploy": "rest", "transformers": "", "tabbyapi": "", "aphrodite": "all",
    }  # fmt: skip


def test_the_users_entries_are_marked_so():
    text = '[[program]]\nid = "mine"\ntitle = "X"\nformats = ["gguf"]\nprogram = "x"\nargv = ["{model}", "{port}"]\n'
    engines, wrong = engines_of(text, yours=True)
    assert ([engine.id for engine in engines], [engine.yours for engine in engines], wrong) == (["mine"], [True], ())
    assert engines[0].said(Load("/m")) == ["x", "/m", "8000"]
    assert not engines[0].knows_keys


@posix
def test_a_python_that_the_user_has_named_runs_what_the_entry_says(tmp_path):
    python = environment(tmp_path) / "python"
    text = f'[[program]]\nid = "mine"\ntitle = "X"\nformats = ["gguf"]\nprogram = "{python}"\n'
    engine = engines_of(text + 'argv = ["-m", "my.server", "{model}", "{port}"]', yours=True)[0][0]
    assert engine.command(LOAD, 5) == [str(python), "-m", "my.server", "/m/a model", "5"]
    assert (engine.program, engine.python, engine.missing()) == (str(python), None, None)
