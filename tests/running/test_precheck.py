"""What is looked at before an engine gets a model."""

import sys
from dataclasses import replace

import pytest

from weighbridge.base.errors import EngineFailed
from weighbridge.running.precheck import check_template
from weighbridge_engines.api import Engine, Load

ENGINE = Engine("x", "X", frozenset({"safetensors"}), frozenset(), "x", lambda: None, python=sys.executable)
ENGINE = replace(ENGINE, command=lambda load, port: [])


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ messages[0].content }", "the chat template failed (syntax): "),
        ("{{ messages[0].content }}", None),
        ("{{ messages[0].content.parts[3].text }}", None),
        ("{{ raise_exception('only of two') }}", None),
    ],
)
def test_a_template_that_cannot_be_rendered_is_found_before_a_program_starts(template, reason, tmp_path):
    pytest.importorskip("jinja2", reason="jinja2 comes with the extra llama-cpp")
    (tmp_path / "chat_template.jinja").write_text(template)
    load = Load(str(tmp_path))
    if reason is None:
        check_template(ENGINE, load)
        return
    with pytest.raises(EngineFailed) as failure:
        check_template(ENGINE, load)
    assert failure.value.code == "engine.template"
    assert failure.value.values["reason"].startswith(reason)
    check_template(ENGINE, replace(load, template="another.jinja"))
    check_template(replace(ENGINE, python=None), load)
