"""Copies of model files that hold only the header."""

import os

import pytest
from tests.formats.made_gguf import LLAMA, gguf, tensor

from weighbridge.base.errors import BadFile
from weighbridge.formats.head import Head
from weighbridge.running import skeleton
from weighbridge.running.skeleton import allocated_bytes, read_head, write_skeletons

MIB = 1 << 20


def written(tmp_path, keys=LLAMA, name="a.weight"):
    path = tmp_path / "whole.gguf"
    path.write_bytes(gguf(keys, [tensor(name, (64, 64))], b"\x07" * 16384))
    return path


def test_a_head_ends_where_the_weights_begin(tmp_path):
    path = written(tmp_path)
    whole = path.read_bytes()
    head = read_head(path)
    assert head == Head(whole[:-16384], len(whole))


def test_a_copy_is_as_long_as_the_whole_and_takes_no_room(tmp_path):
    path = write_skeletons([Head(b"head", 40 << 30)], tmp_path)
    assert path.stat().st_size == 40 << 30
    assert allocated_bytes(path) < MIB
    with path.open("rb") as file:
        assert file.read(8) == b"head\0\0\0\0"


def test_parts_bear_the_names_by_which_an_engine_finds_them(tmp_path):
    path = write_skeletons([Head(b"one", 100), Head(b"two", 200)], tmp_path)
    assert path.name == "model-00001-of-00002.gguf"
    assert {found.name: found.stat().st_size for found in tmp_path.iterdir()} == {
        "model-00001-of-00002.gguf": 100,
        "model-00002-of-00002.gguf": 200,
    }


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ({**LLAMA, "general.architecture": "llama\nI am a table"}, "a.weight"),
        ({**LLAMA, "tokenizer.ggml.pre": "a\nb"}, "a.weight"),
        ({**LLAMA, "llama.a\nb": 5}, "a.weight"),
        (LLAMA, "a\n.weight"),
    ],
)
def test_what_an_engine_might_quote_over_several_lines_is_refused(tmp_path, keys, name):
    with pytest.raises(BadFile) as bad:
        read_head(written(tmp_path, keys, name))
    assert bad.value.code == "gguf.key"


def test_words_of_the_author_may_have_lines(tmp_path):
    keys = {**LLAMA, "general.description": "a\nb", "tokenizer.chat_template": "{{ a }}\n"}
    assert read_head(written(tmp_path, keys)).content


def test_a_disk_without_holes_is_not_filled(tmp_path, monkeypatch):
    monkeypatch.setattr(skeleton, "allocated_bytes", lambda path: path.stat().st_size)
    with pytest.raises(BadFile) as bad:
        write_skeletons([Head(b"head", 40 << 30)], tmp_path)
    assert bad.value.code == "sizing.no_sparse_files"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(BadFile) as bad:
        write_skeletons([Head(b"head", 100)], tmp_path / "not there")
    assert (bad.value.code, bad.value.values["reason"]) == ("sizing.unwritable", os.strerror(2))


class Kernel:
    """Windows' kernel32, as far as files with holes go."""

    def __init__(self, low=4096, high=0):
        self.low, self.high, self.calls = low, high, []

    def DeviceIoControl(self, handle, *values):
        self.calls.append((handle.value, values[0]))

    class _Size:
        restype = None

        def __init__(self, kernel):
            self.kernel = kernel

        def __call__(self, path, high):
            high._obj.value = self.kernel.high
            return self.kernel.low

    @property
    def GetCompressedFileSizeW(self):
        return self._Size(self)


def test_on_windows_holes_are_asked_for():
    kernel = Kernel()
    skeleton.mark_sparse(kernel, 1 << 40)
    assert kernel.calls == [(1 << 40, 0x900C4)]


def test_on_windows_the_size_on_the_disk_has_two_halves():
    assert skeleton.compressed_bytes(Kernel(5, 2), "x") == (2 << 32) + 5
    with pytest.raises(OSError, match="size"):
        skeleton.compressed_bytes(Kernel(0xFFFFFFFF), "x")
