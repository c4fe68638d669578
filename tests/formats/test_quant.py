import pytest

from weighbridge.formats.quant import believed, quant_of_name, without_quant


@pytest.mark.parametrize(
    ("stem", "label"),
    [
        ("X-F32-Q2_K", "Q2_K"),
        ("Qwen3-4B-UD-Q2_K_XL", "UD-Q2_K_XL"),
        ("D-55IQ2_XXS-34Q2_K-07Q8_0-03F16", "IQ2_XXS mix"),
        ("gpt-oss-20b-MXFP4", "MXFP4"),
        ("model-MXFP4_MOE", "MXFP4_MOE"),
        ("Codestral-22B-v0.1gguf", None),
        ("Codestral-22B-v0.1", None),
        ("gemma-2b-it-q4_k_m", "Q4_K_M"),
        ("llama-2-7b-chat.Q2_K", "Q2_K"),
        ("Llama-3.2-3B-Instruct-Q6_K_L", "Q6_K_L"),
        ("Llama-3.2-3B-Instruct-Q4_0_4_4", "Q4_0_4_4"),
        ("Huihui-gpt-oss-120b-BF16-abliterated.i1-Q4_K_S", "Q4_K_S"),
        ("SmolLM2-135M-Instruct.Q4_1", "Q4_1"),
        ("m-q4_k", "Q4_K"),
        ("m-fp16", "F16"),
        ("m-IQ4_KSS", "IQ4_KSS"),
        ("m-IQ4_K_R4", "IQ4_K_R4"),
        ("m-IQ3_M", "IQ3_M"),
        ("m-TQ1_0", "TQ1_0"),
        ("m-UD-IQ2_M", "UD-IQ2_M"),
        ("m-UD-Q8_K_XL", "UD-Q8_K_XL"),
        ("Q4", None),
        ("", None),
    ],
)
def test_labels_of_names(stem, label):
    assert quant_of_name(stem) == label


@pytest.mark.parametrize(
    ("by_name", "by_header", "bits", "label", "guessed"),
    [
        ("UD-IQ2_M", "Q4_K_S", 2.71, "UD-IQ2_M", False),
        ("UD-IQ2_M", "Q4_K_S", None, "UD-IQ2_M", True),
        ("Q8_0", "Q4_K_M", 4.85, "Q4_K_M", False),
        ("Q2_K", "F16", 16.0, "F16", False),
        ("Q4_K_M", "Q4_K_M", None, "Q4_K_M", False),
        ("F16", "F16", 4.46, "F16", False),
        ("Q4_K_M", None, 4.85, "Q4_K_M", False),
        ("Q4_K_M", None, None, "Q4_K_M", True),
        ("Q4_K_M", None, 16.0, "Q4_K_M", True),
        ("Q2_K", None, 3.4, "Q2_K", False),
        ("Q2_K", "Q2_K", 5.2, "Q2_K", False),
        (None, "Q4_K_M", None, "Q4_K_M", False),
        (None, None, 4.5, None, False),
    ],
)
def test_which_of_two_labels_is_believed(by_name, by_header, bits, label, guessed):
    assert believed(by_name, by_header, bits) == (label, guessed)


@pytest.mark.parametrize(
    ("stem", "base"),
    [
        ("Qwen3-4B-UD-Q2_K_XL", "Qwen3-4B"),
        ("Q4_K_M", ""),
        ("mmproj-F16-Qwen", "mmproj-Qwen"),
        ("Qwen3-4B", "Qwen3-4B"),
    ],
)
def test_a_name_without_its_label(stem, base):
    assert without_quant(stem) == base
