"""The catalogue is whole, and the language asked for is the one spoken."""

import ast
import importlib.util
import string
import sys

import pytest

from weighbridge.base import words
from weighbridge.base.explain import THINGS, WHAT_AND_NEXT, explain_code
from weighbridge.base.settings import SettingsStore, language_choice
from weighbridge.base.units import number, size, tokens
from weighbridge.base.words import plural, system_language, text, use_language
from weighbridge.cli import main


def _program():
    from tests.test_project import ROOT

    spec = importlib.util.spec_from_file_location("translate", ROOT / "packaging" / "translate.py")
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


translate = _program()


@pytest.fixture(autouse=True)
def english():
    use_language("en")
    yield
    use_language("en")


@pytest.fixture(scope="module")
def messages():
    return [message for message in translate.read(translate.CATALOGUE) if message.id]


@pytest.fixture(scope="module")
def outputs():
    """What the program makes now of the files, and of the catalogue."""
    return translate.outputs()


def forms(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def placeholders(sentence, of):
    """The values that are put into `sentence`, in the way of `of`: by braces, or of argparse by percent."""
    if "%(" in of or of.endswith(("%s", "%r")):
        return sorted(translated_percent(sentence))
    found = string.Formatter().parse(sentence)
    return sorted((name, spec) for _, name, spec, _ in found if name is not None)


def translated_percent(sentence):
    pieces = sentence.split("%")[1:]
    return [piece[: piece.index(")") + 2] if piece.startswith("(") else piece[:1] for piece in pieces]


def test_every_text_has_its_spanish(messages):
    assert len(messages) > 400
    assert [message.id for message in messages if message.fuzzy or not all(forms(message.string))] == []


def test_plurals_have_both_forms(messages):
    both = [message for message in messages if isinstance(message.id, tuple)]
    assert both
    assert [message.id for message in both if len(forms(message.string)) != 2] == []


def test_spanish_has_the_same_values_in_it(messages):
    for message in messages:
        many = forms(message.id)[-1]
        for form in forms(message.string):
            assert placeholders(form, many) == placeholders(many, many), message.id


def test_spanish_keeps_the_ends_of_texts(messages):
    """Full stops, line breaks and spaces at the end, on which sentences are joined."""
    for message in messages:
        for one, other in zip(forms(message.id), forms(message.string), strict=True):
            assert one[-1:].isspace() == other[-1:].isspace(), one
            assert other.endswith(".") or not one.endswith("."), one


@pytest.mark.parametrize("path", [translate.TEMPLATE, translate.CATALOGUE, translate.COMPILED])
def test_the_files_are_what_the_texts_make_now(outputs, path):
    """Where not: `python packaging/translate.py`."""
    made, _ = outputs
    assert path.read_bytes() == made[path]


def test_the_check_says_so(outputs, monkeypatch, capsys):
    monkeypatch.setattr(translate, "outputs", lambda: outputs)
    monkeypatch.setattr(sys, "argv", [translate.__file__, "--check"])
    assert translate.main() == 0
    assert capsys.readouterr().out.endswith("texts, 0 untranslated\n")


@pytest.fixture(scope="module")
def spoken():
    """The first argument of each call that makes a text."""
    return [node.args[0] for path in translate._modules() for node in calls(ast.parse(path.read_text("utf-8")))]


def calls(tree):
    for node in ast.walk(tree):
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if named and node.func.id in translate.KEYWORDS and node.args:
            yield node


def test_every_literal_is_extracted(spoken, outputs):
    """Also one inside of an f-string, which some versions of Python hide from the extraction."""
    literals = {node.value for node in spoken if isinstance(node, ast.Constant)}
    _, catalogue = outputs
    assert literals == {forms(message.id)[0] for message in catalogue if message.id}


def test_no_text_is_put_together_before_it_is_translated(spoken):
    assert [ast.unparse(node) for node in spoken if isinstance(node, (ast.JoinedStr, ast.BinOp))] == []


@pytest.mark.parametrize("code", WHAT_AND_NEXT)
def test_every_code_is_explained_in_spanish(code):
    names = {name for source in WHAT_AND_NEXT[code] for name, _ in placeholders(source, "")}
    values = {name: 7 for name in names}
    english = str(explain_code(code, values))
    use_language("es")
    said = explain_code(code, values)
    assert str(said) != english
    left = str(said).replace('{"type": "text", "text": "..."}', "")
    assert not set("{}") & set(left)
    assert str(said).count("7") >= len(names)
    assert said.what[-1] in ".7"


@pytest.mark.parametrize("thing", THINGS)
def test_what_an_error_is_about_is_told_in_spanish(thing):
    use_language("es")
    assert text(THINGS[thing]) in str(explain_code("hardware.probe_slow", {"what": thing, "limit_s": 9}))
    assert "GPU 0" in str(explain_code("hardware.probe_slow", {"what": "GPU 0", "limit_s": 9}))


def test_figures_follow_the_language():
    assert (number(8192.5, 1), size(3 << 29)) == ("8,192.5", "1.5\u202fGiB")
    use_language("es")
    assert (number(8192.5, 1), size(3 << 29)) == ("8.192,5", "1,5\u202fGiB")


def test_one_token_is_not_many():
    assert (tokens(1), tokens(8192)) == ("1 token", "8,192 tokens")
    use_language("es")
    assert (tokens(1), tokens(8192), tokens(None)) == ("1 token", "8.192 tokens", "sin datos")


def test_a_count_may_be_shown_in_another_way():
    assert plural("{count} core", "{count} cores", 1000, count="1,000") == "1,000 cores"


def test_no_text_stays_no_text():
    use_language("es")
    assert text("") == ""


def test_a_language_that_we_lack_falls_back_to_english():
    assert use_language("fr") == "en"
    assert text("Stop") == "Stop"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "en"),
        ({"LANG": "es_MX.UTF-8"}, "es"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "es_ES.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LC_ALL": "es_AR.UTF-8"}, "es"),
        ({"LANG": "es_ES.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "ES"}, "es"),
    ],
)
def test_the_systems_language(monkeypatch, environment, expected):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(words.locale, "getlocale", lambda: (None, None))
    assert system_language() == expected
    assert use_language(None) == expected


def test_commands_speak_the_language_of_the_settings(home, capsys):
    SettingsStore(home / "config" / "settings.toml").change(language="es")
    assert main.run(["ls"], dict) == 0
    assert capsys.readouterr().out.startswith("No hay modelos en ")
    assert main.run(["--language", "en", "ls"], dict) == 0
    assert capsys.readouterr().out.startswith("No models in ")


@pytest.mark.parametrize("written", ['language = "system"', "language = 7", 'language = "fr"', "language", b"\xff"])
def test_a_language_that_is_not_chosen_is_the_systems(home, written):
    path = home / "settings.toml"
    path.parent.mkdir(parents=True)
    path.write_bytes(written if isinstance(written, bytes) else written.encode())
    assert language_choice(path) is None
    assert list(home.iterdir()) == [path]


def test_help_is_spanish_to_its_headings(capsys):
    assert main.run(["--language", "es", "run", "--help"], dict) == 0
    out = capsys.readouterr().out
    assert out.startswith("uso: weighbridge run")
    assert "argumentos posicionales:" in out
    assert "muestra esta ayuda y termina" in out
    assert main.run(["--language", "es"], dict) == 2
    assert "faltan estos argumentos: ORDEN" in capsys.readouterr().err
    assert main.run(["--help"], dict) == 0
    assert capsys.readouterr().out.startswith("usage: weighbridge")
