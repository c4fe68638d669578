import argparse
import json

import pytest
from tests.fake_hub import FakeHub, RateLimited, Told
from tests.fake_hub.searched import BASE, PARAMETERS, add_family

from weighbridge.base.units import THIN
from weighbridge.cli.main import run
from weighbridge.cli.search import parameters

GGUF = "unsloth/Qwen3-8B-GGUF"


@pytest.fixture
def hub(monkeypatch):
    with FakeHub() as fake:
        add_family(fake)
        monkeypatch.setenv("HF_ENDPOINT", fake.endpoint)
        yield fake


def search(*words):
    return run(["search", *words], dict)


def told(capsys):
    return json.loads(capsys.readouterr().out)


def shown(capsys):
    return capsys.readouterr().out.replace(THIN, " ").splitlines()


def repositories(found):
    return [hit["repo_id"] for group in found["groups"] for hit in group["repositories"]]


def test_words_are_one_call_and_a_table_by_model(hub, capsys):
    assert search("qwen3") == 0
    lines = shown(capsys)
    head = "repository formats parameters licence downloads likes changed access"
    assert lines[0].split() == head.split()
    assert lines[1].split() == f"Qwen3-8B ({BASE}) gguf, exl3, mlx 8.2 B 25,000 2026-01-01".split()
    assert lines[2].split()[0] == BASE
    assert lines[3].split() == f"{GGUF} gguf 8.2 B apache-2.0 6,000 300 2026-01-01".split()
    assert "licence first" in next(line for line in lines if "qwen3_8b.i1-GGUF" in line)
    assert [line for line in lines[1:] if not line.startswith(" ")][1].startswith("Qwen3-0.6B ")
    assert len(hub.requests) == 1


def test_every_option(hub, capsys):
    assert search("qwen3", "--format", "gguf", "--parameters", "6B:14B", "--sort", "likes", "--json") == 0
    assert repositories(told(capsys)) == [GGUF, "someone/qwen3_8b.i1-GGUF"]
    assert search("--author", "someone", "--license", "mit", "--json") == 0
    assert repositories(told(capsys)) == ["someone/Qwen3-0.6B-GGUF"]
    assert search("--task", "feature-extraction", "--json") == 0
    assert repositories(told(capsys)) == ["Qwen/Qwen3-Embedding-0.6B"]
    assert search("--base", BASE, "--format", "mlx", "--json") == 0
    assert repositories(told(capsys)) == ["mlx-community/Qwen3-8B-4bit"]


@pytest.mark.parametrize("sort", ["trending", "downloads", "likes", "changed", "new"])
def test_every_order(hub, capsys, sort):
    assert search("qwen3", "--sort", sort, "--json") == 0
    assert len(repositories(told(capsys))) == 7


def test_as_json(hub, capsys):
    hub.limits["api"] = 500
    assert search("qwen3", "--format", "gguf", "--json") == 0
    found = told(capsys)
    group, hit = found["groups"][0], found["groups"][0]["repositories"][0]
    assert (group["base"], group["title"], group["formats"]) == (BASE, "Qwen3-8B", ["gguf"])
    assert (group["parameters"], group["downloads"], group["gated"]) == (PARAMETERS, 9000, False)
    assert (hit["repo_id"], hit["license"], hit["downloads"], hit["gated"]) == (GGUF, "apache-2.0", 6000, False)
    assert (hit["context_length"], hit["architecture"]) == (40_960, "qwen3")
    assert hit["changed"].startswith("2026-01-01T")
    assert (found["allowance"]["remaining"], found["allowance"]["limit"]) == (499, 500)
    assert 290 <= found["allowance"]["left_s"] <= 300


def test_a_limit_is_one_of_repositories_and_there_may_be_more(hub, capsys):
    assert search("qwen3", "--limit", "3") == 0
    lines = shown(capsys)
    assert len([line for line in lines if line.startswith("  ")]) == 3
    assert lines[-1] == "There may be more: --limit 6"


def test_nothing_found_says_so(hub, capsys):
    assert search("nothing", "of", "that", "name") == 0
    assert shown(capsys) == ["The Hub lists no such model. Try fewer words, or leave out an option."]
    assert search("nothing", "--json") == 0
    assert told(capsys) == {"groups": [], "allowance": None}


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ([GGUF], GGUF),
        ([f"  {GGUF}  "], GGUF),
        (["UNSLOTH/qwen3-8b-gguf"], GGUF),
        ([f"hf.co/{GGUF}:Q4_K_M"], f"{GGUF}:Q4_K_M"),
        ([f"https://huggingface.co/{GGUF}/blob/main/Qwen3-8B-GGUF.gguf"], f"{GGUF}:Qwen3-8B-GGUF.gguf"),
        (
            [f"https://huggingface.co/{GGUF}/resolve/main/Qwen3-8B-GGUF.gguf?download=true"],
            f"{GGUF}:Qwen3-8B-GGUF.gguf",
        ),
        (["hf", "download", GGUF, "Qwen3-8B-GGUF.gguf"], f"{GGUF}:Qwen3-8B-GGUF.gguf"),
        ([f'hf download {GGUF} --include "*Q4_K_M*"'], f"{GGUF}:Q4_K_M"),
    ],
)
def test_what_was_pasted_gives_that_repository_and_the_next_step(hub, capsys, words, meant):
    assert search(*words) == 0
    lines = shown(capsys)
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [GGUF]
    assert lines[-1] == f"To weigh it before a byte is fetched: weighbridge fit {meant}"
    assert not hub.asked(path="/api/models?")


