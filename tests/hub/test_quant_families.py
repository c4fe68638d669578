"""Which quantisations are one model, and what the header of one tells of another."""

from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.formats.architectures import Kind
from weighbridge.formats.gguf import read_header
from weighbridge.formats.model import model_info
from weighbridge.formats.source import BytesSource
from weighbridge.formats.variant import File, Variant
from weighbridge.hub.offers import Offer
from weighbridge.hub.quant_families import Told, believable, derived, families, labelled, learned, to_read

KEYS = {
    **{key: LLAMA[key] for key in LLAMA if not key.startswith("tokenizer.")},
    **{"general.quantization_version": 2, "quantize.imatrix.file": "x", "split.no": 0, "split.count": 3},
}


def variant(path, size=1000, parts=1, **more):
    stem = path.removesuffix(".gguf").rpartition("/")[2]
    folder = path.rpartition("/")[0]
    names = [path]
    if parts > 1:
        names = [f"{folder}/{stem}-{n + 1:05}-of-{parts:05}.gguf".lstrip("/") for n in range(parts)]
    return Variant("gguf", stem, files=tuple(File(name, size) for name in names), **more)


def told(path="T-Q2_K.gguf"):
    header = read_header(BytesSource(gguf({**KEYS, "tokenizer.ggml.model": "gpt2"})))
    return Told(File(path, 1000), model_info(header, "T-Q2_K"))


def grouped(*paths):
    return [[each.files[0].path for each in family] for family in families(variant(path) for path in paths)]


def test_one_model_by_name_and_folder_without_the_quantisation():
    assert grouped("T-Q2_K.gguf", "T-UD-Q4_K_XL.gguf", "BF16/T-BF16.gguf", "t.i1-Q4_K_S.gguf") == [
        ["T-Q2_K.gguf", "T-UD-Q4_K_XL.gguf", "BF16/T-BF16.gguf"],
        ["t.i1-Q4_K_S.gguf"],
    ]
    assert grouped("0.6B/model-Q8_0.gguf", "8B/model-Q8_0.gguf", "8B/model-Q4_0.gguf") == [
        ["0.6B/model-Q8_0.gguf"],
        ["8B/model-Q8_0.gguf", "8B/model-Q4_0.gguf"],
    ]


def test_a_draft_of_the_same_name_is_no_member():
    draft = variant("mtp-T-Q8_0.gguf", kind=Kind.DRAFT)
    assert len(families([variant("T-Q8_0.gguf"), draft, variant("mtp-T-Q4_0.gguf", kind=Kind.DRAFT)])) == 3


def test_whole_files_are_read_before_parts_and_damaged_ones_never():
    bad = variant("T-IQ1_S.gguf", 1, problem=ValueError)
    large, small, split = variant("T-Q8_0.gguf", 900), variant("T-Q2_K.gguf", 300), variant("T-BF16.gguf", 9, 2)
    paths = [file.path for file in to_read((split, large, bad, small))]
    assert paths == ["T-Q2_K.gguf", "T-Q8_0.gguf", "T-BF16-00001-of-00002.gguf"]


def test_what_holds_for_one_file_alone_is_left_out():
    other = derived(variant("T-Q8_0.gguf", 8000, label="Q8_0"), told(), 8000)
    assert (other.layers, other.split, other.quant) == (2, None, "Q8_0")
    assert (other.parameters, other.bits_per_weight) == (8000, 8.0)
    dropped = set(told().info.metadata) - set(other.metadata)
    assert dropped == {
        "general.file_type",
        "general.quantization_version",
        "quantize.imatrix.file",
        "split.no",
        "split.count",
    }
    split = derived(variant("T-BF16.gguf", 500, 2, label="BF16"), told(), None)
    assert (split.split, split.parameters, split.bits_per_weight) == ((1, 2), None, None)
    own = derived(variant("T-Q2_K.gguf"), told(), None)
    assert own.metadata == told().info.metadata


def test_counts_that_cannot_be_are_not_believed():
    assert [believable(count, 1000) for count in (None, 0, 5, 200, 1000, 16_000, 17_000)] == [
        None,
        None,
        None,
        200,
        1000,
        16_000,
        None,
    ]
    assert believable(1000, None) is None


def test_the_whole_header_of_one_counts_the_parameters_of_its_family():
    info = told().info
    offers = [
        Offer(each, info=labelled(info, each))
        for each in (variant("T-Q2_K.gguf", 300), variant("T-Q8_0.gguf", 1000), variant("Other-Q8_0.gguf", 1000))
    ]
    whole = derived(offers[0].variant, Told(File("T-Q2_K.gguf", 300), info), 1000)
    after = [learned(offer, offers[0], whole) for offer in offers]
    assert after[0].info is whole
    assert (after[1].info.parameters, after[1].info.bits_per_weight) == (1000, 8.0)
    assert after[2] is offers[2]
