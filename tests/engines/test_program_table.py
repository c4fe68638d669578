"""The table of server programs: what is taken, and what is told of an entry that cannot be used."""

import pytest

from weighbridge_engines.controls import Home
from weighbridge_engines.program_table import read_table

ENTRY = """
[[program]]
id = "mine"
title = "Mine"
formats = ["gguf"]
program = "my-server"
argv = ["--model", "{model}", "--port", "{port}"]
"""
OPTION = '[[program.option]]\nname = "context"\nkind = "whole"\noption = "-c"\n'


def one(text):
    entries, wrong = read_table(text)
    assert wrong == ()
    return entries[0]


def fault(text):
    entries, wrong = read_table(text)
    return entries, wrong[0].values


def test_the_least_that_an_entry_says():
    entry = one(ENTRY)
    assert (entry.health, entry.base_path, entry.key, entry.named_by) == ("/health", "/v1", "none", "alias")
    assert (entry.ready_s, entry.fields, entry.options) == (None, None, ())


def test_a_setting_stands_where_a_load_has_it():
    other = OPTION.replace("context", "own")
    homes = {control.name: control.home for control in one(ENTRY + OPTION + other).controls}
    assert homes == {"context": Home.FIELD, "own": Home.EXTRA}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (ENTRY + "host = 1", "host: is not known here"),
        (ENTRY.replace("Mine", "") + "", "formats: formats, program and title cannot be empty"),
        (ENTRY.replace('"{port}"', '"1"'), "argv: {port} and {model} must stand in it"),
        (ENTRY.replace("{model}", "{weights}"), "argv: {weights} is none of "),
        (ENTRY.replace('"--port"', '"--host", "0.0.0.0", "--port"'), "argv: the address is 127.0.0.1"),
        (ENTRY.replace('"--port"', '"--host=0.0.0.0", "--port"'), "argv: the address is 127.0.0.1"),
        (ENTRY + "ready_s = true", "ready_s: is of another kind"),
        (ENTRY + "ready_s = 0", "ready_s: is no time"),
        (ENTRY + 'capabilities = ["flying"]', "capabilities: 'flying' is not a valid Capability"),
        (ENTRY + 'key = "argument"\nkey_by = "--key"', "entry: is missing: the key must not stand"),
        (ENTRY + 'key = "variable"', "key_by: is missing"),
        (ENTRY + 'share = "all"', "share: there is no option memory_share"),
        (ENTRY + 'systems = ["plan9"]', "systems: plan9 is none of"),
        (ENTRY + OPTION + OPTION, "option: there are two of context"),
        (ENTRY + OPTION.replace("whole", "hole"), "option: kind: is none of"),
        (ENTRY + OPTION.replace('option = "-c"', ""), "option: context: neither option nor variable"),
        (ENTRY + '[[program.says]]\nwords = "("\nstage = "weights"', "says: words: missing )"),
        (ENTRY + '[[program.says]]\nwords = "a"\nvalue = "context"', "says: words: either a stage, or a value"),
        (ENTRY + 'like = "nothing"', "like: there is no such entry above"),
        (ENTRY.replace('title = "Mine"', ""), "title: is missing"),
        (ENTRY.replace('formats = ["gguf"]', 'formats = "gguf"'), "formats: is of another kind"),
    ],
)
def test_a_wrong_entry_is_told_by_name_and_line_and_the_others_stand(text, reason):
    other = ENTRY.replace("mine", "other")
    entries, values = fault(text + other)
    assert [entry.id for entry in entries] == ["other"]
    assert (values["name"], values["line"]) == ("mine", 3)
    assert values["reason"].startswith(reason)


def test_two_of_an_id():
    entries, values = fault(ENTRY + ENTRY)
    assert (len(entries), values["reason"]) == (1, "id: there are two of it")


def test_text_that_is_no_toml_is_told_with_its_line():
    entries, values = fault("[[program]]\nid = mine\n")
    assert (entries, values["name"], values["line"]) == ((), "programs.toml", 2)


@pytest.mark.parametrize("text", ["program = 3", "program = [3]", 'program = "x"', '[program]\nid = "Mine"'])
def test_what_is_no_entry(text):
    entries, values = fault(text)
    assert entries == ()
    assert values["reason"]


def test_an_entry_like_another():
    base = ENTRY + OPTION + OPTION.replace("context", "slots")
    like = '[[program]]\nid = "twin"\ntitle = "Twin"\nlike = "mine"\nwithout = ["slots"]\n' + OPTION.replace("-c", "-n")
    twin = read_table(base + like)[0][1]
    assert (twin.title, twin.argv) == ("Twin", ("--model", "{model}", "--port", "{port}"))
    assert [(option.control.name, option.option) for option in twin.options] == [("context", "-n")]
