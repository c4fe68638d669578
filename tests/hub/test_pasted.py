import pytest

from weighbridge.base.errors import Refused
from weighbridge.hub.pasted import pasted
from weighbridge.hub.reference import HOSTS, Reference

FILE = Reference("o/r", revision="main", file="f.gguf")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("https://huggingface.co/o/r/blob/main/f.gguf", FILE),
        ("https://huggingface.co/o/r/resolve/main/f.gguf?download=true", FILE),
        ("  https://HuggingFace.co/o/r/blob/main/f.gguf \n", FILE),
        ("hf.co/o/r:Q4_K_M", Reference("o/r", quant="Q4_K_M")),
        ("o/r", Reference("o/r")),
        ("o/r  ", Reference("o/r")),
        ("O/R", Reference("O/R")),
        ("https://huggingface.co/o/r/", Reference("o/r")),
        ("hf download o/r f.gguf", Reference("o/r", file="f.gguf")),
        ("hf download o/r --include '*Q4_K_M*'  ", Reference("o/r", quant="Q4_K_M")),
        ("ollama run hf.co/o/r:Q4_K_M", Reference("o/r", quant="Q4_K_M")),
        ("llama-server -hf o/r:Q4_K_M", Reference("o/r", quant="Q4_K_M")),
        ("`o/r`", Reference("o/r")),
    ],
)
def test_what_names_one_model(text, meant):
    assert pasted(text) == meant


@pytest.mark.parametrize(
    "text", ["qwen3", "qwen3 8b", "", "   ", "llama 3.2 instruct", "run pull", "hf", "a/b/c", "it's", "-hf", "ollama"]
)
def test_words_to_search_for(text):
    assert pasted(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "https://huggingface.co/datasets/o/r",
        "huggingface.co/datasets/o/r",
        " HF.co/datasets/o/r ",
        "https://huggingface.co/spaces/o/r",
        "https://huggingface.co/o",
        "https://huggingface.co/",
        "https://example.org/o/r",
        "hf://datasets/o/r",
        "hf download --repo-type dataset o/r",
        "ollama run llama3",
        "llama-server -hf nothing",
    ],
)
def test_an_address_or_a_command_of_no_model_is_refused(text):
    with pytest.raises(Refused) as caught:
        pasted(text)
    assert caught.value.code == "hub.reference"


def test_a_mirror_is_as_good_as_the_hub():
    with pytest.raises(Refused):
        pasted("https://mirror.example/o/r")
    assert pasted("https://mirror.example/o/r", HOSTS | {"mirror.example"}) == Reference("o/r")
