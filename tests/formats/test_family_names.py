import pytest

from weighbridge.formats.family_names import family_name, plain_name


@pytest.mark.parametrize(
    "name",
    [
        "Qwen3-8B",
        "qwen3_8b",
        "Qwen3 8B",
        "Qwen3-8B-GGUF",
        "Qwen3-8B.Q4_K_M",
        "Qwen3-8B-UD-Q3_K_XL",
        "Qwen3-8B-GGUF-Q4_0",
        "Qwen3-8B-i1-GGUF",
        "Qwen3-8B.i1-IQ2_XXS",
        "Qwen3-8B-4bit",
        "Qwen3-8B-4bit-DWQ",
        "Qwen3-8B-5bit-g32",
        "Qwen3-8B-bf16",
        "Qwen3-8B-MXFP4-Q8",
        "Qwen3-8B-exl3-4.0bpw",
        "Qwen3-8B-8.0bpw-h8-exl2",
        "Qwen3-8B-2.06bpw_H6",
        "Qwen3-8B-AWQ",
        "Qwen3-8B-GPTQ",
        "Qwen3-8B-FP8",
        "Qwen3-8B-GGUF-imatrix",
    ],
)
def test_one_model_by_many_names(name):
    assert family_name(name) == "qwen3-8b"


@pytest.mark.parametrize(
    "name", ["Qwen3-4B", "Qwen3-8B-Base", "Qwen3-8B-Instruct", "Qwen2.5-8B", "Qwen3-80B", "Qwen3-8B-Q4ever"]
)
def test_another_model(name):
    assert family_name(name) != "qwen3-8b"


def test_a_plain_name_keeps_its_case():
    assert plain_name("Llama-3.2-3B-Instruct-Q6_K_L-GGUF") == "Llama-3.2-3B-Instruct"
    assert plain_name("Qwen2.5-0.5B-Instruct-4bit") == "Qwen2.5-0.5B-Instruct"
    assert (plain_name("GGUF"), plain_name("")) == ("", "")
