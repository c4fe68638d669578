"""`weighbridge fit` on repositories of the Hub."""

from dataclasses import replace

import pytest
from tests.cli.fitting import CARD, CASES, ENGINE, FILE_BYTES, fit, said, told
from tests.cli.test_fit import ROWS, Printing
from tests.estimates.made_blueprints import GIB
from tests.fake_hub import FakeHub, Made
from tests.fake_hub.examples import add_all, add_gated, folder
from tests.hub.looking_repos import add_base, add_forty, api_calls, claim_hashes, size_of, tiny
from tests.library.made_folders import put_exl2

from weighbridge.choices.blueprints import Blueprints
from weighbridge.choices.choice import weigh
from weighbridge.cli import surroundings
from weighbridge.cli.loading import scanned_library
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

FORTY = "unsloth/Qwen3-8B-GGUF"
ONE = "tiny/One-GGUF"


@pytest.fixture
def hub(monkeypatch):
    with FakeHub() as fake:
        monkeypatch.setenv("HF_ENDPOINT", fake.endpoint)
        yield fake


def card(gib):
    return replace(CARD, memory=Memory(MemoryKind.DEDICATED, gib * GIB, gib * GIB))


def put(hub, name):
    """A recorded model in a repository of its own, under the name that it has on disk."""
    content = Made(FILE_BYTES[f"{name}.gguf.head"], head=(CASES / f"{name}.gguf.head").read_bytes())
    claim_hashes(hub.add(ONE, {f"{name}.gguf": content}, tags=("gguf",)))


def refused(capsys, *arguments):
    assert fit(*arguments) != 0
    return capsys.readouterr().err


def rows(answer):
    return {row["quant"]: row for row in answer["choices"]}


def test_all_choices_of_a_repository(hub, here, capsys):
    here(card(12))
    add_forty(hub)
    answer = told(capsys, FORTY)
    assert len(api_calls(hub)) == 2
    assert (answer["repo_id"], answer["gated"], len(answer["choices"])) == (FORTY, False, 40)
    assert all(row["verdict"] != "unknown" for row in answer["choices"])
    assert answer["counts"] == {
        verdict: sum(row["verdict"] == verdict for row in answer["choices"])
        for verdict in ("fits", "tight", "partial", "no", "unknown")
    }
    assert rows(answer)["Q4_K_M"]["size_bytes"] == size_of("Q4_K_M")
    assert rows(answer)["BF16"]["verdict"] == "partial"
    best = answer["choices"][answer["recommended"]["place"]]
    assert (best["verdict"], best["quant"]) == ("fits", "Q8_0")
    assert best["reference"] == f"{FORTY}:Q8_0"


def test_in_words(hub, here, capsys):
    here(card(8))
    add_forty(hub)
    out = said(capsys, FORTY)
    lines = out.splitlines()
    assert lines[0].startswith(f"{FORTY}: 40 choices, ")
    assert len([line for line in lines if "GGUF " in line and "llama.cpp" in line]) == 40
    [marked] = [line for line in lines if line.startswith("*  ")]
    assert "Fits · " in marked
    assert f"* Recommended: {FORTY}:" in out


def test_for_another_machine(hub, here, capsys):
    add_forty(hub)
    out = said(capsys, FORTY, "--gpu", "RTX 3090", "--ram", "64")
    assert out.startswith("For NVIDIA GeForce RTX 3090")
    small = told(capsys, FORTY, "--gpu", "RTX 3060 12GB", "--context", "32768")
    large = told(capsys, FORTY, "--gpu", "RTX 3090", "--context", "1024")
    assert small["counts"]["fits"] < large["counts"]["fits"]


