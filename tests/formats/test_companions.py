import pytest

from weighbridge.formats import companions
from weighbridge.formats.architectures import Kind
from weighbridge.formats.companions import base_of, role_of
from weighbridge.formats.gguf import Header
from weighbridge.formats.model import model_info
from weighbridge.formats.recognise import recognise
from weighbridge.formats.variant import File, Reader, Role


@pytest.mark.parametrize(
    ("stem", "told", "role"),
    [
        ("mmproj-F16", None, Role.PROJECTOR),
        ("Qwen2.5-VL-7B-mmproj-f16", None, Role.PROJECTOR),
        ("mmproject-7B-Q4_0", None, None),
        ("vision", Kind.PROJECTION, Role.PROJECTOR),
        ("mmproj-like-name", Kind.CHAT, None),
        ("imatrix_unsloth", None, Role.IMATRIX),
        ("Qwen3-4B.imatrix", None, Role.IMATRIX),
        ("llama-imatrix-Q4_K_M", None, None),
        ("mtp-Qwen3.8-27B-Q8_0", Kind.CHAT, Role.DRAFT),
        ("draft-Qwen3-0.6B", Kind.CHAT, Role.DRAFT),
        ("Qwen3-8B-eagle3-F16", None, Role.DRAFT),
        ("Qwen3-8B-dflash", None, Role.DRAFT),
        ("Qwen3-MTP-Q4_K_M", Kind.CHAT, None),
        ("eagles-7B", None, None),
        ("LoRA-Qwen2.5-1.5B-f16", None, Role.ADAPTER),
        ("Qwen2.5-1.5B-lora-f16", None, Role.ADAPTER),
        ("Qwen2.5-LoRA-merged-Q4_0", None, None),
        ("plain", Kind.ADAPTER, Role.ADAPTER),
        ("plain", Kind.DRAFT, Role.DRAFT),
        ("m-Q4_0", None, None),
    ],
)
def test_what_a_file_is_for(stem, told, role):
    assert role_of(stem, told) is role


@pytest.mark.parametrize(
    ("stem", "base"),
    [
        ("Qwen3-4B-UD-Q2_K_XL", "qwen3-4b"),
        ("mmproj-Qwen3_4B-f16", "qwen3-4b"),
        ("mmproj-model-f16", ""),
        ("Qwen3-4B-Q4_K_M-00001-of-00003", "qwen3-4b"),
    ],
)
def test_names_are_compared_without_quantisation_and_role(stem, base):
    assert base_of(stem) == base


def helped(*paths):
    """Model -> the files found for it."""
    variants = recognise([File(path, 1) for path in paths])
    return {each.files[0].path: [companion.file.path for companion in each.companions] for each in variants}


def test_names_without_end_are_not_compared_without_end(monkeypatch):
    monkeypatch.setattr(companions, "MOST_COMPARED", 3)
    found = helped("a-Q4_0.gguf", "b-Q4_0.gguf", *(f"mmproj-{name}.gguf" for name in ("a", "a2", "b")))
    assert found["a-Q4_0.gguf"] == ["mmproj-a.gguf", "mmproj-a2.gguf"]
    assert found["b-Q4_0.gguf"] == []


def test_a_helper_without_a_name_is_for_the_one_model_of_its_folder():
    assert helped("a/m-Q4_0.gguf", "a/m-Q8_0.gguf", "a/mmproj-F16.gguf") == {
        "a/m-Q4_0.gguf": ["a/mmproj-F16.gguf"],
        "a/m-Q8_0.gguf": ["a/mmproj-F16.gguf"],
    }


def test_among_several_models_a_helper_is_for_the_one_it_names():
    assert helped("one-Q4_0.gguf", "two-Q4_0.gguf", "mmproj-two-F16.gguf", "mmproj-F16.gguf") == {
        "one-Q4_0.gguf": [],
        "two-Q4_0.gguf": ["mmproj-two-F16.gguf"],
    }


def test_helpers_above_and_below_count_and_those_farther_away_do_not():
    found = helped("r/mmproj-F16.gguf", "r/Q4_0/m-Q4_0.gguf", "r/Q4_0/deep/mtp-m-Q8_0.gguf", "other/mmproj-m-F16.gguf")
    assert found == {"r/Q4_0/m-Q4_0.gguf": ["r/mmproj-F16.gguf", "r/Q4_0/deep/mtp-m-Q8_0.gguf"]}


def test_a_folder_of_helpers_beside_the_models_counts_for_the_model_that_they_name():
    found = helped("r/BF16/m-BF16.gguf", "r/MTP/mtp-m-Q8_0.gguf", "r/MTP/mtp-other-Q8_0.gguf")
    assert found == {"r/BF16/m-BF16.gguf": ["r/MTP/mtp-m-Q8_0.gguf"], "r/MTP/mtp-other-Q8_0.gguf": []}


def test_the_nearest_in_bits_comes_first():
    found = helped("m-Q8_0.gguf", "mmproj-BF16.gguf", "mmproj-Q8_0.gguf", "mmproj-F32.gguf")
    assert found == {"m-Q8_0.gguf": ["mmproj-Q8_0.gguf", "mmproj-BF16.gguf", "mmproj-F32.gguf"]}


def test_drafts_and_adapters_that_help_no_model_are_told_by_themselves():
    found = helped("one-Q4_0.gguf", "draft-two-Q8_0.gguf", "three-lora-f16.gguf", "mmproj-four-f16.gguf")
    assert found == {"one-Q4_0.gguf": [], "draft-two-Q8_0.gguf": [], "three-lora-f16.gguf": []}


def told(embeddings):
    """A reader of headers that say no more than how wide a model, or what a projector writes, is."""

    def header(path):
        width = embeddings.get(path)
        if width is None:
            return None
        if "mmproj" in path:
            keys = {"general.architecture": "clip", "general.type": "mmproj", "clip.vision.projection_dim": width}
        else:
            keys = {"general.architecture": "qwen2vl", "general.type": "model", "qwen2vl.embedding_length": width}
        return model_info(Header(3, 0, keys, complete=False, bytes_read=0), path)

    return Reader(header=header)


def test_a_projector_of_other_dimensions_is_for_another_model_whatever_its_name():
    paths = ("m-Q4_0.gguf", "mmproj-m-Q4_0.gguf", "mmproj-m-F16.gguf", "mmproj-m-F32.gguf")
    widths = {"m-Q4_0.gguf": 3584, "mmproj-m-Q4_0.gguf": 2048, "mmproj-m-F32.gguf": 3584}
    (variant,) = recognise([File(path, 1) for path in paths], told(widths))
    assert [each.file.path for each in variant.companions] == ["mmproj-m-F32.gguf", "mmproj-m-F16.gguf"]
