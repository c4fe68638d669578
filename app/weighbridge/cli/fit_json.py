"""A weighed model as plain values, for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from weighbridge.base.explain import explain_code
from weighbridge.choices.choice import Choice
from weighbridge.choices.corrections import planned_load
from weighbridge.choices.words import elsewhere_in_words, verdict_in_words
from weighbridge.cli.outlook import Outlook
from weighbridge.cli.speed_json import changes_as_json, speeds_as_json
from weighbridge.estimates.cache import token_bytes
from weighbridge.estimates.estimate import Estimate, Place
from weighbridge.estimates.fit import Fit, Remedy, longest_context
from weighbridge.library.model import Model
from weighbridge.running.sizing import Table
from weighbridge_engines.api import Cause


def as_json(choice: Choice, beside: Table | None, problem: Cause | None, view: Outlook) -> dict[str, Any]:
    """All of it. Bytes are whole numbers; unknown is null."""
    runner = choice.runner
    return {
        "model": model_as_json(choice.model),
        "runner": None
        if runner is None
        else {
            "engine": runner.engine_id,
            "title": runner.title,
            "installed": runner.installed,
            "missing": _cause(runner.missing),
        },
        "load": {
            name: value for name, value in planned_load(choice).as_json().items() if name not in ("model", "extra")
        },
        **_fit(choice),
        "elsewhere": None
        if choice.elsewhere is None
        else {
            "device": choice.elsewhere.device.name,
            "verdict": choice.elsewhere.fit.verdict,
            "words": elsewhere_in_words(choice.elsewhere),
            "missing": _cause(choice.elsewhere.missing),
        },
        "last_off": choice.last_off,
        "engine_table": None if beside is None else [asdict(row) for row in beside.rows],
        "engine_problem": _cause(problem),
        **speeds_as_json(view.speeds, view.machine, view.question.prompt),
        "speed_problem": _cause(view.why_unknown),
        "changes": changes_as_json(view.changes or (), choice),
    }


def model_as_json(model: Model) -> dict[str, Any]:
    """What the file says of itself."""
    info = model.info
    return {
        "id": model.id,
        "path": str(model.path),
        "parts": [str(part) for part in model.parts],
        "companions": [
            {"role": each.role, "path": str(each.path), "size_bytes": each.size_bytes} for each in model.companions
        ],
        "format": model.format,
        "kind": model.kind,
        "architecture": info.architecture if info else None,
        "quant": model.quant,
        "guessed": model.guessed or bool(info and info.quant_guessed),
        "size_bytes": model.size_bytes if model.remote is None else None,
        "parameters": info.parameters if info else None,
        "active_parameters": info.active_parameters if info else None,
        "bits_per_weight": info.bits_per_weight if info else None,
        "layers": info.layers if info else None,
        "context_length": trained_for(model),
        "license": info.license if info else None,
        "asks_to_run_code": model.asks_to_run_code,
        "source": model.source,
        "sha256s": list(model.sha256s),
        "aliases": list(model.aliases),
        "unused": list(model.unused),
        "leaves_computer": model.leaves,
        "endpoint": None
        if model.remote is None
        else {
            "id": model.remote.endpoint_id,
            "title": model.remote.endpoint,
            "name": model.remote.name,
            "reach": model.remote.reach,
        },
    }


def trained_for(model: Model) -> int | None:
    """The context length that a model was trained for, or that its server tells; None where nobody says."""
    if model.remote is not None:
        return model.remote.context
    return model.info.context_length if model.info else None


def estimate_as_json(estimate: Estimate) -> dict[str, Any]:
    """Every term of every place."""
    return {
        "basis": estimate.basis,
        "total_bytes": estimate.total_bytes,
        "least_bytes": estimate.least_bytes,
        "known_bytes": estimate.known_bytes,
        "notes": list(estimate.notes),
        "devices": {share.place: dict(share.terms) for share in estimate.shares},
    }


def _fit(choice: Choice) -> dict[str, Any]:
    fit, blueprint = choice.fit, choice.blueprint
    if fit is None or blueprint is None:
        return {"verdict": "unknown", "estimate": None, "devices": [], "plan": None}
    return {
        "verdict": fit.verdict,
        "words": verdict_in_words(fit),
        "left_bytes": fit.left_bytes,
        "tightest": fit.place.id if fit.place else None,
        "gpu_layers": fit.gpu_layers,
        "all_layers": fit.all_layers,
        "plan": asdict(fit.plan),
        "estimate": estimate_as_json(fit.estimate),
        "token_bytes": token_bytes(blueprint.shape, fit.plan),
        "longest_context": longest_context(blueprint, fit.plan, choice.places),
        "remedy": _remedy(fit, fit.remedy),
        "devices": [_place(place) for place in choice.places],
    }


def _remedy(fit: Fit, remedy: Remedy | None) -> Mapping[str, Any] | None:
    if remedy is None:
        return None
    before, after = asdict(fit.plan), asdict(remedy.plan)
    changes = {
        name: after[name] for name in ("slots", "key_type", "value_type", "context") if after[name] != before[name]
    }
    return {"verdict": remedy.verdict, "changes": changes}


def _place(place: Place) -> dict[str, Any]:
    return {**asdict(place), "reordered": sorted(place.reordered)}


def _cause(cause: Cause | None) -> Mapping[str, Any] | None:
    if cause is None:
        return None
    return {"code": cause.code, "message": str(explain_code(cause.code, cause.values)), **cause.values}
