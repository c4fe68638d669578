"""The chat template of a model that is here."""

import json

import pytest
from tests.formats.made_gguf import gguf

from weighbridge.base.errors import BadFile
from weighbridge.library import templates
from weighbridge.library.model import Model
from weighbridge.library.templates import chat_template

JINJA = "{% for message in messages %}{{ message.content }}{% endfor %}"


def model(path, form="gguf"):
    return Model("m", "m", path, (path,), form, None, 1)


def written(path, header):
    path.write_bytes(gguf(header))
    return model(path)


def test_a_gguf_file_tells_it_in_its_header(tmp_path):
    keys = {"general.architecture": "llama", "tokenizer.ggml.model": "gpt2", "tokenizer.chat_template": JINJA}
    assert chat_template(written(tmp_path / "a.gguf", keys)) == JINJA
    del keys["tokenizer.chat_template"]
    assert chat_template(written(tmp_path / "b.gguf", keys)) is None
    assert chat_template(written(tmp_path / "c.gguf", keys | {"tokenizer.chat_template": 5})) is None


def test_a_damaged_file_says_so(tmp_path):
    (tmp_path / "a.gguf").write_bytes(b"<html>")
    with pytest.raises(BadFile):
        chat_template(model(tmp_path / "a.gguf"))


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (JINJA, JINJA),
        ([{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}], "d"),
        ([{"name": "a", "template": "1"}, {"name": "b", "template": "2"}], '"a":\n1\n\n"b":\n2'),
        ([{"name": "a"}, "b"], None),
        ({"a": 1}, None),
        (None, None),
    ],
)
def test_a_folder_tells_it_in_a_file(tmp_path, told, found):
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": told}))
    assert chat_template(model(tmp_path, "mlx")) == found


def test_a_file_of_its_own_goes_before_the_tokenizers(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": "old"}))
    assert chat_template(model(tmp_path, "mlx")) == "old"
    (tmp_path / "chat_template.jinja").write_text(JINJA)
    assert chat_template(model(tmp_path, "mlx")) == JINJA


def test_one_that_is_too_long_is_not_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(templates, "MOST_CHARACTERS", 10)
    (tmp_path / "chat_template.jinja").write_text(JINJA)
    assert chat_template(model(tmp_path, "mlx")) is None
