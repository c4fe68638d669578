"""The one estimator: what a model needs, place by place and term by term, as an engine would load it. Pure.

Window, command line, port and eviction all ask here. Each engine has its own way of keeping things; an architecture
that is not understood gets a range, and what nothing is known of is None.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.cache_mlx import mlx_plan
from weighbridge.estimates.estimate import Estimate, Place, Share, Term, total_bytes
from weighbridge.estimates.llama import llama_shares
from weighbridge.estimates.overhead import vocabulary_bytes
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.runtime_device import RUNTIMES, place_of, settled
from weighbridge.estimates.shape import Certainty
from weighbridge.estimates.shares_exl import exl_shares
from weighbridge.estimates.shares_mlx import mlx_shares
from weighbridge.estimates.shares_programs import program_shares
from weighbridge.estimates.shares_runtime import given_back_bytes, runtime_shares, with_step

UNCOUNTED = 0.25
"""How much larger a cache of an architecture that keeps more than is counted may be."""


def estimate(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> Estimate:
    """The memory of `plan` in `places`, the first of which is the system's. Never raises for what a file says."""
    plan = plan_in(blueprint, plan, places)
    return _ranged(blueprint, plan, _shares(blueprint, plan, places))


def plan_in(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> Plan:
    """`plan` with what is decided by the places that there are, and by how large the model is: on which device a
    runtime computes, and how much of a prompt at a time.
    """
    if plan.engine not in RUNTIMES:
        return plan
    plan = with_step(blueprint, plan)

    def need_bytes(made: Plan) -> int:
        place = place_of(made, places)
        return sum(share.known_bytes for share in runtime_shares(blueprint, made, places) if share.place == place.id)

    return settled(plan, places, need_bytes)


def _shares(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> tuple[Share, ...]:
    """By the way of the engine, or of the format's."""
    if plan.engine in RUNTIMES:
        return runtime_shares(blueprint, plan, places)
    if blueprint.format == "gguf":
        return _with_vocabulary(llama_shares(blueprint, plan, places), blueprint, plan)
    if blueprint.format == "mlx":
        return mlx_shares(blueprint, plan, places)
    if blueprint.format in ("exl2", "exl3"):
        return exl_shares(blueprint, plan, places)
    return program_shares(blueprint, plan, places)


def _with_vocabulary(shares: tuple[Share, ...], blueprint: Blueprint, plan: Plan) -> tuple[Share, ...]:
    """The list of tokens lies in the engine's process, in the system's memory, which is the first of `shares`."""
    host, widths = shares[0], blueprint.activations
    tokens, tokenizer = (widths.vocabulary, widths.tokenizer) if widths else (0, None)
    engine = (host.terms.get(Term.ENGINE) or 0) + vocabulary_bytes(plan.engine, tokens, tokenizer)
    return (Share(host.place, {**host.terms, Term.ENGINE: engine}), *shares[1:])


def _ranged(blueprint: Blueprint, plan: Plan, shares: tuple[Share, ...]) -> Estimate:
    """The sum as a range where the architecture is not understood, or where a part of it is held only as long as nobody
    needs the room, with the reason as a note.
    """
    certainty, total, notes = blueprint.shape.certainty, total_bytes(shares), _notes(blueprint, plan)
    if total is None:
        return Estimate(plan, shares, total, notes=notes)
    least = total - given_back_bytes(blueprint, plan) if plan.engine in RUNTIMES else total
    if certainty is Certainty.KNOWN:
        return Estimate(plan, shares, least, notes=notes)
    if certainty is Certainty.UPPER_BOUND:
        cache = sum(share.terms.get(Term.KV) or 0 for share in shares)
        return Estimate(plan, shares, least - cache, notes=notes)
    return Estimate(plan, tuple(_with_larger_cache(share) for share in shares), least, notes=notes)


def _notes(blueprint: Blueprint, plan: Plan) -> tuple[str, ...]:
    shape, notes = blueprint.shape, []
    if shape.certainty is not Certainty.KNOWN:
        notes.append(f"estimate.{shape.certainty}")
    if plan.engine in RUNTIMES and given_back_bytes(blueprint, plan):
        notes.append("estimate.file_pages")
    if not blueprint.weights.exact and plan.engine not in RUNTIMES:
        notes.append("estimate.weights_by_size")
    if blueprint.format == "mlx" and mlx_plan(shape, plan, blueprint.architecture) is None:
        notes.append("estimate.window_not_quantised")
    return tuple(notes)


def _with_larger_cache(share: Share) -> Share:
    cache = share.terms.get(Term.KV) or 0
    return Share(share.place, {**share.terms, Term.KV: cache + int(cache * UNCOUNTED)})
