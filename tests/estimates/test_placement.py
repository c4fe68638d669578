"""Which layer lies where, and what of its weights."""

import pytest
from tests.benchmarks.offload_truth import zoo

from weighbridge.estimates.placement import Seat, layer_count, reordered_types, seats, shares_of
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.weights import LayerWeights, Weights, weights_of
from weighbridge.formats.gguf import read_header
from weighbridge.formats.model import model_info
from weighbridge.formats.source import BytesSource

MIB = 1 << 20
LAYER = LayerWeights(10, 100)
TIED = Weights((LAYER,) * 4, input_bytes=50, embedding_bytes=40, output_bytes=5, tied=True)
UNTIED = Weights((LAYER,) * 4, input_bytes=50, embedding_bytes=40, output_bytes=45)
PREDICTING = Weights((LAYER,) * 4, input_bytes=50, output_bytes=45, predicting=(LayerWeights(7),))


def spans(taken):
    return [list(seat.layers) for seat in taken]


def test_without_cards_all_lies_in_host_memory():
    (host,) = seats(TIED, Plan(mapped=False), ())
    assert host == Seat(495, range(4), True)


def test_a_tied_embedding_lies_twice_where_the_output_is_on_a_card():
    host, card = seats(TIED, Plan(), (1.0,))
    assert (host.weights_bytes, host.layers, host.has_output) == (50, range(0), False)
    assert (card.weights_bytes, card.copy_bytes, card.has_output) == (485, 40, True)


def test_an_output_of_its_own_lies_once():
    host, card = seats(UNTIED, Plan(), (1.0,))
    assert (host.weights_bytes, card.weights_bytes, card.copy_bytes) == (50, 485, 0)


@pytest.mark.parametrize(
    ("gpu_layers", "on_card", "has_output"),
    [
        (0, [], False),
        (1, [], True),
        (2, [3], True),
        (4, [1, 2, 3], True),
        (5, [0, 1, 2, 3], True),
        (999, [0, 1, 2, 3], True),
    ],
)
def test_the_output_is_the_last_slot(gpu_layers, on_card, has_output):
    host, card = seats(UNTIED, Plan(gpu_layers=gpu_layers), (1.0,))
    assert list(card.layers) == on_card
    assert card.has_output is has_output
    assert host.has_output is not has_output
    assert list(host.layers) + on_card == [0, 1, 2, 3]
    assert host.weights_bytes + card.weights_bytes == UNTIED.total_bytes


def test_fewer_than_no_layers_is_none():
    host, _ = seats(UNTIED, Plan(gpu_layers=-1), (1.0,))
    assert host.weights_bytes == UNTIED.total_bytes


def test_layers_are_split_by_shares():
    weights = Weights((LAYER,) * 32, output_bytes=1)
    assert [len(seat.layers) for seat in seats(weights, Plan(), (1.0, 1.0))] == [0, 17, 15]
    assert [len(seat.layers) for seat in seats(weights, Plan(), (3.0, 1.0))] == [0, 25, 7]
    assert [len(seat.layers) for seat in seats(weights, Plan(), (0.0, 1.0))] == [0, 0, 32]
    assert [len(seat.layers) for seat in seats(weights, Plan(), (1.0, 0.0))] == [0, 32, 0]
    assert [len(seat.layers) for seat in seats(weights, Plan(gpu_layers=6), (1.0, 1.0, 1.0))] == [27, 2, 2, 1]


def test_a_slot_at_the_very_edge_goes_to_the_next_card():
    weights = Weights((LAYER,) * 32)
    assert [len(seat.layers) for seat in seats(weights, Plan(), (1.0, 1.0, 1.0))] == [0, 11, 11, 10]


@pytest.mark.parametrize(
    ("layers", "shares", "counts"),
    [(26, (0.1, 0.1, 0.7), [4, 3, 19]), (26, (0.1, 0.2, 0.6), [3, 6, 17]), (32, (0.1, 0.2, 0.8), [3, 6, 23])],
)
def test_edges_are_reckoned_in_single_precision(layers, shares, counts):
    """As llama.cpp told; in double precision, other slots would lie at the edges."""
    weights = Weights((LAYER,) * layers)
    assert [len(seat.layers) for seat in seats(weights, Plan(), shares)] == [0, *counts]


@pytest.mark.parametrize(
    ("cpu_experts", "host_bytes", "card_bytes"), [(0, 50, 485), (1, 150, 385), (4, 450, 85), (9, 450, 85)]
)
def test_experts_of_the_first_layers_stay(cpu_experts, host_bytes, card_bytes):
    host, card = seats(UNTIED, Plan(cpu_experts=cpu_experts), (1.0,))
    assert (host.weights_bytes, card.weights_bytes) == (host_bytes, card_bytes)
    assert host.expert_bytes == host_bytes - 50


def test_layers_in_host_memory_count_among_the_first():
    host, card = seats(UNTIED, Plan(gpu_layers=3, cpu_experts=3), (1.0,))
    assert (host.expert_bytes, card.weights_bytes) == (100, 165)
    assert spans((host, card)) == [[0, 1], [2, 3]]


def test_experts_that_stay_over_several_cards():
    _, first, second = seats(UNTIED, Plan(cpu_experts=4), (3.0, 2.0))
    assert (first.weights_bytes, second.weights_bytes) == (30, 55)


