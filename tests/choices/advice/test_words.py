"""Each code that is said has its sentence, and each sentence its values."""

import ast
import re
from pathlib import Path

import pytest
from tests.choices.advice.made_grounds import advised, on_processor, with_cards
from tests.choices.advice.test_guide import HARDWARE, LOADS

from weighbridge.base.units import THIN
from weighbridge.choices.advice import advise, words
from weighbridge.choices.advice.advice import Action, ActionKind, Reason
from weighbridge.choices.advice.answers import Answers, Need
from weighbridge.choices.advice.knowledge import knowledge
from weighbridge.choices.advice.prefill import prefilled
from weighbridge.choices.advice.question_words import (
    answer_in_words,
    basis_in_words,
    choice_in_words,
    question_in_words,
)
from weighbridge.choices.advice.questions import QUESTIONS
from weighbridge.choices.advice.sentences import SENTENCES, UNKNOWN
from weighbridge.choices.advice.words import action_in_words, command_of, reason_in_words
from weighbridge.hub.hits import Query
from weighbridge_engines.api import Load

FOLDER = Path(advise.__file__).parent
SPECIAL = words._SPECIAL.keys()
OF_PREFILL = {
    "usual",
    "from_machine",
    "from_settings",
    "from_model",
    "one_device",
    "link_not_told",
    "link_told",
    "no_card",
    "one_memory",
}


def written(node):
    """The codes that an expression can be, as far as they are written out in it."""
    if isinstance(node, ast.IfExp):
        return written(node.body) | written(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) else set()


def said_codes():
    """What the modules that decide can say: first arguments of Reason, and the rows of the table."""
    rows = knowledge()
    codes = {f"on_{kind}" for kind in rows.hardware} | {f"for_{kind}" for kind in rows.loads}
    codes |= {f"beside_{one}" for row in (*rows.hardware.values(), *rows.loads.values()) for one in row.also}
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Reason" and node.args:
                codes |= written(node.args[0])
            if isinstance(node, ast.Dict) and path.name in ("strategy.py", "advise.py"):
                codes |= {each.value for each in node.values if isinstance(each, ast.Constant)}
    return {code for code in codes if isinstance(code, str)} - OF_PREFILL


def test_every_code_has_its_sentence_and_no_sentence_is_without_a_code():
    assert sorted(said_codes() - SENTENCES.keys() - SPECIAL) == []
    assert sorted(SENTENCES.keys() - said_codes()) == []
    assert UNKNOWN.keys() <= SENTENCES.keys()


def points(advice):
    blocks = (advice.hardware, advice.engine, advice.model, advice.format, advice.quant)
    return [point for point in (*blocks, *advice.settings, *advice.also) if point is not None]


@pytest.mark.parametrize(
    ("made", "changes"), [row[1:3] for row in (*HARDWARE, *LOADS)], ids=[row[0] for row in (*HARDWARE, *LOADS)]
)
def test_all_that_is_said_can_be_said(made, changes):
    advice = advised(made(), **changes)
    reasons = [reason for point in points(advice) for reason in (point.what, *point.why, *point.against)]
    reasons += [reason for one in advice.engines for reason in (*one.why, *one.against)]
    for reason in (*reasons, *advice.warnings):
        said = reason_in_words(reason)
        assert said
        assert not re.search(r"[{}]|None", said), said
    for action in (point.action for point in points(advice) if point.action is not None):
        assert action_in_words(action)


def test_a_machine_in_words():
    advice = advised(with_cards("RTX 3090", 2))
    said = reason_in_words(advice.hardware.what).replace(THIN, " ")
    assert said == "2 × NVIDIA GeForce RTX 3090, 48.0 GiB in all, 936 GB/s each, compute capability 8.6"


def test_numbers_are_in_the_sentence():
    bound = advised(with_cards("RTX 3090")).hardware.why[0]
    said = reason_in_words(bound).replace(THIN, " ")
    assert "936 GB/s read what fills 24.0 GiB at most 36 times a second" in said  # 936.2e9 / (24 * 2**30)


def test_without_a_number_another_sentence_is_said():
    assert reason_in_words(Reason("writes", {"speed": None})) == "How fast it writes is not known."
    bound = advised(on_processor()).hardware.why[0]
    assert reason_in_words(bound).endswith("each token reads all active weights once.")


@pytest.mark.parametrize(
    ("action", "command"),
    [
        (Action(ActionKind.INSTALL_BUILD, build_id="vllm-cuda13"), "weighbridge engines install vllm-cuda13"),
        (Action(ActionKind.USE_BUILD, build_id="x"), "weighbridge engines use x"),
        (
            Action(
                ActionKind.FIND,
                query=Query(
                    "", "exl3", "text-generation", least_parameters=900_000_000, most_parameters=12_000_000_000
                ),
            ),
            "weighbridge search --format exl3 --task text-generation --parameters 900M:12.0B",
        ),
        (
            Action(
                ActionKind.LOAD,
                engine_id="llama_server",
                model_id="a model",
                load=Load("m", context=8192, slots=2, key_type="q8_0"),
            ),
            "weighbridge run 'a model' --engine llama_server --context 8192 --kv q8_0 --slots 2",
        ),
        (Action(ActionKind.RUN, command="nvidia-smi topo -m"), "nvidia-smi topo -m"),
        (
            Action(ActionKind.ATTACH, preset="dynamo"),
            "weighbridge endpoints add http://127.0.0.1:8000 --preset dynamo",
        ),
    ],
)
def test_commands(action, command):
    assert command_of(action) == command


def test_every_engine_that_is_attached_has_a_preset_with_an_address():
    attached = [one for one in knowledge().engines.values() if one.preset]
    assert attached
    assert all("http://127.0.0.1:" in command_of(Action(ActionKind.ATTACH, preset=one.preset)) for one in attached)


def test_a_search_says_up_to_which_size():
    find = Action(ActionKind.FIND, "exl3", query=Query("", "exl3", most_parameters=23_900_000_000))
    assert action_in_words(find).replace(THIN, " ") == "Find models in EXL3, up to 23.9 B"
    assert action_in_words(Action(ActionKind.FIND, "exl3", query=Query())) == "Find models in EXL3"


def test_a_change_names_its_settings():
    changes = {"key_type": "q8_0", "value_type": "q8_0", "cpu_experts": None}
    assert action_in_words(Action(ActionKind.CHANGE, changes=changes)).endswith("q8_0")
    assert "8,192" in action_in_words(Action(ActionKind.CHANGE, changes={"context": 8192}))


def test_ten_questions_whose_answers_all_have_words():
    assert len(QUESTIONS) == 10
    fields = [field for question in QUESTIONS for field in question.fields]
    assert {field.name for field in fields} == set(Answers.__dataclass_fields__)
    for question in QUESTIONS:
        assert question_in_words(question).endswith("?")
    for field in fields:
        assert all(choice_in_words(field, choice) for choice in field.choices)
        assert answer_in_words(field, Answers(needs=frozenset(Need)))


def test_where_a_prefilled_answer_is_from():
    told = prefilled(with_cards("RTX 3090", 2))
    said = {name: basis_in_words(reason).replace(THIN, " ") for name, reason in told.basis.items()}
    assert said["hardware"] == "2 × NVIDIA GeForce RTX 3090, 48.0 GiB"
    assert (said["context"], said["users"], said["link"]) == ("from the settings", "", "2 cards do not say")
