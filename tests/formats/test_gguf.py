import os
import struct

import pytest
from tests.formats.made_gguf import ARRAY, LLAMA, STRING, U32, gguf, head, tensor, text

from weighbridge.base.errors import BadFile
from weighbridge.formats.gguf import read_header
from weighbridge.formats.source import BytesSource, FileSource


class Counting(BytesSource):
    """A source that counts what it is asked for, and may keep its size to itself."""

    def __init__(self, content, size_known=True):
        super().__init__(content)
        self.asked = []
        if not size_known:
            self.size_bytes = None

    def read(self, offset, length):
        self.asked.append((offset, length))
        return super().read(offset, length)


def read(content, full=True):
    return read_header(BytesSource(content), full=full)


def fault(content, full=True):
    with pytest.raises(BadFile) as caught:
        read(content, full)
    return caught.value


def u32_key(key, number):
    return text(key) + struct.pack("<II", U32, number)


def test_a_whole_file_is_read():
    header = read(gguf(LLAMA, [tensor("a", [32, 2]), tensor("b", [3], offset=256)], bytes(300)))
    assert header.version == 3
    assert header.complete
    assert header.metadata["llama.block_count"] == 2
    assert header.metadata["general.name"] == "Tiny"
    assert [(t.name, t.shape, t.offset, t.size_bytes, t.elements) for t in header.tensors] == [
        ("a", (32, 2), 0, 256, 64),
        ("b", (3,), 256, 12, 3),
    ]


def test_version_2_is_read():
    assert read(gguf(LLAMA, version=2)).version == 2


def test_every_kind_of_number_is_read():
    kinds = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
    body = b"".join(text(f"k{kind}") + struct.pack(f"<I{form}", kind, 1) for kind, form in kinds.items())
    metadata = read(head(0, len(kinds)) + body).metadata
    assert metadata == {f"k{kind}": 1 for kind in kinds}
    assert metadata["k7"] is True


def test_arrays_for_each_layer_are_kept_and_those_of_the_tokenizer_are_not():
    header = read(gguf({"a.kv": [0, 8, 8], "a.swa": [True, False], "tokenizer.ggml.scores": [1.5, 2.5], "end": 7}))
    assert header.metadata == {"a.kv": (0, 8, 8), "a.swa": (True, False), "end": 7}


def test_text_arrays_are_walked_over():
    header = read(gguf({"tokenizer.ggml.tokens": ["a", "", "bcd"], "end": 7}))
    assert header.metadata == {"end": 7}


def test_a_brief_read_takes_8_kib_and_stops_at_the_tokenizers_lists():
    late = {"llama.expert_count": 8, "tokenizer.ggml.tokens": ["x" * 1000] * 5000, "llama.end": 1}
    source = Counting(gguf({**LLAMA, **late}))
    header = read_header(source)
    assert source.asked == [(0, 8192)]
    assert not header.complete
    assert header.tensors is None
    assert (header.metadata["general.file_type"], header.metadata["tokenizer.ggml.model"]) == (15, "gpt2")
    assert (header.metadata["llama.expert_count"], header.vocabulary) == (8, 5000)
    assert "llama.end" not in header.metadata
    assert read_header(source, full=True).vocabulary == 5000


def test_a_brief_read_takes_no_more_for_a_long_text_of_the_tokenizer():
    source = Counting(gguf({**LLAMA, "tokenizer.chat_template": "x" * 20_000, "llama.end": 1}))
    assert not read_header(source).complete
    assert source.asked == [(0, 8192)]


def test_a_brief_read_grows_to_64_kib_and_no_further():
    source = Counting(gguf({"a": "x" * 20_000, "b": "x" * 30_000, "c": "x" * 200_000}))
    header = read_header(source)
    assert list(header.metadata) == ["a", "b"]
    assert not header.complete
    assert sum(length for _, length in source.asked) == 64 << 10


def test_a_full_read_doubles_its_ranges():
    source = Counting(gguf({"tokenizer.ggml.tokens": ["x" * 1000] * 5000, "end": 1}))
    assert read_header(source, full=True).metadata == {"end": 1}
    assert [length for _, length in source.asked] == [1 << 20, 1 << 20, 2 << 20, 4 << 20]


def test_a_source_of_unknown_size_is_read_to_its_end():
    content = gguf(LLAMA)
    assert read_header(Counting(content, size_known=False), full=True).complete
    with pytest.raises(BadFile) as caught:
        read_header(Counting(content[:-3], size_known=False), full=True)
    assert caught.value.code == "file.truncated"


def test_the_chat_template_is_kept_unless_it_is_huge():
    assert read(gguf({"tokenizer.chat_template": "{{ x }}"})).metadata["tokenizer.chat_template"] == "{{ x }}"
    assert read(gguf({"tokenizer.chat_template": "x" * (2 << 20), "end": 1})).metadata == {"end": 1}


def test_text_that_is_not_utf8_is_replaced():
    body = head(0, 1) + text("general.name") + struct.pack("<I", STRING) + text(b"caf\xe9")
    assert read(body).metadata["general.name"] == "caf\ufffd"


