"""Workloads that come with the program, and one's own."""

import pytest

from weighbridge.base.errors import BadFile, NotFound, Refused
from weighbridge.bench.workload import DEFAULT, TOKENS, Workload, named, names, of_file, of_text


def test_those_that_come_with_the_program_are_whole():
    assert names() == ("code", "question", "story", "summary")
    for name in names():
        workload = named(name)
        assert workload.name == name
        assert workload.prompt and workload.prompt == workload.prompt.strip()
        assert 32 <= workload.tokens <= 1024
    assert DEFAULT in names()
    assert len(named("summary").prompt) > 5 * len(named("question").prompt)


@pytest.mark.parametrize("name", ["nope", "", "../prompts/code", "README"])
def test_a_name_of_none(name):
    with pytest.raises(NotFound) as error:
        named(name)
    assert error.value.code == "compare.workload"
    assert error.value.values["known"] == names()


def test_ones_own_is_asked_as_it_stands(tmp_path):
    file = tmp_path / "prompt.txt"
    file.write_text(" Wörd \n", encoding="utf-8")
    assert of_file(file) == Workload(" Wörd \n", TOKENS)
    assert of_text("x", 7) == Workload("x", 7)


def test_a_prompt_that_is_none(tmp_path):
    with pytest.raises(Refused) as refused:
        of_text(" \n")
    assert refused.value.code == "compare.no_prompt"
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xfd")
    for path in (tmp_path / "bytes", tmp_path / "absent", tmp_path):
        with pytest.raises(BadFile) as bad:
            of_file(path)
        assert (bad.value.code, bad.value.values["name"]) == ("file.unreadable", path.name)
