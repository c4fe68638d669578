import json
import struct

import pytest
from tests.formats.made_safetensors import head, safetensors

from weighbridge.base.errors import BadFile
from weighbridge.formats.safetensors import HEADER_LIMIT_BYTES, read_safetensors
from weighbridge.formats.source import BytesSource


def read(content):
    return read_safetensors(BytesSource(content), "m.safetensors")


def fault(content):
    with pytest.raises(BadFile) as caught:
        read(content)
    return caught.value


def one(**changed):
    return head({"t": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16], **changed}}) + bytes(16)


def test_a_file_is_read():
    header = read(safetensors({"a": ("BF16", [4, 2]), "b": ("U32", [3]), "c": ("F32", [])}, {"format": "mlx"}))
    assert header.metadata == {"format": "mlx"}
    assert [(t.name, t.type_name, t.shape, t.offset, t.size_bytes, t.elements) for t in header.tensors] == [
        ("a", "BF16", (4, 2), 0, 16, 8),
        ("b", "U32", (3,), 16, 12, 3),
        ("c", "F32", (), 28, 4, 1),
    ]


def test_a_type_that_is_not_known_has_the_size_that_the_file_says():
    (tensor,) = read(one(dtype="F4_NEW")).tensors
    assert (tensor.type_name, tensor.size_bytes) == (None, 16)


def test_a_file_without_tensors_is_read():
    assert read(head({})).tensors == ()


def test_a_length_that_begins_as_a_web_page_does_is_a_length():
    content = head({"": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}})
    padded = content[8:] + b" " * (ord("<") - len(content) + 8)
    assert read(struct.pack("<Q", len(padded)) + padded).tensors[0].elements == 0


def test_tensors_of_no_bytes_may_stand_anywhere_between_others():
    (first, second) = read(
        head(
            {
                "full": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
                "empty": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]},
            }
        )
        + bytes(4)
    ).tensors
    assert (first.name, second.name) == ("empty", "full")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "file.empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "file.lfs_pointer"),
        (b"<!doctype html><title>Sign in</title>", "file.web_page"),
        (b"GGUF\x03\x00\x00\x00\x00", "safetensors.none"),
        (b"PK\x03\x04" + bytes(40), "safetensors.none"),
        (struct.pack("<Q", 2), "safetensors.none"),
        (struct.pack("<Q", HEADER_LIMIT_BYTES + 1) + b"{" + bytes(60), "safetensors.none"),
        (struct.pack("<Q", 1 << 63) + b"{" + bytes(60), "safetensors.none"),
        (struct.pack("<Q", 500) + b"{}", "file.truncated"),
        (struct.pack("<Q", 2) + b"{]", "json.damaged"),
        (struct.pack("<Q", 50_001) + b'{"a":' + b"[" * 49_996, "json.damaged"),
        (head({"t": 7}), "safetensors.tensor"),
        (head({"n" * 513: {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}), "safetensors.tensor"),
    ],
)
def test_what_is_no_safetensors_file_is_named(content, code):
    assert fault(content).code == code


@pytest.mark.parametrize(
    "changed",
    [
        {"dtype": 7},
        {"dtype": None},
        {"shape": [2, 3]},
        {"shape": [-2, -2]},
        {"shape": [True, 4]},
        {"shape": [2.0, 2]},
        {"shape": "22"},
        {"shape": [1] * 9},
        {"shape": [1 << 63]},
        {"data_offsets": [0]},
        {"data_offsets": [16, 0]},
        {"data_offsets": [0, 15]},
        {"data_offsets": [0, 16, 32]},
        {"data_offsets": None},
    ],
)
def test_a_tensor_that_cannot_be_is_refused_by_name(changed):
    error = fault(one(**changed))
    assert (error.code, error.values) == ("safetensors.tensor", {"tensor": "t"})


def test_a_tensor_past_the_end_is_told_with_its_numbers():
    whole = safetensors({"t": ("F32", [4])})
    error = fault(whole[:-1])
    assert (error.code, error.values) == (
        "file.truncated",
        {"needed_bytes": len(whole), "size_bytes": len(whole) - 1},
    )


def test_tensors_that_share_bytes_are_refused():
    place = {"dtype": "U8", "shape": [8]}
    error = fault(head({"a": {**place, "data_offsets": [0, 8]}, "b": {**place, "data_offsets": [7, 15]}}) + bytes(15))
    assert (error.code, error.values) == ("safetensors.overlap", {"tensor": "b"})


def test_too_many_tensors_are_refused(monkeypatch):
    monkeypatch.setattr("weighbridge.formats.safetensors.MAX_TENSORS", 1)
    error = fault(safetensors({"a": ("U8", [1]), "b": ("U8", [1])}))
    assert (error.code, error.values) == ("safetensors.count", {"count": 2})


def test_a_name_told_twice_is_refused():
    record = json.dumps({"dtype": "U8", "shape": [0], "data_offsets": [0, 0]})
    text = f'{{"a": {record}, "a": {record}}}'.encode()
    assert fault(struct.pack("<Q", len(text)) + text).code == "json.damaged"