def test_an_address_of_the_mirror_that_is_set(hub, capsys):
    assert search(f"{hub.endpoint}/{GGUF}", "--json") == 0
    assert repositories(told(capsys)) == [GGUF]


def test_what_would_narrow_a_search_is_not_dropped_in_silence(hub, capsys):
    assert search(GGUF, "--format", "mlx", "--json") == 0
    captured = capsys.readouterr()
    assert captured.err == f"{GGUF} is one repository: what would narrow a search is not used.\n"
    assert repositories(json.loads(captured.out)) == [GGUF]


def test_a_branch_is_kept(hub, capsys):
    hub.repos[GGUF].commit({"a b.gguf": b"GGUF"}, "small")
    assert search(f"https://huggingface.co/{GGUF}/blob/small/a%20b.gguf") == 0
    assert shown(capsys)[-1].endswith(f'weighbridge fit "{GGUF}@small:a b.gguf"')


def test_a_base_model_leads_to_its_quantisations(hub, capsys):
    assert search(BASE) == 0
    assert shown(capsys)[-1] == f"For its quantisations: weighbridge search --base {BASE}"


@pytest.mark.parametrize(
    ("words", "code", "calls"),
    [
        (["https://huggingface.co/datasets/o/r"], "hub.reference", 0),
        (["hf download --repo-type dataset o/r"], "hub.reference", 0),
        (["https://example.org/o/r"], "hub.reference", 0),
        (["nobody/nothing"], "hub.private", 1),
        ([f"{GGUF}:none.gguf"], "hub.no_file_there", 1),
        (["x" * 300], "hub.bad_name", 0),
    ],
)
def test_what_cannot_be_found_is_told(hub, capsys, words, code, calls):
    assert search(*words, "--json") == 1
    assert told(capsys)["error"]["code"] == code
    assert len(hub.requests) == calls


def test_offline_says_offline(hub, home, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for words in (["qwen3"], [GGUF]):
        assert search(*words) == 1
        assert capsys.readouterr().err.startswith("Weighbridge is set to stay offline.")
    monkeypatch.delenv("HF_HUB_OFFLINE")
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.toml").write_text("offline = true\n")
    assert search("qwen3", "--json") == 1
    assert told(capsys)["error"]["code"] == "hub.offline"
    assert hub.requests == []


def test_too_many_calls_say_for_how_long(hub, capsys):
    hub.faults.next(RateLimited(17, "api"), on="api")
    assert search("qwen3") == 1
    assert "pause of 17 s" in capsys.readouterr().err


def test_few_calls_left_are_told(hub, capsys):
    hub.limits["api"] = 2
    assert search("qwen3") == 0
    told_so = capsys.readouterr().err.replace(THIN, " ")
    assert told_so.startswith("The Hub allows 1 more call in the next ")


def test_a_token_that_is_not_taken_is_told_and_left_out(hub, capsys, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert search("qwen3", "--json") == 0
    captured = capsys.readouterr()
    assert len(repositories(json.loads(captured.out))) == 7
    assert "does not take your token" in captured.err
    assert [request.token for request in hub.requests] == ["hf_wrong", None]


def test_text_of_strangers_is_made_safe(hub, capsys):
    rows = [{"id": "o/r", "tags": ["license:\x1b[31mred\u202e", "gguf"]}]
    hub.faults.next(Told(rows), on="api")
    assert search("qwen3") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize(
    ("value", "bounds"),
    [
        ("6B:14B", (6 * 10**9, 14 * 10**9)),
        ("500m:", (500_000_000, None)),
        (":1.5B", (None, 1_500_000_000)),
        ("0:1T", (0, 10**12)),
        ("7:7", (7, 7)),
    ],
)
def test_ranges_of_parameters(value, bounds):
    assert parameters(value) == bounds


@pytest.mark.parametrize("value", ["", ":", "7B", "14B:6B", "a:b", "-1:2", "1:2:3", "1e9:", "1 B:", "9" * 50 + ":"])
def test_what_is_no_range(value):
    with pytest.raises(argparse.ArgumentTypeError):
        parameters(value)
