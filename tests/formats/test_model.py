import pytest
from tests.formats.made_gguf import LLAMA, gguf, tensor

from weighbridge.formats.architectures import Kind
from weighbridge.formats.configs import config_info
from weighbridge.formats.gguf import read_header
from weighbridge.formats.keys import MOST_LETTERS
from weighbridge.formats.model import model_info
from weighbridge.formats.source import BytesSource


def info(keys, stem="tiny", full=False, tensors=(), data=b""):
    return model_info(read_header(BytesSource(gguf(keys, tensors, data)), full=full), stem)


def with_keys(**keys):
    return info({"general.architecture": "a", "a.block_count": 3, **{f"a.{k}": v for k, v in keys.items()}})


def test_a_header_in_one_shape():
    model = info({**LLAMA, "tokenizer.ggml.tokens": ["a", "b"]}, "tiny.Q8_0")
    assert model.vocabulary == 2
    assert (model.format, model.architecture, model.name, model.license) == ("gguf", "llama", "Tiny", "mit")
    assert (model.layers, model.context_length, model.embedding_length) == (2, 8192, 64)
    assert (model.heads, model.kv_heads) == ((4, 4), (2, 2))
    assert (model.key_length, model.value_length) == (16, 16)
    assert model.quant == "Q8_0"
    assert model.has_chat_template is None
    assert model.parameters is None


def test_the_label_falls_back_to_the_header():
    assert info(LLAMA, "tiny").quant == "Q4_K_M"


def test_a_full_read_counts_parameters_and_knows_of_the_template():
    model = info({"general.architecture": "llama"}, full=True, tensors=[tensor("t", [8, 4])], data=bytes(128))
    assert model.parameters == 32
    assert model.has_chat_template is False
    assert info({"tokenizer.chat_template": "x"}, full=True).has_chat_template is True


def test_the_heads_of_each_layer_are_kept():
    assert with_keys(**{"attention.head_count_kv": [0, 8, 0]}).kv_heads == (0, 8, 0)


def test_a_missing_key_value_head_count_is_that_of_the_heads():
    assert with_keys(**{"attention.head_count": 6}).kv_heads == (6, 6, 6)


def test_an_array_that_does_not_cover_the_layers_is_unknown():
    assert with_keys(**{"attention.head_count_kv": [8]}).kv_heads is None


def test_absurd_or_mistyped_values_are_unknown():
    model = info({"general.architecture": "a", "a.block_count": 1 << 31, "a.attention.head_count": 8})
    assert (model.layers, model.heads) == (None, None)
    assert with_keys(context_length="long").context_length is None
    assert with_keys(context_length=True).context_length is None


def test_a_split_is_counted_from_one():
    assert info({"split.no": 0, "split.count": 3}).split == (1, 3)
    assert info({"split.no": 0, "split.count": 1}).split is None


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ({"general.architecture": "llama"}, Kind.CHAT),
        ({"general.architecture": "bert"}, Kind.EMBEDDING),
        ({"general.architecture": "clef"}, Kind.RERANK),
        ({"general.architecture": "muse-glimmer"}, Kind.CHAT),
        ({"general.architecture": "paddleocr"}, Kind.CHAT),
        ({"general.architecture": "qwen3", "qwen3.pooling_type": 3}, Kind.EMBEDDING),
        ({"general.architecture": "qwen3", "qwen3.pooling_type": 4}, Kind.RERANK),
        ({"general.architecture": "qwen3", "qwen3.pooling_type": 0}, Kind.CHAT),
        ({"general.architecture": "clip"}, Kind.PROJECTION),
        ({"general.architecture": "llama", "general.type": "mmproj"}, Kind.PROJECTION),
        ({"general.architecture": "llama", "general.type": "adapter"}, Kind.ADAPTER),
        ({"general.type": "imatrix"}, Kind.IMATRIX),
        ({"general.architecture": "llama", "general.type": "vocab"}, Kind.VOCABULARY),
        ({"general.architecture": "sd3"}, Kind.IMAGE),
        ({"general.architecture": "flux"}, Kind.IMAGE),
        ({"general.architecture": "wav2vec"}, Kind.AUDIO),
        ({"general.architecture": "brandnew9"}, Kind.UNKNOWN),
        ({"general.architecture": 7}, Kind.UNKNOWN),
        ({}, Kind.UNKNOWN),
    ],
)
def test_what_a_model_is_for(keys, kind):
    assert info(keys).kind == kind


def test_what_a_header_calls_itself_can_be_shown_in_a_line():
    """Strangers write it: a terminal would obey what is in it."""
    evil = "a\n\x1b[31m\u202eb" + "x" * 100_000
    keys = {"general.name": evil, "general.license": evil}
    model = model_info(read_header(BytesSource(gguf({**LLAMA, **keys})), full=True), "tiny")
    assert model.name == model.license == "a\ufffd\ufffd[31m\ufffdb" + "x" * (MOST_LETTERS - 9)
    config = config_info({"model_type": "\x1b[31m"}, "mlx", Kind.CHAT, None, guessed=False)
    assert config.architecture == "\ufffd[31m"