@pytest.mark.parametrize("gib", [0, 6, 12])
@pytest.mark.parametrize("name", ["qwen3-8b", "gemma-3-12b", "qwen3-30b-a3b", "granite-4-h-tiny", "gpt-oss-20b"])
def test_figures_of_a_remote_file_are_those_of_the_same_file_on_disk(hub, here, headed, capsys, name, gib):
    here(*([card(gib)] if gib else []))
    put(hub, name)
    there = told(capsys, f"{ONE}:{name}.gguf")
    local = told(capsys, headed(name))
    same = ("verdict", "left_bytes", "estimate", "plan", "token_bytes", "longest_context", "gpu_layers", "runner")
    assert {field: there[field] for field in same} == {field: local[field] for field in same}
    of_file = ("quant", "guessed", "parameters", "active_parameters", "bits_per_weight", "layers", "license", "kind")
    assert {field: there["model"][field] for field in of_file} == {field: local["model"][field] for field in of_file}
    assert (there["repo_id"], there["revision"], there["here"]) == (ONE, "main", None)


def test_a_row_is_weighed_as_the_library_weighs_a_file_of_which_the_start_is_read(hub, here, home, capsys):
    put(hub, "qwen3-8b")
    place = home / "data/models/other/qwen3-8b.gguf"
    place.parent.mkdir(parents=True)
    place.write_bytes((CASES / "qwen3-8b.gguf.head").read_bytes())
    with place.open("r+b") as file:
        file.truncate(FILE_BYTES["qwen3-8b.gguf.head"])
    [row] = told(capsys, ONE)["choices"]
    [model] = scanned_library().models
    around = surroundings.surroundings({"llama_server": ENGINE})
    load = Load(str(place), context=4096, threads=15, batch=None)
    batch = told(capsys, f"{ONE}:qwen3-8b.gguf")["load"]["batch"]
    local = weigh(model, Blueprints().of(model), replace(load, batch=batch), around)
    assert (row["verdict"], row["total_bytes"]) == (local.fit.verdict, local.fit.estimate.total_bytes)


def test_one_choice_by_its_file_or_its_quantisation(hub, here, capsys):
    add_forty(hub)
    by_quant = told(capsys, f"{FORTY}:Q4_K_M")
    assert told(capsys, f"{FORTY}:Qwen3-8B-Q4_K_M.gguf") == by_quant
    assert told(capsys, f"{hub.endpoint}/{FORTY}/blob/main/Qwen3-8B-Q4_K_M.gguf") == by_quant
    assert by_quant["model"]["quant"] == "Q4_K_M"
    out = said(capsys, f"{FORTY}:Q4_K_M")
    assert out.splitlines()[0] == f"{FORTY}:Q4_K_M"
    assert out.splitlines()[3].startswith("Fits · ")
    assert out.splitlines()[-1] == "Run by: llama.cpp"


def test_the_engines_own_figure_by_headers_alone(hub, here, capsys, monkeypatch):
    from weighbridge.running import sizing

    monkeypatch.setattr(sizing, "Child", lambda argv, environment, hear, ended, memory: Printing(ROWS, hear, ended))
    add_forty(hub)
    engine = replace(ENGINE, row=catalogue()["llama_server"].row)
    answer = told(capsys, f"{FORTY}:Q8_0", "--exact", engine=engine)
    assert (answer["estimate"]["basis"], answer["engine_problem"]) == ("engine", None)
    terms = answer["estimate"]["devices"]["host"]
    assert (terms["weights"], terms["kv"], terms["compute"]) == (1001 << 20, 210 << 20, 101 << 20)
    untold = told(capsys, f"{FORTY}:Q8_0", "--exact", engine=replace(ENGINE, size=None))
    assert untold["engine_problem"]["code"] == "sizing.not_offered"


def test_branches_are_looked_into(hub, here, capsys):
    add_base(hub)
    answer = told(capsys, "tiny/Qwen3-8B-exl3")
    assert [row["revision"] for row in answer["choices"]] == ["2.5bpw", "3.0bpw", "4.0bpw", "6.0bpw"]
    assert set(answer["branches"]) == {"main", "2.5bpw", "3.0bpw", "4.0bpw", "6.0bpw"}
    assert answer["branches_left"] == []
    by_branch = told(capsys, "tiny/Qwen3-8B-exl3", "--revision", "4.0bpw")
    by_name = told(capsys, "tiny/Qwen3-8B-exl3:4.0bpw")
    assert by_branch == by_name
    assert (by_branch["revision"], by_branch["model"]["quant"]) == ("4.0bpw", "4.0 bpw h6")


