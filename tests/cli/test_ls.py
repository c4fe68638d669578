import json
from pathlib import Path

import pytest
from tests.formats.made_gguf import LLAMA, gguf
from tests.library.shelves.made_shelves import put_blob, put_manifest

from weighbridge.base.units import THIN
from weighbridge.cli.main import run
from weighbridge.hardware.machine import Bandwidth


def put(home, name, content):
    path = home / "data" / "models" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def listed(capsys):
    assert run(["ls", "--json"], dict) == 0
    return json.loads(capsys.readouterr().out)


def test_an_empty_library_says_where_it_looked_and_what_to_do(home, capsys):
    assert run(["ls"], dict) == 0
    out = capsys.readouterr().out
    assert str(home / "data" / "models") in out
    assert "weighbridge starter" in out


def test_a_row_for_each_model(home, capsys):
    put(home, "tiny.Q8_0.gguf", gguf(LLAMA))
    put(home, "gemma.gguf", gguf({**LLAMA, "general.architecture": "gemma3", "gemma3.block_count": 2}))
    assert run(["ls"], dict) == 0
    head, gemma, tiny = capsys.readouterr().out.splitlines()
    assert head.split()[:5] == ["name", "format", "kind", "quant", "size"]
    assert tiny.split()[:4] == ["tiny.Q8_0", "gguf", "chat", "Q8_0"]
    assert "8,192" in tiny
    assert "Fits" in tiny
    assert gemma.endswith("Unknown")


def test_as_json(home, capsys):
    path = put(home, "tiny.Q8_0.gguf", gguf(LLAMA))
    (row,) = listed(capsys)["models"]
    assert (row["id"], row["path"], row["format"], row["kind"]) == ("tiny.Q8_0", str(path), "gguf", "chat")
    assert (row["quant"], row["context_length"], row["license"]) == ("Q8_0", 8192, "mit")
    terms = row["memory"]["devices"]["host"]
    assert terms["kv"] == 4096 * 2 * 2 * 32 * 2
    assert 0 <= row["size_bytes"] - terms["weights"] < 2  # shared out among two layers
    assert row["memory"]["total_bytes"] == sum(terms.values())
    assert row["memory"]["notes"] == ["estimate.weights_by_size"]
    assert (row["context"], row["verdict"], row["runner"]) == (4096, "fits", None)
    assert row["problem"] is None


def test_a_smaller_limit_is_used_and_shown(home, capsys):
    put(home, "tiny.gguf", gguf({**LLAMA, "llama.context_length": 2048}))
    assert listed(capsys)["models"][0]["context"] == 2048
    run(["ls"], dict)
    assert "2,048  unknown  Fits" in capsys.readouterr().out.splitlines()[1]


def test_an_architecture_nobody_knows_is_a_range(home, capsys):
    keys = {key.replace("llama.", "brandnew9."): value for key, value in LLAMA.items()}
    put(home, "tiny.gguf", gguf({**keys, "general.architecture": "brandnew9"}))
    (row,) = listed(capsys)["models"]
    assert row["memory"]["least_bytes"] == row["memory"]["total_bytes"] - 4096 * 2 * 2 * 32 * 2
    assert "estimate.upper_bound" in row["memory"]["notes"]
    run(["ls"], dict)
    assert " to " in capsys.readouterr().out.splitlines()[1]


def test_a_damaged_file_is_a_row_and_its_problem_is_told(home, capsys):
    put(home, "bad.gguf", b"<!doctype html>")
    assert run(["ls"], dict) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1].split()[:3] == ["bad", "gguf", "damaged"]
    assert "web page" in err
    assert listed(capsys)["models"][0]["problem"]["code"] == "file.web_page"


def test_what_was_skipped_is_told(home, capsys):
    put(home, "tiny.gguf", gguf(LLAMA)).with_name("gone.gguf").symlink_to(home / "nowhere")
    assert [skipped["code"] for skipped in listed(capsys)["skipped"]] == ["library.skipped"]


def test_folders_of_the_settings_are_looked_at_too(home, tmp_path, capsys):
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.gguf").write_bytes(gguf(LLAMA))
    settings = home / "config" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'model_folders = ["{other.as_posix()}"]\n')
    assert [row["id"] for row in listed(capsys)["models"]] == ["mine"]


def test_a_settings_file_with_a_fault_is_told(home, capsys):
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.toml").write_text('model_folders = ["~nobody-of-this-name/x"]\nport = "x"\n')
    assert run(["ls"], dict) == 0
    assert "port" in capsys.readouterr().err
    (home / "config" / "settings.toml").write_text("not TOML")
    assert run(["ls"], dict) == 0
    assert "settings.damaged.toml" in capsys.readouterr().err


