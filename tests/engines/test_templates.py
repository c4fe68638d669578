"""Chat templates out of strangers' files: what they may do, and what ends them."""

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from weighbridge_engines import chat_template, templates
from weighbridge_engines.templates import Failed, Objected, Renderer

pytest.importorskip("jinja2", reason="jinja2 comes with the extra llama-cpp")
CHATML = (
    "{%- for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message.content | trim }}<|im_end|>\n"
    "{%- endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
HELLO = {"messages": [{"role": "user", "content": " hi "}], "add_generation_prompt": True}


@pytest.fixture
def renderer():
    one = Renderer(limit_s=20)
    yield one
    one.close()


def test_a_template_is_rendered_as_it_was_written_for(renderer):
    assert renderer.render(CHATML, HELLO) == "<|im_start|>user\nhi<|im_end|><|im_start|>assistant\n"
    told = renderer.render("{{ {'ü': [1, None]} | tojson }} {{ {'a': 1} | tojson(indent=2) }}", {})
    assert told == '{"ü": [1, null]} {\n  "a": 1\n}'
    assert (
        renderer.render("{% for x in [1, 2, 3] %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}", {}) == "1"
    )
    assert renderer.render("{% generation %}{{ x }}{% endgeneration %}", {"x": "in"}) == "in"
    assert renderer.render("{{ strftime_now('%Y') }}", {}) == time.strftime("%Y")
    assert renderer.render("{% set n = namespace(x=0) %}{% set n.x = 5 %}{{ n.x }}", {}) == "5"


def test_what_a_template_objects_to_is_told_in_its_words(renderer):
    with pytest.raises(Objected, match=r"^roles must alternate$"):
        renderer.render("{{ raise_exception('roles must alternate') }}", {})


ESCAPES = {
    "subclasses": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "attr filter": "{{ ''|attr('__class__')|attr('__mro__') }}",
    "format reference": "{{ '{0.__class__.__init__.__globals__}'.format(raise_exception) }}",
    "format in a filter": "{{ ['{0.__class__.__mro__}']|map('format', '')|list }}",
    "stored format": "{% set f = '{0.__class__.__mro__[1].__subclasses__}'.format %}{{ [''] | map(f) | list }}",
    "globals": "{{ raise_exception.__globals__['sys'].modules['os'].system('touch MARK') }}",
    "cycler": "{{ cycler.__init__.__globals__.os.popen('touch MARK').read() }}",
    "import": "{% import 'os' as os %}{{ os.system('touch MARK') }}",
    "changed message": "{{ messages.append(1) }}{{ messages|length }}",
    "generator frame": "{{ (messages|map('upper')).gi_frame.f_back.f_globals }}",
}


@pytest.mark.parametrize("template", ESCAPES.values(), ids=ESCAPES)
def test_a_template_cannot_get_out(renderer, tmp_path, monkeypatch, template):
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "marker"
    try:
        told = renderer.render(template.replace("MARK", str(mark)), HELLO)
    except Failed as failure:
        assert failure.fault in ("forbidden", "failed", "syntax")
    else:
        assert not any(word in told for word in ("<class", "module", "<built-in", "function", "<frame"))
    assert list(tmp_path.iterdir()) == []
    assert renderer.render(CHATML, HELLO)


ENDLESS = {
    "a loop of 10^9": "{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}{% endfor %}"
    "{% endfor %}{% endfor %}",
    "a long step of the library": "{{ ('a' * 30000) ~ (2 ** (10 ** 9)) }}",
}


@pytest.mark.parametrize("template", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize("own_timer", [True, False], ids=["its own timer", "ours"])
def test_what_goes_on_for_ever_is_ended(template, own_timer, monkeypatch, tmp_path):
    if own_timer and os.name != "posix":
        pytest.skip("no timer of its own there")
    program = Path(chat_template.__file__).read_text("utf-8")
    limit = "MOST_S = 0.5" if own_timer else "MOST_S = 600.0"
    (tmp_path / "quick.py").write_text(program.replace("MOST_S = 10.0", limit), encoding="utf-8")
    renderer = Renderer(limit_s=60)
    try:
        with monkeypatch.context() as short:
            short.setattr(templates, "argv", lambda python: [python, "-I", str(tmp_path / "quick.py")])
            if not own_timer:
                short.setattr(renderer, "_limit_s", 1.0)
            with pytest.raises(Failed) as failed:
                renderer.render(template, {})
        assert failed.value.fault == "time"
        assert renderer.render(CHATML, HELLO)
    finally:
        renderer.close()
    assert not [child for child in psutil.Process().children() if "quick.py" in " ".join(child.cmdline())]


@pytest.mark.parametrize(
    ("template", "faults"),
    [
        ("{{ 'a' * 10 ** 10 }}", ("memory",)),
        (
            "{% set n = namespace(x='a' * 1000) %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
            ("memory",),
        ),
        ("{% for i in range(70000) %}{{ 'a' * 1000 }}{% endfor %}", ("text_too_long",)),
        ("{{ '%99999999999d' | format(1) }}", ("memory", "failed")),
        ("{% if %}", ("syntax",)),
        ("{{ messages[0].nothing.more }}", ("failed",)),
        ("{{ 1 / 0 }}", ("failed",)),
        ("{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}", ("failed",)),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", ("failed", "syntax", "died")),
        ("a" * 5_000_000, ("too_long",)),
    ],
    ids=["text", "doubling", "output", "width", "syntax", "undefined", "arithmetic", "recursion", "nesting", "5 MB"],
)
@pytest.mark.skipif(sys.platform == "win32", reason="a process there has no limit of memory")
def test_what_is_too_much_or_wrong_is_told_and_the_next_is_rendered(renderer, template, faults):
    with pytest.raises(Failed) as failed:
        renderer.render(template, HELLO)
    assert failed.value.fault in faults
    assert renderer.render(CHATML, HELLO)


def test_the_process_sees_no_key_of_ours(monkeypatch):
    monkeypatch.setenv("WEIGHBRIDGE_ENGINE_KEY", "secret")
    renderer = Renderer()
    try:
        renderer.render("x", {})
        (child,) = psutil.Process().children()
        assert "WEIGHBRIDGE_ENGINE_KEY" not in child.environ()
    finally:
        renderer.close()