def test_not_all_branches_of_very_many(hub, here, capsys):
    repo = hub.add("tiny/Many-exl2", {"README.md": "x"}, tags=("exl2",))
    for number in range(15):
        repo.commit(folder(put_exl2), f"{number + 1}.0bpw")
    answer = told(capsys, repo.id)
    assert (len(answer["choices"]), len(answer["branches_left"])) == (12, 3)
    assert "3 more branches were not looked into: 13.0bpw, 14.0bpw, 15.0bpw." in said(capsys, repo.id)


def test_what_is_here_already(hub, here, home, capsys):
    add_all(hub)
    file = hub.repos["tiny/Tiny-GGUF"].branches["main"].entries["Tiny-Q4_K_M.gguf"].content.body
    place = home / "data/models/tiny/Tiny-GGUF/Tiny-Q4_K_M.gguf"
    place.parent.mkdir(parents=True)
    place.write_bytes(file)
    answer = told(capsys, "tiny/Tiny-GGUF")
    assert {quant: row["here"] for quant, row in rows(answer).items()} == {"Q4_K_M": str(place), "Q8_0": None}
    assert told(capsys, "tiny/Tiny-GGUF:Q4_K_M")["model"]["path"] == str(place)
    before = len(hub.requests)
    assert said(capsys, "tiny/Tiny-GGUF:Q4_K_M").startswith("Tiny-Q4_K_M\n")  # as it lies here
    assert len(hub.requests) == before
    out = said(capsys, "tiny/Tiny-GGUF:Q4_K_M", "--revision", "main")
    assert f"Already on this computer: {place}" in out


def test_with_a_projector_by_its_size(hub, here, capsys):
    add_all(hub)
    answer = told(capsys, "tiny/Tiny-GGUF:Q8_0", "--with", "projector")
    size = hub.repos["tiny/Tiny-GGUF"].branches["main"].entries["mmproj-BF16.gguf"].size
    assert answer["estimate"]["devices"]["host"]["projector"] == int(size * 1.4)
    alone, seeing = (rows(told(capsys, "tiny/Tiny-GGUF", *more)) for more in ((), ("--with", "projector")))
    assert seeing["Q8_0"]["total_bytes"] - alone["Q8_0"]["total_bytes"] == int(size * 1.4)
    assert "the role draft" in refused(capsys, "tiny/Tiny-GGUF:Q8_0", "--with", "draft")


def test_a_gated_one(hub, here, capsys):
    add_gated(hub)
    out = said(capsys, "tiny/Gated-GGUF")
    assert "Its licence has to be accepted" in out
    assert "What is inside could not be looked at" in out
    answer = told(capsys, "tiny/Gated-GGUF")
    assert (answer["choices"][0]["verdict"], answer["recommended"]) == ("unknown", None)
    assert answer["unread"]["code"] == "hub.gated_sign_in"
    assert "accepted its licence" in refused(capsys, "tiny/Gated-GGUF:Q4_K_M")


def test_what_cannot_be_used_is_told_below_the_table(hub, here, capsys):
    add_all(hub)
    out = said(capsys, "tiny/Tiny-pickle")
    assert "Cannot be used" in out
    assert "is a pickle" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tiny/nothing"], "private, was renamed, or is gone"),
        (["tiny/Tiny-GGUF:Q9_X"], "has no Q9_X"),
        (["tiny/Tiny-GGUF:not-there.gguf"], "not-there.gguf"),
        (["tiny/Tiny-GGUF", "--revision", "gone"], "gone"),
        (["tiny/Tiny-GGUF", "--revision", "../x"], "../x"),
        (["tiny/Tiny-GGUF", "--exact"], "--exact"),
        (["tiny/Tiny-GGUF", "--want", "9"], "--want"),
        (["tiny/Tiny-GGUF", "--with", "draft"], "--with draft"),
        (["tiny/Tiny-GGUF", "--with", "adapter"], "the role adapter"),
        (["tiny/Tiny-GGUF", "--engine", "mlx"], "gguf"),
        (["../x"], "no model"),
        (["a b c"], "no model"),
        (["models/not-here.gguf"], "no model"),
        (["https://huggingface.co/datasets/a/b"], "huggingface.co/datasets/a/b"),
        (["https://example.org/o/r"], "example.org/o/r"),
    ],
)
def test_what_is_not_there_or_cannot_be(hub, here, capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)  # nothing called x lies beside it
    add_all(hub)
    assert words in refused(capsys, *arguments)


