import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_hub import Cut, FakeHub, Slow, Stall
from tests.fake_hub.examples import add_all

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.base.units import THIN
from weighbridge.cli.main import run
from weighbridge.cli.pull_display import display
from weighbridge.cli.pull_words import file_in_words, progress_in_words, trouble_in_words
from weighbridge.hub.jobs import State
from weighbridge.hub.snapshot import FileView, JobView

Q4, Q8 = os.urandom(50_000), os.urandom(90_000)


@pytest.fixture
def hub(monkeypatch):
    with FakeHub() as fake:
        fake.add("o/r", {"m-Q4_K_M.gguf": Q4, "m-Q8_0.gguf": Q8, "README.md": "A model."})
        monkeypatch.setenv("HF_ENDPOINT", fake.endpoint)
        yield fake


def pull(*words):
    return run(["pull", *words], dict)


def lines(out):
    return [json.loads(line) for line in out.splitlines()]


def test_a_model_is_fetched_and_is_in_the_library(hub, home, capsys):
    assert pull("o/r") == 0
    place = home / "data/models/o/r/m-Q4_K_M.gguf"
    assert place.read_bytes() == Q4
    out = capsys.readouterr().out.replace(THIN, " ")
    assert f"o/r Q4_K_M: 1 file, 48.8 KiB, to {place.parent}" in out
    assert f"It is here: {place}" in out
    assert 'weighbridge run m-Q4_K_M "..."' in out
    assert run(["ls", "--json"], dict) == 0
    assert [model["id"] for model in json.loads(capsys.readouterr().out)["models"]] == ["m-Q4_K_M"]


def test_as_lines_of_json(hub, home, capsys):
    assert pull("o/r:Q8_0", "--json") == 0
    told = lines(capsys.readouterr().out)
    assert (told[0]["event"], told[0]["size_bytes"], told[0]["label"]) == ("plan", len(Q8), "Q8_0")
    assert {line["event"] for line in told[1:-1]} == {"progress"}
    assert told[-2]["state"] == "done"
    assert told[-1] == {"event": "done", "path": str(home / "data/models/o/r/m-Q8_0.gguf"), "id": "m-Q8_0"}


def test_an_address_of_the_mirror_that_is_set(hub, home, capsys):
    assert pull(f"{hub.endpoint}/o/r/blob/main/m-Q8_0.gguf") == 0
    assert (home / "data/models/o/r/m-Q8_0.gguf").read_bytes() == Q8


def test_what_there_is(hub, home, capsys):
    assert pull("o/r", "--list") == 0
    assert "Q8_0    gguf    87.9 KiB" in capsys.readouterr().out.replace(THIN, " ")
    assert pull("o/r", "--list", "--json") == 0
    (told,) = lines(capsys.readouterr().out)
    assert [each["label"] for each in told["variants"]] == ["Q4_K_M", "Q8_0"]
    assert not (home / "data/models").exists()


def test_a_branch_goes_to_its_own_folder(hub, home, capsys):
    hub.repos["o/r"].commit({"m-Q4_K_M.gguf": Q8}, "small")
    assert pull("o/r", "--revision", "small") == 0
    assert (home / "data/models/o/r@small/m-Q4_K_M.gguf").read_bytes() == Q8


def test_to_another_folder(hub, home, capsys, tmp_path):
    assert pull("o/r", "--to", str(tmp_path / "else")) == 0
    assert (tmp_path / "else/o/r/m-Q4_K_M.gguf").read_bytes() == Q4
    assert "Add that folder to the model folders" in capsys.readouterr().out


def test_to_the_cache_of_other_programs(hub, home, capsys, tmp_path, monkeypatch):
    (home / "config").mkdir(parents=True)
    (home / "config/settings.toml").write_text('download_target = "hf_cache"\n')
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    assert pull("o/r", "--json") == 0
    place = Path(lines(capsys.readouterr().out)[-1]["path"])
    assert place.is_relative_to(tmp_path / "cache/models--o--r/snapshots")
    assert place.read_bytes() == Q4


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["x"], "hub.reference"),
        (["o/none"], "hub.private"),
        (["o/r:Q5_K_M"], "hub.no_quant"),
        (["o/r:none.gguf"], "hub.no_file_there"),
        (["o/r", "--revision", "none"], "hub.no_revision"),
        (["o/r", "--revision", "../x"], "hub.bad_name"),
        (["o/r", "--with-projector"], "hub.no_projector"),
    ],
)
def test_refusals(hub, home, capsys, words, code):
    assert pull(*words, "--json") == 1
    assert lines(capsys.readouterr().out)[-1]["error"]["code"] == code
    assert not (home / "data/models").exists()


