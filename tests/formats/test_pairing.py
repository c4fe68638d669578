import pytest

from weighbridge.formats.gguf import Header
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.model import model_info
from weighbridge.formats.pairing import UNTOLD, Compared, Pairing, draft_kind_of, pairing, vocabulary_of
from weighbridge.formats.variant import Role
from weighbridge_engines.api import DRAFT_KINDS


def header(metadata, tensors=None):
    shapes = None if tensors is None else tuple(Tensor(name, 0, shape, 0, 0) for name, shape in tensors.items())
    return model_info(Header(3, 0, metadata, shapes is not None, 0, shapes), "any")


def model(embedding=4096, architecture="qwen3", tokens=None, layers=36, **told):
    keys = {
        "general.architecture": architecture,
        "general.type": "model",
        f"{architecture}.block_count": layers,
        f"{architecture}.embedding_length": embedding,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
    }
    tensors = None if tokens is None else {"token_embd.weight": (embedding, tokens)}
    return header(keys | told, tensors)


def projector(**told):
    return header({"general.architecture": "clip", "general.type": "mmproj"} | told)


def adapter(architecture="qwen3", tensors=None, **told):
    return header(
        {"general.architecture": architecture, "general.type": "adapter", "adapter.type": "lora"} | told, tensors
    )


VISION = "clip.vision.projection_dim"


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ({VISION: 4096}, Pairing(True, Compared.EMBEDDING, 4096, 4096)),
        ({VISION: 2048}, Pairing(False, Compared.EMBEDDING, 2048, 4096)),
        ({"clip.audio.projection_dim": 2048}, Pairing(False, Compared.EMBEDDING, 2048, 4096)),
        ({VISION: 4096, "clip.audio.projection_dim": 2048}, Pairing(False, Compared.EMBEDDING, 2048, 4096)),
        ({}, UNTOLD),
        ({VISION: 0}, UNTOLD),
        ({VISION: 768, "clip.has_text_encoder": False}, UNTOLD),
        ({VISION: "4096"}, UNTOLD),
    ],
    ids=["same", "other", "ear", "one of two", "untold", "none", "converters of old", "no number"],
)
def test_a_projector_writes_what_the_model_reads(told, answer):
    assert pairing(Role.PROJECTOR, projector(**told), model()) == answer


def test_nothing_is_compared_with_a_model_that_does_not_say():
    assert pairing(Role.PROJECTOR, projector(**{VISION: 4096}), header({})) == UNTOLD
    assert pairing(Role.DRAFT, header({}), header({})) == UNTOLD
    assert pairing(Role.ADAPTER, header({}), header({})) == UNTOLD
    assert pairing(Role.IMATRIX, header({}), model()) == UNTOLD


@pytest.mark.parametrize(
    ("tokens", "suits"),
    [(151_936, True), (151_936 - 128, True), (151_936 - 129, False), (152_064, True), (32_000, False)],
)
def test_a_small_model_drafts_where_the_vocabulary_is_nearly_the_same(tokens, suits):
    found = pairing(Role.DRAFT, model(1024, tokens=tokens), model(tokens=151_936))
    assert found.suits is suits
    if suits is False:
        assert found == Pairing(False, Compared.VOCABULARY, tokens, 151_936)


def test_a_draft_has_the_same_tokenizer_and_ends():
    other = model(1024, **{"tokenizer.ggml.model": "llama"})
    assert pairing(Role.DRAFT, other, model()) == Pairing(False, Compared.TOKENIZER, "llama", "gpt2")
    ends = {"tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.bos_token_id": 1}
    wanted = model(**ends | {"tokenizer.ggml.bos_token_id": 2})
    assert pairing(Role.DRAFT, model(1024, **ends), wanted) == Pairing(False, Compared.ENDS, 1, 2)
    quiet = {"tokenizer.ggml.add_bos_token": False, "tokenizer.ggml.bos_token_id": 1}
    assert pairing(Role.DRAFT, model(1024, **quiet), wanted).by is Compared.ENDS
    assert pairing(Role.DRAFT, model(1024, **quiet), model(**quiet | {"tokenizer.ggml.bos_token_id": 2})) == UNTOLD
    assert pairing(Role.DRAFT, model(1024), model()) == UNTOLD, "the same kind of tokenizer has many vocabularies"


