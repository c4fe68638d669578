import pytest
from tests.formats.made_gguf import LLAMA, gguf, tensor

from weighbridge.base.errors import BadFile, Cancelled
from weighbridge.formats.parts import full_info

SPLIT = {"split.count": 3, "split.tensors.count": 4}


def put(folder, number, keys, *names, **split):
    records = [tensor(name, [32, 8], 8, offset=place * 288) for place, name in enumerate(names)]
    path = folder / f"m-Q8_0-{number:05}-of-00003.gguf"
    path.write_bytes(gguf({**keys, **SPLIT, "split.no": number - 1, **split}, records, bytes(288 * len(names))))
    return path


@pytest.fixture
def parts(tmp_path):
    return [
        put(tmp_path, 1, LLAMA, "token_embd.weight"),
        put(tmp_path, 2, {}, "blk.0.attn_q.weight", "blk.1.attn_q.weight"),
        put(tmp_path, 3, {}, "output.weight"),
    ]


def test_a_set_is_read_as_one_model(parts):
    info = full_info(parts)
    assert [each.name for each in info.tensors] == [
        "token_embd.weight",
        "blk.0.attn_q.weight",
        "blk.1.attn_q.weight",
        "output.weight",
    ]
    assert (info.parameters, info.active_parameters, info.bits_per_weight) == (4 * 256, 3 * 256, 8.5)
    assert (info.architecture, info.layers, info.split) == ("llama", 2, None)
    assert (info.quant, info.quant_guessed) == ("Q8_0", False)


def test_a_part_alone_does_not_know_the_parameters_of_the_others(parts):
    info = full_info(parts[:1])
    assert (info.split, info.parameters, info.active_parameters) == ((1, 3), None, None)


@pytest.mark.parametrize("order", [(0, 2, 1), (1, 0, 2), (0, 1), (0, 1, 1)])
def test_files_that_are_not_the_parts_of_one_model_are_refused(parts, order):
    with pytest.raises(BadFile) as caught:
        full_info([parts[place] for place in order])
    assert caught.value.code == "model.parts_differ"


def test_a_part_of_another_model_is_found_by_the_number_of_tensors(parts, tmp_path):
    put(tmp_path, 3, {}, "output.weight", "output_norm.weight")
    with pytest.raises(BadFile) as caught:
        full_info(parts)
    assert caught.value.code == "model.parts_differ"


def test_a_tensor_in_two_parts_is_refused(parts, tmp_path):
    put(tmp_path, 3, {}, "token_embd.weight")
    with pytest.raises(BadFile) as caught:
        full_info(parts)
    assert (caught.value.code, caught.value.values) == ("gguf.duplicate_tensor", {"tensor": "token_embd.weight"})


def test_reading_can_be_ended_before_each_part(parts):
    read = []

    def check():
        if len(read) == 2:
            raise Cancelled
        read.append(1)

    with pytest.raises(Cancelled):
        full_info(parts, check)
