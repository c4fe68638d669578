"""Choices on the Hub as plain values, for programs. Unknown is null."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.explain import explain
from weighbridge.choices.choice import Choice
from weighbridge.choices.counts import counts
from weighbridge.choices.offer_words import recommended_in_words
from weighbridge.choices.offered import Offered, reference_of
from weighbridge.choices.recommended import Recommended
from weighbridge.choices.words import verdict_in_words
from weighbridge.cli.fit_json import model_as_json
from weighbridge.hub.looking import Sight, Spot


def table_as_json(
    sights: Sequence[Sight],
    left: Sequence[Spot],
    rows: Sequence[Offered],
    choices: Sequence[Choice],
    best: Recommended | None,
) -> dict[str, Any]:
    """All choices, the recommended one by its place among them, and the branches that were not looked into."""
    repository = sights[0].repository
    unread = next((sight.unread for sight in sights if sight.unread is not None), None)
    return {
        "repo_id": repository.id,
        "gated": repository.gated,
        "branches": {sight.repository.revision: sight.repository.commit for sight in sights},
        "branches_left": [spot.revision for spot in left],
        "counts": asdict(counts(choices)),
        "choices": [_choice(row, choice) for row, choice in zip(rows, choices, strict=True)],
        "recommended": None
        if best is None
        else {
            "place": best.place,
            "why": best.why,
            "words": recommended_in_words(best),
            "needs_engine": best.engine,
        },
        "unread": _fault(unread),
    }


def place_as_json(sight: Sight, row: Offered) -> dict[str, Any]:
    """Where one choice lies."""
    repository = sight.repository
    return {
        "repo_id": repository.id,
        "revision": repository.revision,
        "commit": repository.commit,
        "gated": repository.gated,
        "here": str(row.here.path) if row.here else None,
    }


def _choice(row: Offered, choice: Choice) -> dict[str, Any]:
    fit, runner, model = choice.fit, choice.runner, choice.model
    writing = choice.speeds.decode if choice.speeds else None
    return {
        "reference": reference_of(row.spot, row.offer.variant) if row.offer else row.spot.repo_id,
        "revision": row.spot.revision,
        "here": str(row.here.path) if row.here else None,
        **{**model_as_json(model), "bits_per_weight": row.bits_per_weight},
        "verdict": fit.verdict if fit else "unknown",
        "words": verdict_in_words(fit),
        "left_bytes": fit.left_bytes if fit else None,
        "total_bytes": fit.estimate.total_bytes if fit else None,
        "engine": runner.engine_id if runner else None,
        "installed": bool(runner and runner.installed),
        "decode_tps": None
        if writing is None
        else {"low": writing.low_tps, "mid": writing.mid_tps, "high": writing.high_tps},
        "problem": _fault(model.problem),
    }


def _fault(error: WeighbridgeError | None) -> dict[str, Any] | None:
    return None if error is None else {"code": error.code, "message": str(explain(error))}
