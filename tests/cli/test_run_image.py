"""`weighbridge run --image`."""

import json
import struct

import pytest
from tests.engines.made_vision import png, projector
from tests.formats.made_gguf import LLAMA, gguf, tensor

from weighbridge.base import pictures
from weighbridge.cli.main import run
from weighbridge.cli.pictures import content
from weighbridge_engines.catalogue import catalogue

pytestmark = pytest.mark.usefixtures("known_devices")

QUESTION = "what is this"


@pytest.fixture
def red(tmp_path):
    path = tmp_path / "red.png"
    path.write_bytes(png())
    return path


@pytest.fixture
def parrot(home):
    """A model of an engine that sees nothing."""
    path = home / "data" / "models" / "parrot.echo"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"tps": 0}))
    return path


def test_a_picture_stands_before_the_question(red):
    (first, second) = content(QUESTION, [str(red)])
    assert first["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert second == {"type": "text", "text": QUESTION}
    assert content(QUESTION, []) == QUESTION


def said_of(capsys, *argv):
    code = run(["run", *argv, "--json"], catalogue)
    return code, json.loads(capsys.readouterr().out)["error"]["code"]


def test_an_engine_that_sees_nothing_is_not_even_started(parrot, red, capsys):
    assert said_of(capsys, "parrot", "--image", str(red), QUESTION) == (1, "picture.engine")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"no picture", "picture.kind"),
        (b"GIF89a" + struct.pack("<HH", 7, 9), "picture.kind"),
        (png()[:16] + struct.pack(">II", 60000, 60000) + png()[24:], "picture.pixels"),
        (None, "picture.unreadable"),
    ],
)
def test_what_is_no_such_picture_is_refused(parrot, tmp_path, capsys, data, code):
    path = tmp_path / "picture.png"
    if data is not None:
        path.write_bytes(data)
    assert said_of(capsys, "parrot", QUESTION, "--image", str(path)) == (1, code)


def test_a_folder_is_none(parrot, tmp_path, capsys):
    code, told = said_of(capsys, "parrot", QUESTION, "--image", str(tmp_path))
    assert (code, told) in ((1, "picture.kind"), (1, "picture.unreadable"))


def test_the_bound_is_for_all_of_them_together(parrot, red, capsys, monkeypatch):
    monkeypatch.setattr("weighbridge.cli.pictures.MOST_BYTES", len(png()) + 5)
    assert said_of(capsys, "parrot", QUESTION, "--image", str(red), "--image", str(red)) == (1, "picture.too_large")
    assert said_of(capsys, "parrot", QUESTION, "--image", str(red)) == (1, "picture.engine")
    assert pictures.MOST_BYTES * 4 // 3 < 32 << 20


def test_a_prompt_may_follow_options(parrot, capsys):
    assert run(["run", "parrot", "--max-tokens", "2", "a b c"], catalogue) == 0
    assert capsys.readouterr().out == "a b\n"
    assert run(["run", "parrot", "a", "--max-tokens", "2", "b"], catalogue) == 2
    assert run(["run", "parrot", "--no-such-option"], catalogue) == 2


@pytest.mark.engine
def test_a_model_that_sees_answers_and_one_that_could_is_told_how(home, smollm2, red, tmp_path, capsys):
    del home
    asked = ["run", str(smollm2), "--context", "512", "--max-tokens", "2", "--json", "--image", str(red)]
    assert run([*asked, QUESTION], catalogue) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "picture.no_projector"

    file = projector(tmp_path / "eyes.gguf", 576)
    assert run([*asked, "--set", f"projector={file}", QUESTION], catalogue) == 0
    seen = json.loads(capsys.readouterr().out)
    assert seen["output_tokens"] == 2
    assert run([*asked[:-2], "--set", f"projector={file}", QUESTION], catalogue) == 0
    assert seen["context_used"] == json.loads(capsys.readouterr().out)["context_used"] + 16


@pytest.mark.engine
def test_the_projector_that_lies_beside_a_model_is_named(home, red, capsys):
    folder = home / "data" / "models" / "both"
    folder.mkdir(parents=True)
    (folder / "tiny.gguf").write_bytes(gguf(LLAMA, [tensor("token_embd.weight", (64, 32))], bytes(4 * 64 * 32)))
    file = projector(folder / "mmproj-tiny.gguf", 64)
    assert run(["run", "tiny", "--json", "--image", str(red), QUESTION], catalogue) == 1
    told = json.loads(capsys.readouterr().out)["error"]
    assert (told["code"], told.get("path")) == ("picture.projector_beside", str(file)), told
