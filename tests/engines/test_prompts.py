"""Conversations as the text of the chat template in a model's folder."""

import pytest

from weighbridge_engines.api import Load, Request, TemplateRefused
from weighbridge_engines.prompts import Prompts, Templated, special_tokens, template_in
from weighbridge_engines.templates import CHATML


def folder_with(place, **files):
    for name, text in files.items():
        (place / name.replace("__", ".")).write_text(text)
    return place


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"chat_template__jinja": "own"}, "own"),
        ({"chat_template__json": '{"chat_template": "beside"}'}, "beside"),
        ({}, "told"),
    ],
)
def test_where_a_template_stands(files, told, tmp_path):
    assert template_in(folder_with(tmp_path, **files), {"chat_template": "told"}) == told


def test_a_template_may_be_one_of_several_or_none(tmp_path):
    several = [{"name": "tool_use", "template": "x"}, {"name": "default", "template": "y"}]
    assert template_in(tmp_path, {"chat_template": several}) == "y"
    assert template_in(tmp_path, {"chat_template": several[:1]}) is None
    assert template_in(tmp_path, {}) is None


def test_special_tokens_are_told_by_their_texts():
    told = {"bos_token": {"content": "<s>"}, "eos_token": "</s>", "pad_token": None, "more": "x"}
    assert special_tokens(told) == {"bos_token": "<s>", "eos_token": "</s>"}


def test_a_last_turn_of_the_assistant_is_gone_on_with(tmp_path):
    prompts = Prompts(Load("/models/a"), folder_with(tmp_path, tokenizer_config__json="spoilt"))
    try:
        asked_for = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Well"}]
        assert prompts.text(Request(asked_for)) == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nWell"
    finally:
        prompts.close()
    assert "add_generation_prompt" in CHATML


def test_whatever_is_at_fault_with_a_template_is_told_in_its_own_words():
    for template, words in (
        ("{% for m in messages %}", "(syntax)"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ raise_exception('tools alone') }}", "takes no such messages: tools alone"),
        ("{{ messages.__class__.x }}", "(forbidden)"),
    ):
        prompts = Templated(template, {})
        try:
            with pytest.raises(TemplateRefused) as refused:
                prompts.text(Request([{"role": "user", "content": "Hi"}]))
        finally:
            prompts.close()
        assert words in refused.value.reason
