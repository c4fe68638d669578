"""What the Hub tells of a repository, looked at before it is believed."""

import pytest
from huggingface_hub import ModelInfo

from weighbridge.hub.hit_reading import hit_of
from weighbridge.hub.hits import Hit


def hit(**told):
    return hit_of(ModelInfo(id="o/r", **told))


def test_all_that_is_told():
    made = hit(
        sha="a" * 40,
        downloads=5,
        likes=0,
        lastModified="2026-01-02T03:04:05.000Z",
        gated="manual",
        private=False,
        pipeline_tag="text-generation",
        tags=["gguf", "license:mit"],
        siblings=[{"rfilename": "m.gguf"}],
        gguf={"total": 7, "context_length": 4096, "architecture": "llama"},
    )
    expected = Hit(
        "o/r",
        "a" * 40,
        5,
        0,
        1_767_323_045.0,
        True,
        False,
        "text-generation",
        ("gguf", "license:mit"),
        ("m.gguf",),
        7,
        4096,
        "llama",
    )
    assert made == expected


def test_what_is_untold_or_makes_no_sense_is_none():
    assert hit() == Hit("o/r")
    odd = hit(downloads="many", likes=-1, tags="gguf", pipeline_tag=5, gguf={"total": True, "context_length": 0})
    assert odd == Hit("o/r")
    assert hit(gguf="no object", tags=[1, "a\nb", ""]).tags == ("a\ufffdb",)


def test_numbers_that_are_packed_are_no_count_of_parameters():
    assert hit(safetensors={"parameters": {"BF16": 10, "F32": 2}, "total": 12}).parameters == 12
    assert hit(safetensors={"parameters": {"BF16": 2, "U32": 10}, "total": 12}).parameters is None
    assert hit(safetensors={"parameters": {}, "total": 12}).parameters is None


@pytest.mark.parametrize("told", [{"sha": "main"}, {"sha": "../../x"}])
def test_a_commit_that_is_none_is_refused(told):
    with pytest.raises(ValueError, match="0-9a-f"):
        hit(**told)


def test_a_name_that_is_none_is_refused():
    with pytest.raises(ValueError, match="96"):
        hit_of(ModelInfo(id="o/../r"))