def test_an_address_of_no_model_is_refused_as_such(hub, here, capsys):
    for address in ("https://huggingface.co/datasets/a/b", "https://example.org/o/r", "ftp://huggingface.co/o/r"):
        assert "library" not in refused(capsys, address)
    assert hub.requests == []


def test_a_name_without_end_leaves_the_figures_in_sight(hub, here, capsys):
    hub.add("o/long", {f"{'n' * 300}.gguf": tiny(), "a-Q4_0.gguf": tiny()}, tags=("gguf",))
    (line,) = (line for line in said(capsys, "o/long").splitlines() if "nnn" in line and "GGUF" in line)
    assert len(line) < 180
    assert "…" in line


def test_a_path_that_is_not_there_is_not_asked_of_the_hub(hub, here, capsys):
    for name in ("models/not-here.gguf", "./owner/name", "~/owner", "/owner/name"):
        refused(capsys, name)
    assert hub.requests == []


def test_addresses_without_a_scheme_are_of_the_hub(hub, here, capsys):
    add_all(hub)
    here_there = hub.endpoint.removeprefix("http://")
    assert "no model" in refused(
        capsys, f"{here_there}/tiny/Tiny-GGUF/blob/main/Tiny-Q8_0.gguf"
    )  # not of the Hub's hosts
    assert told(capsys, "hf.co/tiny/Tiny-GGUF/blob/main/Tiny-Q8_0.gguf")["model"]["quant"] == "Q8_0"
    assert told(capsys, "hf.co/tiny/Tiny-GGUF:Q8_0")["model"]["quant"] == "Q8_0"


@pytest.mark.parametrize(
    "pasted",
    [
        "https://huggingface.co/tiny/Tiny-GGUF/blob/main/Tiny-Q8_0.gguf",
        "https://huggingface.co/tiny/Tiny-GGUF/resolve/main/Tiny-Q8_0.gguf?download=true",
        "hf download tiny/Tiny-GGUF Tiny-Q8_0.gguf",
        'hf download tiny/Tiny-GGUF --include "*Q8_0*"',
        "llama-server -hf tiny/Tiny-GGUF:q8_0",
        "  tiny/Tiny-GGUF:Q8_0  ",
    ],
)
def test_what_people_paste(hub, here, capsys, pasted):
    add_all(hub)
    answer = told(capsys, pasted)
    assert (answer["repo_id"], answer["model"]["quant"]) == ("tiny/Tiny-GGUF", "Q8_0")


def test_offline_says_offline(hub, here, capsys, monkeypatch):
    add_all(hub)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "offline" in refused(capsys, "tiny/Tiny-GGUF").lower()
    assert hub.requests == []


def test_a_token_that_is_not_taken_is_told_and_left_out(hub, here, capsys, monkeypatch):
    add_all(hub)
    monkeypatch.setenv("HF_TOKEN", "hf_WRONG")
    assert fit("tiny/Tiny-GGUF") == 0
    said_then = capsys.readouterr()
    assert "does not take your token" in said_then.err
    assert "2 choices" in said_then.out


def test_a_second_run_costs_one_call(hub, here, capsys):
    add_forty(hub)
    first = told(capsys, FORTY)
    before = len(hub.requests)
    assert told(capsys, FORTY) == first
    assert len(hub.requests) - before == 1