@pytest.mark.parametrize(
    ("start", "code"),
    [
        (b"", "file.empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64, "file.lfs_pointer"),
        (b"<!doctype html><title>Sign in</title>", "file.web_page"),
        (b"\xef\xbb\xbf\n  <HTML>", "file.web_page"),
        (b"tjgg\x03\x00\x00\x00" + bytes(100), "file.old_ggml"),
        (b"lmgg" + bytes(100), "file.old_ggml"),
        (b"PK\x03\x04" + bytes(100), "file.not_gguf"),
        (b"GG", "file.not_gguf"),
        (b"GGUF", "file.truncated"),
        (head(0, 0, version=1), "gguf.version"),
        (head(0, 0, version=4), "gguf.version"),
        (head(0, 0, version=0), "gguf.version"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "gguf.big_endian"),
        (head(0, 1 << 40), "gguf.count"),
        (head(1 << 40, 0), "gguf.count"),
    ],
)
def test_what_is_no_gguf_is_named(start, code):
    assert fault(start).code == code


@pytest.mark.parametrize("full", [True, False])
def test_an_absurd_length_is_refused(full):
    assert fault(head(0, 1) + struct.pack("<Q", 0xFFFFFFFFFFFF), full).code == "gguf.length"
    long_value = head(0, 1) + text("a") + struct.pack("<IQ", STRING, 1 << 62)
    assert fault(long_value, full).code == "gguf.length"
    in_array = head(0, 1) + text("a") + struct.pack("<IIQQ", ARRAY, STRING, 1, 1 << 62)
    assert fault(in_array, full).code == "gguf.length"


def test_a_length_one_past_the_end_is_told_with_its_numbers():
    whole = gguf({"a": "four"})
    error = fault(whole[:-1])
    assert error.code == "file.truncated"
    assert error.values == {"needed_bytes": len(whole), "size_bytes": len(whole) - 1}


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (struct.pack("<IIQ", ARRAY, 0, 1 << 63), "gguf.count"),
        (struct.pack("<IIQ", ARRAY, 77, 1 << 63), "gguf.value_type"),
        (struct.pack("<IIQ", ARRAY, 77, 1) + u32_key("good", 1), "gguf.value_type"),
        (struct.pack("<I", ARRAY) + struct.pack("<IQ", ARRAY, 1) * 200, "gguf.nested_array"),
        (struct.pack("<IIQ", ARRAY, STRING, 4 << 20), "file.truncated"),
        (struct.pack("<I", 77), "gguf.value_type"),
    ],
)
def test_bad_values_are_refused(array, code):
    assert fault(head(0, 2) + text("a") + array).code == code


def test_bad_keys_are_refused():
    assert fault(head(0, 2) + u32_key("a", 1) * 2).code == "gguf.duplicate_key"
    assert fault(head(0, 1) + u32_key("", 1)).code == "gguf.key"
    assert fault(head(0, 1) + u32_key(b"\xff\xfe", 1)).code == "gguf.key"


@pytest.mark.parametrize("number", [0, 3, 1 << 30])
def test_a_bad_alignment_is_refused_by_name(number):
    error = fault(gguf({"general.alignment": number}))
    assert (error.code, error.values) == ("gguf.alignment", {"value": str(number)})


def test_alignment_must_be_a_number():
    assert fault(gguf({"general.alignment": "32"})).code == "gguf.alignment"
    assert fault(gguf({"general.alignment": True})).code == "gguf.alignment"


def test_alignment_is_honoured_and_32_where_it_is_missing():
    record = [tensor("t", [4], offset=16)]
    aligned = read(gguf({"general.alignment": 16}, record, bytes(64)))
    assert aligned.alignment == 16
    assert aligned.data_start % 16 == 0
    error = fault(gguf({}, record, bytes(64)))
    assert (error.code, error.values["alignment"]) == ("gguf.tensor_offset", 32)


@pytest.mark.parametrize("shape", [[0], [4, 0], [0, 4]])
def test_a_dimension_of_zero_counts_nothing(shape):
    (record,) = read(gguf({}, [tensor("t", shape)])).tensors
    assert (record.elements, record.size_bytes) == (0, 0)


def test_a_tensor_past_the_end_is_told_with_its_numbers():
    whole = gguf({}, [tensor("t", [64])], bytes(256))
    assert read(whole).tensors[0].size_bytes == 256
    error = fault(whole[:-1])
    assert error.code == "file.truncated"
    assert error.values == {"needed_bytes": len(whole), "size_bytes": len(whole) - 1}


def test_stray_bytes_at_the_end_are_tolerated():
    assert len(read(gguf({}, [tensor("t", [64])], bytes(256 + 31))).tensors) == 1


def test_a_tensor_of_unknown_type_has_no_size():
    (record,) = read(gguf({}, [tensor("t", [64], type_id=99)])).tensors
    assert (record.size_bytes, record.type_name) == (None, None)


@pytest.mark.parametrize(
    ("records", "code"),
    [
        ([tensor("t", [33], type_id=12)], "gguf.tensor_shape"),
        ([tensor("t", [1 << 40, 1 << 40])], "gguf.tensor_shape"),
        ([tensor("t", [1] * 9)], "gguf.tensor_shape"),
        ([tensor("t", [1]), tensor("t", [1])], "gguf.duplicate_tensor"),
        ([struct.pack("<Q", 1 << 50)], "gguf.length"),
    ],
)
def test_bad_tensor_records_are_refused(records, code):
    assert fault(gguf({}, records, bytes(64))).code == code


def test_a_file_that_cannot_be_opened_is_told(tmp_path):
    with pytest.raises(BadFile) as caught:
        FileSource(tmp_path / "missing.gguf")
    assert caught.value.code == "file.unreadable"
    with pytest.raises(BadFile) as caught:
        FileSource(tmp_path)
    assert caught.value.code == "file.unreadable"


def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(BadFile) as caught:
        FileSource(tmp_path / "pipe.gguf")
    assert caught.value.code == "file.not_regular"


def test_a_local_file_is_read_by_range(tmp_path):
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf(LLAMA))
    with FileSource(path) as source:
        assert source.size_bytes == path.stat().st_size
        assert source.read(0, 4) == b"GGUF"
        assert read_header(source, full=True).metadata["general.name"] == "Tiny"
