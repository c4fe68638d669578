import json
import zlib
from dataclasses import replace

import pytest
from tests.formats.made_gguf import LLAMA, gguf, tensor
from tests.formats.test_configs import QWEN3_30B

from weighbridge.formats import digest
from weighbridge.formats.architectures import Kind
from weighbridge.formats.configs import config_info
from weighbridge.formats.digest import pack, unpack
from weighbridge.formats.gguf import read_header
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.model import model_info
from weighbridge.formats.source import BytesSource


def full():
    records = [tensor("token_embd.weight", [32, 8], 8), tensor("blk.0.attn_q.weight", [32, 2], 99, offset=288)]
    keys = LLAMA | {"a.swa": [True, False], "a.kv": [0, 8], "b": 1.5, "split.no": 0, "split.count": 2}
    return model_info(read_header(BytesSource(gguf(keys, records, bytes(400))), full=True), "tiny.Q8_0")


MLX = replace(
    config_info(QWEN3_30B, "mlx", Kind.CHAT, "4bit g64", guessed=True), tensors=(Tensor("a\ud800", -16, (), 0, 4),)
)


def test_what_was_packed_comes_back():
    info = full()
    again = unpack(pack(info))
    assert again == info
    assert type(again.metadata["a.swa"]) is tuple
    assert type(again.tensors[0].shape) is tuple
    brief = replace(info, tensors=None)
    assert unpack(pack(brief)) == brief


def test_a_model_by_its_config_comes_back_and_what_cannot_be_encoded_is_mended():
    again = unpack(pack(MLX))
    assert again == replace(MLX, tensors=(replace(MLX.tensors[0], name="a\ufffd"),))
    assert again.kind is Kind.CHAT


def test_damaged_bytes_are_missing():
    content = pack(full())
    for place in range(0, len(content), 7):
        assert unpack(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :]) is None
    assert unpack(content[:-1]) is None
    assert unpack(b"") is None


@pytest.mark.parametrize("values", [[], {}, {"version": 1}, None, "x", {"version": 1, "kind": "chat"}])
def test_other_things_are_missing(values):
    assert unpack(zlib.compress(json.dumps(values).encode())) is None


def test_another_version_is_missing(monkeypatch):
    content = pack(full())
    monkeypatch.setattr(digest, "VERSION", 2)
    assert unpack(content) is None


def test_what_is_too_long_or_too_deep_is_missing(monkeypatch):
    assert unpack(zlib.compress(b"[" * 100_000)) is None
    monkeypatch.setattr(digest, "MAX_BYTES", 100)
    assert unpack(pack(full())) is None
