"""`weighbridge fit`: a model weighed, in words and as JSON."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.choices.made_surroundings import unseen
from tests.cli.fitting import CARD, ENGINE, fit, said, told
from tests.estimates.made_blueprints import GIB
from tests.formats.made_gguf import LLAMA, gguf
from tests.library.shelves.made_shelves import put_blob, put_manifest

from weighbridge.base.database import Database
from weighbridge.base.paths import default_paths
from weighbridge.estimates.estimate import Term
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.running.observations import Observation, Observations, situation
from weighbridge_engines.catalogue import catalogue

ROWS = (
    "0.1 I common_memory_breakdown_print: |   - Host     |          612 =  301 +     210 +     101          |",
    "0.1 I common_memory_breakdown_print: |   - CPU_REPACK |        700 =  700 +       0 +       0          |",
)


def test_in_words(here, headed, capsys):
    out = said(capsys, headed("qwen3-8b"), "--context", "8192", "--kv", "q8_0")
    lines = out.splitlines()
    assert lines[0] == "qwen3-8b"
    assert "GGUF" in lines[1]
    assert "36 layers" in lines[1]
    assert lines[3].startswith("Fits · ")
    assert lines[3].endswith("in RAM")
    assert lines[4].startswith("At 8,192 tokens of context, KV cache in q8_0, 1 slot, batch of ")
    assert "36 layers × (1,024 + 1,024) × 1.0625 bytes = 76.5 KiB a token." in out
    assert "641,728,512" in out  # 8192 x 36 x 2048 x 34/32
    assert "Calculated." in out
    assert "The longest context that fits: 40,960 tokens." in out
    assert lines[-1] == "Run by: llama.cpp"


def test_as_json(here, headed, capsys):
    answer = told(capsys, headed("qwen3-8b"), "--context", "8192")
    assert (answer["verdict"], answer["runner"]["installed"], answer["elsewhere"]) == ("fits", True, None)
    assert (answer["model"]["id"], answer["model"]["layers"]) == ("qwen3-8b", 36)
    assert (answer["load"]["context"], answer["plan"]["context"], answer["token_bytes"]) == (8192, 8192, 147_456)
    terms = answer["estimate"]["devices"]["host"]
    assert terms["kv"] == 8192 * 147_456
    assert answer["estimate"]["total_bytes"] == sum(terms.values())
    assert answer["left_bytes"] == 28 * GIB - answer["estimate"]["total_bytes"]
    assert (answer["engine_table"], answer["engine_problem"], answer["remedy"]) == (None, None, None)


def test_a_mixture_keeps_experts_in_ram_before_layers(here, headed, capsys):
    here(replace(CARD, memory=Memory(MemoryKind.DEDICATED, 12 * GIB, 11 * GIB)))
    answer = told(capsys, headed("qwen3-30b-a3b"))
    assert (answer["verdict"], answer["gpu_layers"]) == ("partial", answer["all_layers"])
    kept = answer["load"]["cpu_experts"]
    assert kept == answer["plan"]["cpu_experts"] > 0
    assert f"Partial · experts of {kept} layers in RAM" in said(capsys, headed("qwen3-30b-a3b"))


def test_a_dense_model_too_large_for_a_card_lies_there_in_part(here, headed, capsys):
    here(replace(CARD, memory=Memory(MemoryKind.DEDICATED, 8 * GIB, 7 * GIB)))
    answer = told(capsys, headed("qwen3.5-27b"))
    assert answer["verdict"] == "partial"
    assert 0 < answer["gpu_layers"] < answer["all_layers"]
    assert answer["load"]["gpu_layers"] == answer["gpu_layers"]
    assert set(answer["estimate"]["devices"]) == {"host", "cuda0"}
    told_layers = told(capsys, headed("qwen3.5-27b"), "--gpu-layers", "0")
    assert set(told_layers["estimate"]["devices"]) == {"host"}


def test_the_windows_of_a_model_are_told(here, headed, capsys):
    out = said(capsys, headed("gemma-3-12b"), "--context", "32768")
    assert "8 layers × (2,048 + 2,048) × 2 bytes = 64.0 KiB a token. 40 layers keep only the last 1,024 tokens." in out


def test_what_is_short_and_what_to_change(here, headed, capsys):
    here(free_gib=9, total_gib=16)
    path = headed("qwen3-8b")
    answer = told(capsys, path, "--context", "40960")
    assert (answer["verdict"], answer["remedy"]["verdict"]) == ("no", "fits")
    assert answer["remedy"]["changes"] == {"key_type": "q8_0", "value_type": "q8_0"}
    out = said(capsys, path, "--context", "40960")
    assert "No · " in out
    assert "short in RAM\nIt fits with a KV cache in q8_0." in out


def test_the_batch_is_the_engines_own_where_a_card_holds_the_model(here, headed, capsys):
    assert told(capsys, headed("qwen3-8b"))["plan"]["batch"] < 512  # for Stop, on the processor
    here(CARD)
    assert told(capsys, headed("qwen3-8b"))["plan"]["batch"] == 512
    assert told(capsys, headed("qwen3-8b"), "--gpu-layers", "20")["plan"]["batch"] < 512
    for size_gib, verdict, is_own in ((6, "tight", True), (4, "partial", False)):
        here(replace(CARD, memory=Memory(MemoryKind.DEDICATED, size_gib * GIB, size_gib * GIB)))
        answer = told(capsys, headed("qwen3-8b"))
        assert (answer["verdict"], answer["plan"]["batch"] == 512) == (verdict, is_own)


def test_a_card_that_nothing_here_can_use(here, headed, capsys):
    here(unseen(CARD))
    assert "left on RTX 3090 with the CUDA build of llama.cpp (install)" in said(capsys, headed("qwen3-8b"))
    answer = told(capsys, headed("qwen3-8b"))["elsewhere"]
    assert (answer["verdict"], answer["missing"]["code"]) == ("fits", "engine.no_build")


def test_the_settings_decide_where_nothing_is_asked_for(here, headed, home, capsys):
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.toml").write_text("context = 6144\n")
    assert told(capsys, headed("qwen3-8b"))["plan"]["context"] == 6144
    answer = told(capsys, headed("qwen3-8b"), "--slots", "4", "--batch", "64")
    assert (answer["plan"]["slots"], answer["plan"]["unified"], answer["plan"]["batch"]) == (4, True, 64)


def test_a_model_of_the_library_by_its_name(here, home, capsys):
    path = home / "data" / "models" / "tiny.Q8_0.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(gguf(LLAMA))
    assert told(capsys, "tiny.Q8_0")["model"]["path"] == str(path)


def test_a_model_of_another_program_is_weighed_under_its_name_there(here, home, capsys):
    models = home.parent / "user" / ".ollama" / "models"
    put_manifest(models, "registry.ollama.ai/library/tiny/1b", {"model": put_blob(models, gguf(LLAMA))})
    answer = told(capsys, "tiny:1b")
    assert (answer["model"]["id"], answer["model"]["source"], answer["verdict"]) == ("tiny:1b", "ollama", "fits")


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"<!doctype html>", "web page"), (b"", "empty"), (None, "there is no model")],
    ids=["web page", "empty", "not there"],
)
def test_what_is_no_model_is_told(here, tmp_path, capsys, content, words):
    path = tmp_path / "m.gguf"
    if content is not None:
        path.write_bytes(content)
    assert fit(str(path)) != 0
    assert words in capsys.readouterr().err.lower()


def test_an_engine_that_does_not_run_the_format_is_refused(here, headed, capsys):
    assert fit(headed("qwen3-8b"), "--engine", "mlx") != 0
    assert "mlx does not run gguf files" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["--context", "0"], ["--gpu-layers", "-1"], ["--kv", "q2"], ["--batch", "many"]], ids=" ".join
)
def test_settings_that_make_no_sense_are_refused(here, headed, capsys, arguments):
    assert fit(headed("qwen3-8b"), *arguments) == 2
    assert arguments[0] in capsys.readouterr().err


def test_the_engines_own_table_takes_the_place_of_the_formula(here, headed, capsys, monkeypatch):
    answer = exact(here, headed, capsys, monkeypatch, ROWS)
    assert (answer["estimate"]["basis"], answer["engine_table"]) == ("engine", None)
    terms = answer["estimate"]["devices"]["host"]
    assert (terms["weights"], terms["kv"], terms["compute"]) == (1001 << 20, 210 << 20, 101 << 20)


def test_a_table_of_other_devices_stands_beside(here, headed, capsys, monkeypatch):
    card = "0.1 I common_memory_breakdown_print: |   - CUDA0 (x) | 24 = 24 + (9 =  5 +     3 +      1) +       -9 |"
    answer = exact(here, headed, capsys, monkeypatch, (card, *ROWS))
    assert answer["estimate"]["basis"] == "calculated"
    assert [row["device"] for row in answer["engine_table"]] == ["CUDA0", "Host", "CPU_REPACK"]


def test_why_the_engine_did_not_tell(here, headed, capsys, monkeypatch):
    answer = exact(here, headed, capsys, monkeypatch, ("some words",))
    assert answer["estimate"]["basis"] == "calculated"
    assert answer["engine_problem"]["code"] == "sizing.no_table"


def test_an_engine_without_a_table(here, headed, capsys):
    answer = told(capsys, headed("qwen3-8b"), "--exact", engine=replace(ENGINE, size=None))
    assert answer["engine_problem"]["code"] == "sizing.not_offered"


def exact(here, headed, capsys, monkeypatch, lines):
    """`--exact`, with an engine whose child prints `lines`."""
    from weighbridge.running import sizing

    monkeypatch.setattr(sizing, "Child", lambda argv, environment, hear, ended, most: Printing(lines, hear, ended))
    return told(capsys, headed("qwen3-8b"), "--exact", engine=replace(ENGINE, row=catalogue()["llama_server"].row))


class Printing:
    """In the place of a child: prints at once and has ended."""

    def __init__(self, lines, hear, ended):
        for line in lines:
            hear(line)
        ended()

    def stop(self):
        """Nothing runs."""

    def ended(self):
        return 0


def test_what_an_earlier_load_took_is_used(here, headed, capsys):
    from weighbridge.library.recognise_path import recognise_path
    from weighbridge_engines.api import Load

    path = headed("qwen3-8b")
    load = Load.from_json({**told(capsys, path)["load"], "model": path, "extra": {}})
    now = situation(recognise_path(Path(path)), load, "llama_server", "1", ("A Processor",))
    taken = {Term.WEIGHTS: 4 * GIB, Term.KV: GIB}
    database = Database(default_paths().database)
    Observations(database).keep(Observation(now, {"Host": taken}, 6 * GIB, {Term.WEIGHTS: 5 * GIB}))
    database.close()
    answer = told(capsys, path)
    assert (answer["estimate"]["basis"], answer["estimate"]["total_bytes"]) == ("measured", 6 * GIB)
    assert answer["last_off"] == pytest.approx(0.2)
    assert "Last time it took 20.0 % more than was estimated." in said(capsys, path)


def test_an_architecture_nobody_knows_is_a_range(here, tmp_path, capsys):
    keys = {key.replace("llama.", "brandnew9."): value for key, value in LLAMA.items()}
    path = tmp_path / "new.gguf"
    path.write_bytes(gguf({**keys, "general.architecture": "brandnew9"}))
    out = said(capsys, str(path))
    assert " to " in out
    assert "not known here" in out


@pytest.mark.parametrize("architecture", ["sd3", "flux", "wav2vec"])
def test_what_is_not_for_chat_is_said_before_it_is_loaded(here, tmp_path, capsys, architecture):
    keys = {key.replace("llama.", f"{architecture}."): value for key, value in LLAMA.items()}
    path = tmp_path / "picture.gguf"
    path.write_bytes(gguf({**keys, "general.architecture": architecture}))
    out = said(capsys, str(path))
    assert "Not a model for chat" in out
    assert out.endswith("Run by: no known engine\n")
    assert told(capsys, str(path))["verdict"] == "unknown"


@pytest.mark.parametrize("name", ["m-00001-of-00003.gguf", "m-00003-of-00003.gguf"])
def test_a_set_is_weighed_whole_by_whichever_part_is_named(here, tmp_path, capsys, name):
    for number, length in ((1, 3 << 20), (2, 1 << 20), (3, 1 << 20)):
        own = LLAMA if number == 1 else {}
        path = tmp_path / f"m-0000{number}-of-00003.gguf"
        path.write_bytes(gguf({**own, "split.no": number - 1, "split.count": 3}).ljust(length, b"\0"))
    answer = told(capsys, str(tmp_path / name))
    assert (answer["model"]["size_bytes"], len(answer["model"]["parts"])) == (5 << 20, 3)
    assert answer["estimate"]["devices"]["host"]["weights"] == pytest.approx(5 << 20, abs=2)


def test_all_experts_need_memory_and_only_those_in_use_count_as_active(here, headed, capsys):
    answer = told(capsys, headed("qwen3-30b-a3b"))
    assert answer["estimate"]["devices"]["host"]["weights"] > 0.99 * answer["model"]["size_bytes"]
    assert answer["model"]["active_parameters"] < 0.12 * answer["model"]["parameters"]


NO_HEADS_FIRST = {
    "general.architecture": "lfm2",
    "lfm2.block_count": 16,
    "lfm2.embedding_length": 2048,
    "lfm2.attention.head_count": 32,
    "lfm2.attention.head_count_kv": [0, 0, 8, 0, 0, 8, 0, 0, 8, 0, 8, 0, 8, 0, 8, 0],
    "lfm2.shortconv.l_cache": 3,
}
ALL_HEADS = {
    "general.architecture": "llama",
    "llama.block_count": 40,
    "llama.embedding_length": 5120,
    "llama.context_length": 262_144,
    "llama.attention.head_count": 40,
    "llama.attention.head_count_kv": 40,
}
ALTERNATING = {
    "general.architecture": "gpt-oss",
    "gpt-oss.block_count": 24,
    "gpt-oss.embedding_length": 2880,
    "gpt-oss.attention.head_count": 64,
    "gpt-oss.attention.head_count_kv": 8,
    "gpt-oss.attention.key_length": 64,
    "gpt-oss.attention.value_length": 64,
    "gpt-oss.attention.sliding_window": 128,
}


@pytest.mark.parametrize(
    ("keys", "context", "kv_gib"),
    [
        (NO_HEADS_FIRST, 32_768, 0.375),
        (NO_HEADS_FIRST, 4096, 0.046875),
        (ALL_HEADS, 16_384, 12.5),
        (ALL_HEADS, 2048, 1.5625),
        (ALTERNATING, 131_072, pytest.approx(3.0, rel=0.01)),
    ],
    ids=["no heads first, long", "no heads first, short", "all heads, long", "all heads, short", "alternating"],
)
def test_the_cache_is_that_of_the_layers_that_keep_one_at_the_context_that_is_told(
    here, tmp_path, capsys, keys, context, kv_gib
):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(keys))
    answer = told(capsys, str(path), "--context", str(context))
    assert answer["estimate"]["devices"]["host"]["kv"] / GIB == kv_gib
    assert answer["plan"]["context"] == context


@pytest.mark.parametrize("value", [0, -1.0, True, "lots", 1e30, 2**32 - 1])
@pytest.mark.parametrize(
    "name",
    ["block_count", "embedding_length", "attention.head_count", "attention.head_count_kv", "attention.key_length",
     "context_length", "feed_forward_length", "attention.sliding_window", "nextn_predict_layers"],
)  # fmt: skip
def test_a_header_of_nonsense_breaks_nothing(here, tmp_path, capsys, name, value):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf({**LLAMA, f"llama.{name}": value}))
    answer = told(capsys, str(path))
    assert answer["verdict"] in ("fits", "tight", "no", "unknown")


@pytest.mark.parametrize(
    "keys",
    [
        {"attention.key_length": 10**9},
        {"attention.head_count_kv": 10**6},
        {"expert_count": 2**31},
    ],
    ids=["keys", "heads", "experts"],
)
def test_a_cache_beyond_all_models_is_unknown_and_not_too_large(here, tmp_path, capsys, keys):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf({**LLAMA, **{f"llama.{name}": value for name, value in keys.items()}}))
    assert told(capsys, str(path))["verdict"] == "unknown"
    assert "what it says cannot be true" in said(capsys, str(path))


def test_with_the_projector_that_lies_beside_it(here, headed, capsys):
    model = headed("qwen3-8b")
    alone = told(capsys, model)
    projector = Path(model).with_name("mmproj-F16.gguf")
    projector.write_bytes(gguf({"general.architecture": "clip"}))
    with projector.open("r+b") as file:
        file.truncate(1 << 30)
    answer = told(capsys, model, "--with", "projector")
    assert answer["estimate"]["devices"]["host"]["projector"] == int(1.4 * (1 << 30))
    assert answer["left_bytes"] == alone["left_bytes"] - int(1.4 * (1 << 30))
    assert "Projector" in said(capsys, model, "--with", "projector")


def test_a_role_that_no_file_beside_it_has_is_an_error(here, headed, capsys):
    assert fit(headed("qwen3-8b"), "--with", "draft", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "model.no_companion"


def test_a_projector_that_a_setting_names_is_weighed_too(here, headed, tmp_path, capsys):
    model = headed("qwen3-8b")
    projector = tmp_path / "elsewhere.gguf"
    projector.write_bytes(gguf({"general.architecture": "clip"}))
    with projector.open("r+b") as file:
        file.truncate(1 << 30)
    engine = replace(ENGINE, controls=catalogue()["llama_server"].controls)
    answer = told(capsys, model, "--set", f"projector={projector}", engine=engine)
    assert answer["estimate"]["devices"]["host"]["projector"] == int(1.4 * (1 << 30))