def test_where_each_size_has_a_branch_they_are_named(hub, capsys):

    add_all(hub)
    assert pull("tiny/Tiny-exl3") == 1
    assert "3.00bpw, 4.00bpw_H6. Name one of them with --revision." in capsys.readouterr().err
    assert pull("tiny/Tiny-exl3", "--revision", "3.00bpw") == 0


def test_a_gated_repository_tells_where_to_accept_its_licence(hub, capsys):
    hub.add("o/gated", {"m-Q4_K_M.gguf": Q4}, gated="manual")
    assert pull("o/gated") == 1
    assert "https://huggingface.co/o/gated" in capsys.readouterr().err


def test_a_token_that_is_no_good_is_left_out(hub, home, capsys, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_TESTTOKEN")
    assert pull("o/r") == 0
    out, err = capsys.readouterr()
    assert "does not take your token" in err
    assert "hf_TESTTOKEN" not in out + err
    assert all("hf_TESTTOKEN" not in path.read_text("utf-8", "replace") for path in home.rglob("*") if path.is_file())


def test_it_goes_on_after_a_cut(hub, home, capsys):
    hub.faults.next(Cut(20_000))
    assert pull("o/r") == 0
    assert (home / "data/models/o/r/m-Q4_K_M.gguf").read_bytes() == Q4


def started(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "weighbridge", "pull", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def until(seen):
    deadline = time.monotonic() + 30
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_pauses_and_the_same_command_goes_on(hub, home, capsys, number):
    content = os.urandom(900_000)
    hub.add("o/large", {"m-Q4_K_M.gguf": content})
    hub.faults.next(Stall(600_000))
    process = started("o/large")
    part = home / "data/models/o/large/m-Q4_K_M.gguf.part"
    until(lambda: part.exists() and part.stat().st_size)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"The same command goes on." in err
    have = part.stat().st_size
    assert 0 < have <= 600_000
    assert pull("o/large") == 0
    assert (home / "data/models/o/large/m-Q4_K_M.gguf").read_bytes() == content
    starts = [each.headers.get("range") for each in hub.requests if each.kind == "bytes"]
    assert starts == [None, f"bytes={have}-"]


def test_beside_another_it_adds_and_watches(hub, home, capsys):
    hub.faults.next(Slow(40_000))
    first = started("o/r", "--json")
    part = home / "data/models/o/r/m-Q4_K_M.gguf.part"
    until(part.exists)
    assert pull("o/r:Q8_0", "--json") == 0
    told = lines(capsys.readouterr().out)
    assert told[-1]["event"] == "done"
    assert {line["here"] for line in told if line["event"] == "progress"} & {False}
    first.communicate(timeout=20)
    assert first.returncode == 0
    assert (home / "data/models/o/r/m-Q8_0.gguf").read_bytes() == Q8


def test_who_asks_for_the_same_file_twice_gets_it_twice(hub, home, capsys):
    content = os.urandom(400_000)
    hub.add("o/large", {"m-Q4_K_M.gguf": content})
    hub.faults.next(Slow(200_000), times=2)
    first = started("o/large", "--json")
    part = home / "data/models/o/large/m-Q4_K_M.gguf.part"
    until(lambda: part.exists() and part.stat().st_size)
    assert pull("o/large", "--json") == 0
    out, err = first.communicate(timeout=20)
    assert (first.returncode, err) == (0, b"")
    assert lines(out)[-1]["path"] == lines(capsys.readouterr().out)[-1]["path"] == str(part.with_suffix(""))
    assert part.with_suffix("").read_bytes() == content


FILE = FileView("m.gguf", 1000, 250, State.RUNNING, 100.0)
JOB = JobView(1, "o/r", "main", "Q8_0", Path("/m/o/r/m.gguf"), State.RUNNING, (FILE,), 100.0)


def plain(text):
    return " ".join(text.replace(THIN, " ").split())


def test_a_file_in_words():
    assert plain(file_in_words(FILE)) == "m.gguf 25 % 1.0 KiB 0.0 MB/s 8 s left"
    assert plain(file_in_words(replace(FILE, bytes_s=0.0))) == "m.gguf 25 % 1.0 KiB 0.0 MB/s"
    assert plain(file_in_words(replace(FILE, state=State.VERIFYING, checked_bytes=500))) == (
        "m.gguf 25 % 1.0 KiB verifying 500 B"
    )
    assert plain(file_in_words(replace(FILE, state=State.DONE, done_bytes=1000))) == "m.gguf 100 % 1.0 KiB here"
    assert plain(file_in_words(replace(FILE, size_bytes=0, done_bytes=0, state=State.DONE))) == "m.gguf 100 % 0 B here"
    assert file_in_words(replace(FILE, path="a/" * 100 + "m.gguf")).startswith("…/a/")


@pytest.fixture
def log(capsys):
    """What a log gets to read of views of a job."""

    def showing(*views):
        show = display(as_json=False)
        for view in views:
            show(*view if isinstance(view, tuple) else (view, True))
        return plain(capsys.readouterr().err)

    return showing


def at(done_bytes, **changes):
    return replace(JOB, files=(replace(FILE, done_bytes=done_bytes),), **changes)


STALLED = {"state": State.RETRYING, "error": Unreachable("hub.stalled", host="h"), "retry_in_s": 8.2}


def test_where_all_goes_well_a_log_reads_nothing(log):
    states = (State.QUEUED, State.RUNNING, State.VERIFYING, State.DONE)
    assert log(*(replace(JOB, state=state) for state in states)) == ""


def test_a_log_reads_what_is_in_the_way_once_and_that_it_goes_on(log):
    connecting = at(250, state=State.RUNNING)
    said = "tries again: Nothing came from h for some seconds. Next try in 8 s."
    assert log(at(250, **STALLED), connecting, at(250, **STALLED), connecting) == said
    assert log(at(250, **STALLED), connecting, at(260), at(270)) == f"{said} It goes on."
    assert log(at(250, **STALLED), at(260), at(260, **STALLED)) == f"{said} It goes on. {said}"


def test_how_it_ends_is_told_once_by_the_command(hub, capsys):
    hub.add("o/gated", {"m-Q4_K_M.gguf": Q4}, gated="manual")
    assert pull("o/gated") == 1
    assert capsys.readouterr().err.count("signed in and have accepted its licence") == 1


def test_a_log_reads_that_another_fetches_it(log):
    assert log((JOB, False), (JOB, False), JOB) == "Another Weighbridge fetches it."


def test_what_is_in_the_way():
    stalled = replace(JOB, state=State.RETRYING, error=Unreachable("hub.stalled", host="h"), retry_in_s=8.2)
    assert plain(trouble_in_words(stalled)) == "Nothing came from h for some seconds. Next try in 8 s."
    full = Refused("disk.full", path="/m", needed_bytes=5, free_bytes=1)
    assert "once there is room" in trouble_in_words(replace(JOB, state=State.PAUSED, error=full, for_room=True))
    assert trouble_in_words(JOB) == ""
    assert len(progress_in_words(stalled)) == 2


def test_what_was_taken_off_the_list_is_on_it_again_once_it_is_fetched_anew(hub, home, capsys, tmp_path, monkeypatch):
    (home / "config").mkdir(parents=True)
    (home / "config/settings.toml").write_text('download_target = "hf_cache"\n')
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    assert pull("o/r") == 0
    assert run(["rm", "m-Q4_K_M", "--yes"], dict) == 0
    capsys.readouterr()
    run(["ls", "--json"], dict)
    assert json.loads(capsys.readouterr().out)["models"] == []
    assert pull("o/r", "--json") == 0
    assert lines(capsys.readouterr().out)[-1]["id"] == "m-Q4_K_M"
    run(["ls", "--json"], dict)
    assert [model["id"] for model in json.loads(capsys.readouterr().out)["models"]] == ["m-Q4_K_M"]


def test_what_was_fetched_is_verified_by_the_hubs_hash(hub, home, capsys):
    assert pull("o/r") == 0
    capsys.readouterr()
    run(["verify", "m-Q4_K_M", "--json"], dict)
    answer = json.loads(capsys.readouterr().out)
    assert answer["told"] == {"code": "verified.by_download", "count": 1}
    assert answer["fault"]["code"] == "file.not_gguf"  # as the Hub has it, but no model
