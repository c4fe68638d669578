import pytest

from weighbridge.formats.architectures import Kind
from weighbridge.formats.config_counts import reckoned
from weighbridge.formats.configs import attention_layers, config_info, text_config
from weighbridge.formats.kinds import kind_of_config

QWEN3_8B = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "num_hidden_layers": 36,
    "hidden_size": 4096,
    "vocab_size": 151936,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 12288,
    "max_position_embeddings": 40960,
    "sliding_window": None,
    "use_sliding_window": False,
    "tie_word_embeddings": False,
}
QWEN3_30B = QWEN3_8B | {
    "model_type": "qwen3_moe",
    "num_hidden_layers": 48,
    "hidden_size": 2048,
    "num_key_value_heads": 4,
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_experts_per_tok": 8,
}
DEEPSEEK_V3 = {
    "model_type": "deepseek_v3",
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "vocab_size": 129280,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "topk_method": "noaux_tc",
}
GEMMA_3_4B = {
    "architectures": ["Gemma3ForConditionalGeneration"],
    "model_type": "gemma3",
    "text_config": {
        "model_type": "gemma3_text",
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "num_hidden_layers": 34,
        "sliding_window": 1024,
    },
    "vision_config": {"hidden_size": 1152, "num_hidden_layers": 27},
}


def info(config):
    return config_info(config, "mlx", Kind.CHAT, "4bit g64", guessed=False)


def test_a_config_in_one_shape():
    model = info(QWEN3_8B)
    assert (model.format, model.kind, model.quant, model.architecture) == ("mlx", Kind.CHAT, "4bit g64", "qwen3")
    assert (model.layers, model.context_length, model.embedding_length) == (36, 40960, 4096)
    assert (model.heads, model.kv_heads) == ((32,) * 36, (8,) * 36)
    assert (model.key_length, model.value_length, model.sliding_window) == (128, 128, None)
    assert (model.experts, model.experts_used, model.license, model.tensors) == (None, None, None, None)
    assert model.config["hidden_size"] == 4096


def test_experts_are_told():
    model = info(QWEN3_30B)
    assert (model.experts, model.experts_used) == (128, 8)


def test_a_multimodal_config_is_that_of_its_text_model_and_keeps_the_rest():
    model = info(GEMMA_3_4B)
    assert (model.architecture, model.layers, model.embedding_length) == ("gemma3_text", 34, 2560)
    assert (model.heads[0], model.kv_heads[0], model.key_length, model.sliding_window) == (8, 4, 256, 1024)
    assert model.config["vision_config"] == {"hidden_size": 1152, "num_hidden_layers": 27}
    assert "text_config" not in model.config


def test_compressed_keys_are_wider_than_values():
    model = info(DEEPSEEK_V3)
    assert (model.key_length, model.value_length) == (192, 128)


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ({"layer_types": ["linear_attention", "full_attention", "conv", "sliding_attention"]}, (0, 8, 0, 8)),
        ({"full_attention_interval": 4}, (0, 0, 0, 8)),
        ({"attn_layer_period": 2, "attn_layer_offset": 1}, (0, 8, 0, 8)),
        ({"hybrid_override_pattern": "M*-E"}, (0, 8, 0, 0)),
        ({}, (8, 8, 8, 8)),
        ({"num_key_value_heads": [1, 2, 3, 4]}, (1, 2, 3, 4)),
        ({"num_key_value_heads": [1, 2]}, (32, 32, 32, 32)),
        ({"multi_query": True}, (1, 1, 1, 1)),
    ],
)
def test_layers_that_keep_no_keys_have_no_heads_for_them(more, kept):
    assert info(QWEN3_8B | {"num_hidden_layers": 4} | more).kv_heads == kept


@pytest.mark.parametrize("value", ["8", 8.5, True, -1, 1 << 40, None, [8], {"a": 8}])
def test_absurd_values_are_unknown(value):
    model = info({"model_type": value, "num_hidden_layers": value, "hidden_size": value, "head_dim": value})
    assert (model.architecture in (None, "8"), model.layers, model.embedding_length) == (True, None, None)
    assert attention_layers({"layer_types": value, "full_attention_interval": value}, 2) == (True, True)
    assert attention_layers({"layer_types": [value, value]}, 2) == (True, True)


