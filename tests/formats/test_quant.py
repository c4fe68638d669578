import pytest

from weighbridge.formats.quant import quant_of_name


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
