import pytest

from weighbridge.hub.groups import Group, groups, of_tasks, quantised_base
from weighbridge.hub.hits import Hit

BASE = "Qwen/Qwen3-8B"


def hit(id, *tags, **told):
    return Hit(id, tags=tags, **told)


def quant(id, *tags, base=BASE, **told):
    return hit(id, f"base_model:{base}", f"base_model:quantized:{base}", *tags, **told)


def made(id, base, kind="finetune", **told):
    return hit(id, f"base_model:{base}", f"base_model:{kind}:{base}", **told)


def ids(found):
    return [[hit.id for hit in group.hits] for group in found]


def test_quantisations_are_with_their_base_in_the_order_of_the_hub():
    hits = [quant("u/Other-GGUF", base="x/Other"), quant("u/Qwen3-8B-GGUF", "gguf"), made(BASE, f"{BASE}-Base"),
            hit("x/Other"), quant("m/Qwen3-8B-4bit", "mlx")]  # fmt: skip
    found = groups(hits)
    assert ids(found) == [["u/Other-GGUF", "x/Other"], ["u/Qwen3-8B-GGUF", BASE, "m/Qwen3-8B-4bit"]]
    assert [group.base for group in found] == ["x/Other", BASE]
    assert groups(reversed(hits))[0].base == BASE


def test_what_a_group_comes_to():
    hits = (
        quant("a/Qwen3-8B-exl3", "exl3", gated=True),
        quant("u/qwen3-8b-gguf", "gguf", downloads=7, changed_s=10.0, parameters=8_000, gated=True),
        quant("m/Qwen3-8B-4bit", "mlx", base="qwen/qwen3-8b", downloads=5, changed_s=30.0),
    )
    assert groups(hits) == (Group(BASE, "Qwen3-8B", hits, ("gguf", "exl3", "mlx"), 12, 30.0, 8_000, False),)
    assert groups(hits[:2])[0].gated
    whole = hit("Qwen/QWEN3-8B", parameters=8_190)
    (group,) = groups((*hits, whole))
    assert (group.base, group.title, group.parameters) == ("Qwen/QWEN3-8B", "QWEN3-8B", 8_190)


def test_nothing_told_is_nothing_known():
    (group,) = groups([hit("o/Some-Model")])
    assert group == Group(None, "Some-Model", group.hits, (), None, None, None, False)
    assert groups([]) == ()


def test_without_a_word_of_a_base_the_names_decide():
    found = groups([hit("a/Phi-4-GGUF", "gguf"), hit("b/phi_4.i1-GGUF", "gguf"), hit("c/Phi-4-mini-GGUF")])
    assert ids(found) == [["a/Phi-4-GGUF", "b/phi_4.i1-GGUF"], ["c/Phi-4-mini-GGUF"]]
    assert [(group.base, group.title) for group in found] == [(None, "Phi-4"), (None, "Phi-4-mini")]


def test_what_tells_of_no_base_is_with_what_is_called_so():
    assert len(groups([hit("a/qwen3_8b-GGUF"), quant("u/Qwen3-8B-GGUF")])) == 1
    assert len(groups([hit("a/qwen3_8b-GGUF"), made(BASE, f"{BASE}-Base")])) == 1
    assert groups([hit("a/Qwen3-8B-GGUF"), hit(BASE)])[0].base is None


def test_what_was_made_out_of_a_model_is_another():
    hits = [quant("u/Qwen3-8B-GGUF"), made("f/Qwen3-8B-Poet", BASE), made("f/Qwen3-8B", BASE),
            made("f/A", BASE, "merge"), made("f/L", BASE, "adapter")]  # fmt: skip
    assert [len(group.hits) for group in groups(hits)] == [1] * 5
    assert groups([made("f/A", BASE), made("g/A", BASE)])[1].title == "A"
    assert len(groups([made("f/Poet", BASE), quant("g/Poet-GGUF", base="f/Poet")])) == 1


def test_a_quantisation_of_a_quantisation_is_of_the_first_base():
    hits = [quant("b/B-GGUF", base="b/B-4bit"), quant("b/B-4bit", base="b/B"), hit("b/B")]
    (group,) = groups(hits)
    assert (group.base, len(group.hits)) == ("b/B", 3)


def test_a_ring_of_bases_ends():
    assert len(groups([quant("a/One", base="a/Two"), quant("a/Two", base="a/One")])) <= 2


def test_two_models_of_one_name_stay_two():
    assert len(groups([quant("u/A-GGUF", base="x/A"), quant("v/A-GGUF", base="y/A")])) == 2


@pytest.mark.parametrize(
    ("tags", "base"),
    [
        (("base_model:o/r",), "o/r"),
        (("base_model:o/r", "base_model:quantized:o/r"), "o/r"),
        (("base_model:o/r", "base_model:finetune:o/r"), None),
        (("base_model:o/r", "base_model:p/r"), None),
        (("base_model:quantized:o/r", "base_model:quantized:p/r"), None),
        (("base_model:quantized:../up",), None),
        (("base_model:quantized:",), None),
        (("base_model:me/it",), None),
        ((), None),
    ],
)
def test_of_what_it_is_the_quantisation(tags, base):
    assert quantised_base(hit("Me/It", *tags)) == base


def test_a_name_that_is_nothing_but_a_format_stands_alone():
    assert ids(groups([hit("a/GGUF"), hit("b/GGUF")])) == [["a/GGUF"], ["b/GGUF"]]
    assert groups([hit("a/GGUF")])[0].title == "GGUF"


def test_tasks_nobody_has_told_are_kept():
    hits = [hit("o/chat", task="text-generation"), hit("o/untold"), hit("o/vector", task="feature-extraction")]
    assert [each.id for each in of_tasks(hits)] == ["o/chat", "o/untold"]
    assert [each.id for each in of_tasks(hits, {"feature-extraction"})] == ["o/untold", "o/vector"]