def test_an_empty_config_tells_nothing():
    model = info({})
    assert (model.architecture, model.layers, model.heads, model.kv_heads, model.config) == (None, None, None, None, {})
    assert text_config({}) == {}


@pytest.mark.parametrize(
    ("config", "parameters", "active"),
    [
        (QWEN3_8B, 8_190_735_360, 7_568_405_504),
        (QWEN3_30B, 30_532_122_624, 3_041_867_776),
        (DEEPSEEK_V3, 671_026_419_200, 36_625_618_432),
        (QWEN3_8B | {"model_type": "brandnew9"}, None, None),
        (QWEN3_8B | {"vision_config": {}}, None, None),
        ({"model_type": "llama"}, None, None),
    ],
)
def test_parameters_reckoned_from_a_config(config, parameters, active):
    """As published: 8.19 B, 30.5 B with 3.3 B active (embedding counted), 671 B with 37 B active."""
    counts = reckoned(config)
    assert (counts.parameters, counts.active) == (parameters, active)


@pytest.mark.parametrize(
    ("family", "sizes", "parameters"),
    [
        ("llama", (32, 4096, 128256, 32, 8, 14336, {}), 8_030_261_248),
        ("llama", (30, 576, 49152, 9, 3, 1536, {"tie_word_embeddings": True}), 134_515_008),
        ("qwen2", (28, 3584, 152064, 28, 4, 18944, {}), 7_615_616_512),
        ("gemma2", (26, 2304, 256000, 8, 4, 9216, {"head_dim": 256}), 2_614_341_888),
        ("gemma3_text", (26, 1152, 262144, 4, 1, 6912, {"head_dim": 256}), 999_885_952),
        ("phi3", (32, 3072, 32064, 32, 32, 8192, {}), 3_821_079_552),
        ("glm4", (40, 4096, 151552, 32, 2, 13696, {"head_dim": 128}), 9_400_279_040),
        (
            "mixtral",
            (32, 4096, 32000, 32, 8, 14336, {"num_local_experts": 8, "num_experts_per_tok": 2}),
            46_702_792_704,
        ),
    ],
)
def test_the_published_parameters_of_other_families(family, sizes, parameters):
    names = [
        "num_hidden_layers",
        "hidden_size",
        "vocab_size",
        "num_attention_heads",
        "num_key_value_heads",
        "intermediate_size",
    ]
    config = {"model_type": family, **dict(zip(names, sizes[:-1], strict=True)), **sizes[-1]}
    assert reckoned(config).parameters == parameters


@pytest.mark.parametrize(
    ("config", "beside", "kind"),
    [
        ({"architectures": ["LlamaForCausalLM"], "model_type": "llama"}, (), Kind.CHAT),
        ({"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3"}, (), Kind.CHAT),
        ({"architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper"}, (), Kind.AUDIO),
        ({"architectures": ["Wav2Vec2ForCTC"], "model_type": "wav2vec2"}, (), Kind.AUDIO),
        ({"architectures": ["BertModel"], "model_type": "bert"}, (), Kind.EMBEDDING),
        ({"architectures": ["NomicBertModel"], "model_type": "nomic_bert"}, (), Kind.EMBEDDING),
        ({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}, ("modules.json",), Kind.EMBEDDING),
        ({"architectures": ["XLMRobertaForSequenceClassification"]}, (), Kind.RERANK),
        ({"architectures": ["SD3Transformer2DModel"]}, (), Kind.IMAGE),
        ({"architectures": ["BrandNew9"], "model_type": "brandnew9"}, (), Kind.UNKNOWN),
        ({"architectures": "LlamaForCausalLM"}, (), Kind.UNKNOWN),
        ({"architectures": [7, None]}, (), Kind.UNKNOWN),
        ({}, (), Kind.UNKNOWN),
    ],
)
def test_what_a_model_is_for(config, beside, kind):
    assert kind_of_config(config, beside) is kind