def test_the_speed_of_each(here, home, headed, capsys):
    here(bandwidth=Bandwidth(50.0, 50.0, "", "2026-11-30"), extensions=("AVX2",))
    for name in ("qwen3-8b", "qwen3-0.6b"):
        linked(home, headed(name))
    rows = listed(capsys)["models"]
    assert [row["id"] for row in rows] == ["qwen3-0.6b", "qwen3-8b"]
    assert rows[0]["decode_tps"]["mid"] > 5 * rows[1]["decode_tps"]["mid"] > 0
    run(["ls"], dict)
    head, small, large = capsys.readouterr().out.replace(THIN, " ").splitlines()
    assert head.split()[-2:] == ["speed", "fit"]
    assert " tok/s  Fits · " in small
    assert " tok/s  Fits · " in large


def linked(home, path):
    folder = home / "data" / "models"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / Path(path).name).symlink_to(path)


@pytest.mark.parametrize(
    ("order", "ids"),
    [
        ("name", ["llama-3.3-70b", "qwen3-0.6b", "qwen3-8b", "vae"]),
        ("size", ["llama-3.3-70b", "qwen3-8b", "qwen3-0.6b", "vae"]),
        ("speed", ["qwen3-0.6b", "qwen3-8b", "llama-3.3-70b", "vae"]),
        ("fit", ["qwen3-0.6b", "qwen3-8b", "llama-3.3-70b", "vae"]),
    ],
)
def test_in_an_order(here, home, headed, capsys, order, ids):
    here(bandwidth=Bandwidth(50.0, 50.0, "", "2026-11-30"))
    for name in ("qwen3-8b", "llama-3.3-70b", "qwen3-0.6b"):
        linked(home, headed(name))
    put(home, "vae.gguf", gguf({**LLAMA, "general.architecture": "flux"}))  # neither fit nor speed
    assert run(["ls", "--json", "--sort", order], dict) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)["models"]] == ids


def test_an_order_that_there_is_not(capsys):
    assert run(["ls", "--sort", "colour"], dict) == 2
    assert "colour" in capsys.readouterr().err


def test_experts_are_told_by_the_whole_header(here, home, headed, capsys):
    here(bandwidth=Bandwidth(50.0, 50.0, "", "2026-11-30"))
    linked(home, headed("qwen3-30b-a3b"))
    (row,) = listed(capsys)["models"]
    (place,) = row["decode_tps"]["basis"]["places"]
    assert place["mixed_layers"] == 48
    assert place["weight_bytes"] < 0.15 * row["size_bytes"]


def test_on_a_machine_that_is_described(here, home, headed, capsys):
    linked(home, headed("qwen3-8b"))
    assert run(["ls", "--gpu", "RTX 4090", "--ram", "64"], dict) == 0
    first, _, row = capsys.readouterr().out.replace(THIN, " ").splitlines()
    assert first == "For NVIDIA GeForce RTX 4090 and 64.0 GiB of memory, with the CUDA build:"
    assert " tok/s  Fits · " in row
    assert run(["ls", "--gpu", "Foo 9000"], dict) == 1


def put_ollama(home, name, content):
    """A model in the folder where Ollama keeps those of this test's user. Returns its blob."""
    models = home.parent / "user" / ".ollama" / "models"
    digest = put_blob(models, content)
    put_manifest(models, f"registry.ollama.ai/library/{name}/latest", {"model": digest})
    return models / "blobs" / digest.replace(":", "-")


def test_models_of_other_programs_are_listed_with_their_source(home, capsys):
    put(home, "tiny.Q8_0.gguf", gguf(LLAMA))
    blob = put_ollama(home, "llama3.2", gguf(LLAMA | {"general.name": "other"}))
    ours, theirs = sorted(listed(capsys)["models"], key=lambda row: row["source"], reverse=True)
    assert (ours["id"], ours["source"], ours["sha256s"]) == ("tiny.Q8_0", "own", [])
    assert (theirs["id"], theirs["source"], theirs["path"]) == ("llama3.2:latest", "ollama", str(blob))
    assert (theirs["aliases"], theirs["sha256s"]) == (["llama3.2"], [blob.name.removeprefix("sha256-")])
    run(["ls"], dict)
    assert "Ollama" in capsys.readouterr().out


def test_those_of_one_source_alone(home, capsys):
    put(home, "tiny.Q8_0.gguf", gguf(LLAMA))
    put_ollama(home, "llama3.2", gguf(LLAMA | {"general.name": "other"}))
    for source, ids in {"own": ["tiny.Q8_0"], "ollama": ["llama3.2:latest"], "jan": []}.items():
        assert run(["ls", "--source", source, "--json"], dict) == 0
        assert [row["id"] for row in json.loads(capsys.readouterr().out)["models"]] == ids
    assert run(["ls", "--source", "jan"], dict) == 0
    assert "No models of that source" in capsys.readouterr().out
    assert run(["ls", "--source", "nobody"], dict) == 2
    assert "ollama" in capsys.readouterr().err


def test_models_of_other_programs_can_be_left_out(home, capsys):
    put_ollama(home, "llama3.2", gguf(LLAMA))
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.toml").write_text("other_programs = false\n")
    assert listed(capsys)["models"] == []