def test_a_draft_is_smaller_than_its_model():
    small, large = model(1024, tokens=1000), model(4096, tokens=1000)
    assert pairing(Role.DRAFT, small, large).suits is True
    assert pairing(Role.DRAFT, large, small).by is Compared.SIZE
    assert pairing(Role.DRAFT, small, small).by is Compared.SIZE


def test_heads_that_read_the_states_of_the_model_are_of_their_size():
    eagle = header(
        {"general.architecture": "eagle3", "eagle3.embedding_length": 2048, "eagle3.target_hidden_size": 4096}
    )
    assert pairing(Role.DRAFT, eagle, model()) == Pairing(True, Compared.EMBEDDING, 4096, 4096)
    assert pairing(Role.DRAFT, eagle, model(5120)) == Pairing(False, Compared.EMBEDDING, 4096, 5120)
    flash = header({"general.architecture": "dflash", "dflash.embedding_length": 2560})
    assert pairing(Role.DRAFT, flash, model()) == Pairing(False, Compared.EMBEDDING, 2560, 4096)
    own = {"qwen3.nextn_predict_layers": 1}
    assert pairing(Role.DRAFT, model(4096, **own), model()).suits is True
    assert pairing(Role.DRAFT, model(2048, **own), model()) == Pairing(False, Compared.EMBEDDING, 2048, 4096)
    assert pairing(Role.DRAFT, model(4096, **own), model(architecture="llama")).by is Compared.ARCHITECTURE


def test_an_adapter_changes_layers_of_the_shape_that_the_model_has():
    def changed(layer, rows):
        return {f"blk.{layer}.attn_q.weight.lora_a": (rows, 16), f"blk.{layer}.attn_q.weight.lora_b": (16, 99)}

    assert pairing(Role.ADAPTER, adapter(), model()) == UNTOLD
    assert pairing(Role.ADAPTER, adapter("llama"), model()) == Pairing(False, Compared.ARCHITECTURE, "llama", "qwen3")
    assert pairing(Role.ADAPTER, adapter(tensors=changed(35, 4096)), model()).suits is True
    other = pairing(Role.ADAPTER, adapter(tensors=changed(0, 2048)), model())
    assert other == Pairing(False, Compared.EMBEDDING, 2048, 4096)
    deeper = pairing(Role.ADAPTER, adapter(tensors=changed(36, 4096)), model())
    assert deeper == Pairing(False, Compared.LAYERS, 37, 36)


def test_an_adapter_is_for_the_model_that_it_names():
    named = adapter(**{"general.base_model.0.name": "Qwen3 8B"})
    assert pairing(Role.ADAPTER, named, model(**{"general.name": "qwen3-8b"})).by is Compared.BASE
    assert pairing(Role.ADAPTER, named, model(**{"general.name": "Another"})) == UNTOLD


def test_how_many_tokens_a_model_has():
    assert vocabulary_of(model(tokens=151_936)) == 151_936
    assert vocabulary_of(model(**{"qwen3.vocab_size": 32_000})) == 32_000
    assert vocabulary_of(model()) is None


@pytest.mark.parametrize(
    ("info", "kind"),
    [
        (model(1024), "simple"),
        (model(4096, **{"qwen3.nextn_predict_layers": 1}), "mtp"),
        (header({"general.architecture": "eagle3"}), "eagle3"),
        (header({"general.architecture": "dflash"}), "dflash"),
        (header({"general.architecture": "dflash"}, {"markov_w1.weight": (4, 4)}), "dspark"),
    ],
)
def test_how_a_draft_works(info, kind):
    assert draft_kind_of(info) == kind
    assert kind in DRAFT_KINDS