def test_layers_that_only_predict_have_slots():
    assert layer_count(PREDICTING) == 5
    host, card = seats(PREDICTING, Plan(gpu_layers=3), (1.0,))
    assert spans((host, card)) == [[0, 1, 2], [3]]
    assert card.weights_bytes == 155


def test_layers_that_only_predict_are_loaded_where_asked():
    host, card = seats(PREDICTING, Plan(gpu_layers=3, predict=True), (1.0,))
    assert spans((host, card)) == [[0, 1, 2], [3, 4]]
    assert card.weights_bytes == 162


def test_what_is_mapped_from_the_file():
    assert seats(UNTIED, Plan(), ())[0].mapped_bytes == UNTIED.total_bytes
    assert seats(UNTIED, Plan(mapped=False), ())[0].mapped_bytes == 0
    assert seats(UNTIED, Plan(), (1.0,))[1].mapped_bytes == 0


def test_what_is_read_row_by_row_is_always_mapped():
    weights = Weights((LAYER,), input_bytes=50, lazy_bytes=30)
    assert seats(weights, Plan(mapped=False), ())[0].mapped_bytes == 30


SORTED = Weights(
    (LayerWeights(10, 100, (("Q4_K", 6), ("Q6_K", 3)), (("Q4_K", 90), ("Q6_K", 9))),) * 2,
    input_bytes=50,
    embedding_bytes=40,
    output_bytes=5,
    tied=True,
    embedding_type="Q6_K",
    output_matrices=(("Q4_K", 4),),
)


def test_reordered_matrices_are_copies():
    (host,) = seats(SORTED, Plan(), (), {"Q4_K"})
    assert host.weights_bytes == 275
    assert host.reordered_bytes == 2 * 96 + 4
    assert host.mapped_bytes == 275 - 196


def test_a_tied_output_that_is_reordered_is_a_copy_too():
    (host,) = seats(SORTED, Plan(), (), {"Q6_K"})
    assert (host.copy_bytes, host.weights_bytes) == (40, 315)
    assert host.reordered_bytes == 2 * 12 + 40


def test_experts_that_stay_are_reordered():
    host, _ = seats(SORTED, Plan(cpu_experts=1), (1.0,), {"Q4_K"})
    assert host.reordered_bytes == 90


@pytest.mark.parametrize(
    ("extensions", "some", "others"),
    [
        ({"AVX2"}, {"Q4_0", "Q4_K", "MXFP4"}, {"Q2_K", "Q6_K", "Q8_0"}),
        ({"AVX2", "AVX-512F"}, {"Q4_K", "Q2_K"}, {"Q6_K"}),
        ({"NEON", "DotProd"}, {"Q8_0", "Q6_K", "IQ4_NL"}, {"Q2_K"}),
        ({"NEON", "I8MM"}, {"Q8_0", "Q5_K"}, {"IQ4_NL", "Q2_K"}),
        ({"NEON"}, set(), {"Q4_0", "Q8_0"}),
        ({"AVX"}, set(), {"Q4_0"}),
    ],
)
def test_which_types_are_reordered(extensions, some, others):
    types = reordered_types(extensions)
    assert some <= types
    assert not others & types


def test_a_card_with_host_memory_of_its_own_kind_takes_what_would_be_reordered():
    assert reordered_types({"AVX2"}, ["cuda"]) == frozenset()
    assert reordered_types({"AVX2"}, ["metal"])


@pytest.mark.parametrize(
    ("split", "free", "expected"),
    [
        ((3.0, 1.0), (5, 5), (3.0, 1.0)),
        (None, (6, 2), (6.0, 2.0)),
        (None, (6, None), (1.0, 1.0)),
        (None, (0, 0), (1.0, 1.0)),
        ((1.0,), (5, 5), (1.0, 0.0)),
        ((1.0, 2.0, 3.0), (5, 5), (1.0, 2.0)),
        ((0.0, 0.0), (6, 2), (6.0, 2.0)),
        (None, (), ()),
    ],
)
def test_shares(split, free, expected):
    assert shares_of(Plan(split=split), free) == expected


MADE = zoo()


@pytest.mark.parametrize(
    ("name", "predict", "host_mib", "reordered_mib"),
    [
        ("glm-4.5-air", False, 34302, 39003),
        ("glm-4.5-air", True, 35056, 39878),
        ("glm-4.7-flash", False, 330, 15776),
        ("glm-4.7-flash", True, 334, 16119),
        ("qwen3.5-9b-mtp", False, 561, 4255),
        ("qwen3.5-9b-mtp", True, 561, 4385),
        ("gpt-oss-120b", False, 118063, 227),
        ("gemma-3n-e4b", False, 1568, 2406),
        ("gemma-3-4b", False, 361, 2081),
    ],
)
def test_reordered_weights_are_those_that_llama_cpp_tells(name, predict, host_mib, reordered_mib):
    """In whole MiB, cut off, as a build for AVX2 tells of the same headers."""
    weights = weights_of(model_info(read_header(BytesSource.start_of(MADE[name][0]), full=True), name), 0)
    (host,) = seats(weights, Plan(predict=predict), (), reordered_types({"AVX2"}))
    assert host.reordered_bytes // MIB == reordered_mib
    assert (host.weights_bytes - host.reordered_bytes) // MIB == host_mib
