"""The memory of server programs over PyTorch: weights in the type they are told, every token, a whole prompt.

`transformers serve` was measured on a processor, with SmolLM2-135M in 16 and in 32 bits, before and after prompts of up
to 4,000 tokens, vLLM there with a cache of one GiB. On cards the figures are estimates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.cache import STATE_BYTES
from weighbridge.estimates.config_widths import Widths
from weighbridge.estimates.estimate import Place, PlaceKind, Share, Term, Terms
from weighbridge.estimates.overhead import overhead_bytes, process_bytes
from weighbridge.estimates.plan import Plan, element_bytes
from weighbridge.estimates.shape import Certainty
from weighbridge.estimates.weights_config import WIDE

TRANSFORMERS = "transformers"
FLOAT_BYTES, HALF_BYTES = 4, 2
COPIES = 2.5
"""How often the widest layer of a whole prompt stands in memory: it has 2.2 to 2.9 times what its own parts need."""

PAIR_BYTES: Mapping[int, float] = {HALF_BYTES: 1.25, FLOAT_BYTES: 10}
"""What it keeps for each pair of tokens of a prompt, by the bytes of a float: masks, and copies of them."""

TOKEN_BYTES = 720
"""What a tokenizer of Hugging Face's library keeps of each token: 641 bytes of 49,152, 752 of 262,144."""


def program_shares(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> tuple[Share, ...]:
    """What lies on the first card, or on as many as `split` has, which carry equal parts; without cards in the system's
    memory. The process and its list of tokens are always there.
    """
    cards = [place for place in places if place.kind is not PlaceKind.HOST][: max(1, len(plan.split or ()))]
    tokens = blueprint.widths.vocabulary if blueprint.widths else 0
    beside = process_bytes(plan.engine) + tokens * TOKEN_BYTES
    if not cards:
        return (Share(places[0].id, {**_terms(blueprint, plan, 1), Term.ENGINE: beside}),)
    part = _terms(blueprint, plan, len(cards))
    shares = tuple(
        Share(card.id, {**part, Term.ENGINE: overhead_bytes(plan.engine, card, part[Term.WEIGHTS] or 0)})
        for card in cards
    )
    if cards[0].kind is not PlaceKind.DEDICATED:
        return shares
    return (Share(places[0].id, {Term.ENGINE: beside}), *shares)


def weights_bytes(blueprint: Blueprint, plan: Plan) -> int:
    """The weights as they are held: what is a float is as wide as the program is told, all else as in the files."""
    floats, amount = blueprint.floats, blueprint.weights.total_bytes
    if plan.floats is None:
        return amount
    return amount + floats.half_bytes if plan.floats == WIDE else amount - floats.whole_bytes // 2


def _terms(blueprint: Blueprint, plan: Plan, parts: int) -> Terms:
    """What lies in one of so many `parts`, but for what the process takes."""
    shape, widths = blueprint.shape, blueprint.widths
    terms: Terms = {Term.WEIGHTS: weights_bytes(blueprint, plan) // parts}
    keys, values = element_bytes(plan.key_type), element_bytes(plan.value_type)
    if shape.certainty is Certainty.UNKNOWN or keys is None or values is None:
        return {**terms, Term.KV: None}
    row = shape.total(lambda layer: int(layer.key_width * keys + layer.value_width * values))
    contexts = plan.slots if plan.engine == TRANSFORMERS else 1
    terms[Term.KV] = (contexts * plan.context * row if plan.reserved_bytes is None else plan.reserved_bytes) // parts
    terms[Term.STATE] = shape.total(lambda layer: layer.conv + layer.state) * STATE_BYTES * plan.slots // parts
    if widths is None:
        return {**terms, Term.COMPUTE: None}
    terms[Term.COMPUTE] = _compute_bytes(blueprint, plan, widths)
    terms[Term.OUTPUT] = widths.vocabulary * FLOAT_BYTES * plan.slots
    return terms


def _compute_bytes(blueprint: Blueprint, plan: Plan, widths: Widths) -> int:
    """What reading a prompt takes, as much of it at a time as the program does."""
    tokens = min(plan.batch, plan.context)
    if plan.engine != TRANSFORMERS:
        return tokens * widths.beside * FLOAT_BYTES
    halves = plan.floats != WIDE if plan.floats else blueprint.floats.half_bytes >= blueprint.floats.whole_bytes
    float_bytes = HALF_BYTES if halves else FLOAT_BYTES
    return int(tokens * (COPIES * widths.beside * float_bytes + tokens * PAIR_BYTES[float_bytes]))
