"""A weighed model for the terminal: what it is, its verdict, and a table of every term in every place."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.base.explain import explain_code
from weighbridge.base.units import number, size, tokens
from weighbridge.base.words import plural, text
from weighbridge.choices.cache_words import token_in_words
from weighbridge.choices.choice import NOT_RUN, Choice
from weighbridge.choices.words import (
    basis_in_words,
    elsewhere_in_words,
    lacking_in_words,
    last_off_in_words,
    note_in_words,
    parameters_in_words,
    place_in_words,
    plan_in_words,
    remedy_in_words,
    runner_in_words,
    term_in_words,
    total_in_words,
    verdict_in_words,
    where_in_words,
)
from weighbridge.cli.outlook import Outlook, outlook_in_words
from weighbridge.cli.table import table
from weighbridge.estimates.estimate import Estimate, Place, Term
from weighbridge.estimates.fit import Fit, longest_context
from weighbridge.formats.model import ModelInfo
from weighbridge.library.model import Model
from weighbridge.running.sizing import Table
from weighbridge_engines.api import Cause


def in_words(
    choice: Choice, beside: Table | None, problem: Cause | None, view: Outlook, machine: Sequence[str] = ()
) -> str:
    """All of it, the verdict first after the model's own line; `machine` says for which one, where it is not this."""
    lines = [choice.model.id, facts_in_words(choice.model), "", *machine]
    if choice.model.kind in NOT_RUN:
        lines.append(text("Not a model for chat: no engine here runs a file of this kind by itself."))
    elif choice.fit is None:
        lines.append(verdict_in_words(None))
    else:
        lines += [*_weighed(choice, choice.fit), "", *outlook_in_words(view, choice), ""]
    lines += [text("Run by: {engine}", engine=runner_in_words(choice.runner))]
    lines += [elsewhere_in_words(choice.elsewhere)] if choice.elsewhere else []
    lines += _told(beside, problem)
    return "\n".join(lines)


def facts_in_words(model: Model) -> str:
    """One line: format, quantisation, architecture, parameters, layers, context, licence."""
    info = model.info
    quant = text("{quant} (guessed)", quant=model.quant) if model.quant and model.guessed else model.quant
    facts = [model.format.upper(), quant, size(model.size_bytes), model.kind.value]
    if info is not None:
        facts += [
            info.architecture,
            _parameters(info),
            text("{bits} bits per weight", bits=number(info.bits_per_weight, 2)) if info.bits_per_weight else None,
            plural("{count} layer", "{count} layers", info.layers, count=number(info.layers)) if info.layers else None,
            text("trained for {tokens}", tokens=tokens(info.context_length)) if info.context_length else None,
            text("licence {name}", name=info.license) if info.license else None,
        ]
    return " · ".join(fact for fact in facts if fact)


def _parameters(info: ModelInfo) -> str | None:
    count = parameters_in_words(info)
    return None if count is None else text("{count} parameters", count=count)


def _weighed(choice: Choice, fit: Fit) -> list[str]:
    lacking, where = lacking_in_words(choice.runner), where_in_words(fit)
    lines = [lacking or f"{verdict_in_words(fit)} {where}".rstrip()]
    if fit.remedy is not None and not lacking:
        lines.append(remedy_in_words(fit.remedy, fit.plan))
    lines += [plan_in_words(fit.plan), "", _terms(fit.estimate, choice.places), ""]
    lines.append(
        text("{basis}. {total} in all.", basis=basis_in_words(fit.estimate.basis), total=total_in_words(fit.estimate))
    )
    lines += [last_off_in_words(choice.last_off)] if choice.last_off is not None else []
    lines += [note_in_words(note) for note in fit.estimate.notes]
    if choice.blueprint is not None and fit.estimate.term(Term.KV) is not None:
        lines.append(token_in_words(choice.blueprint.shape, fit.plan))
        longest = longest_context(choice.blueprint, fit.plan, choice.places)
        lines += [text("The longest context that fits: {tokens}.", tokens=tokens(longest))] if longest else []
    return lines


def _terms(estimate: Estimate, places: Sequence[Place]) -> str:
    """A row for each term, two columns for each place: bytes, and the same for the eye."""
    used = [place for place in places if any(share.place == place.id for share in estimate.shares)]
    shares = [estimate.share(place.id) for place in used]
    head = [""]
    for name in _apart([place_in_words(place) for place in used]):
        head += [text("{place}, bytes", place=name), ""]
    rows = [
        [term_in_words(term), *_cells([share.terms.get(term, 0) for share in shares])]
        for term in Term
        if any(share.terms.get(term, 0) != 0 for share in shares)
    ]
    rows.append([text("Together"), *_cells([share.total_bytes for share in shares])])
    rows.append([text("Free now"), *_cells([place.free_bytes for place in used])])
    return table(head, rows, right=tuple(range(1, len(head))))


def _apart(names: Sequence[str]) -> list[str]:
    """Names of which some may be the same, as of two cards of one kind: these with a number behind."""
    return [
        f"{name} ({names[: at + 1].count(name)})" if names.count(name) > 1 else name for at, name in enumerate(names)
    ]


def _cells(amounts: Sequence[int | None]) -> list[str]:
    cells: list[str] = []
    for amount in amounts:
        cells += ["?" if amount is None else number(amount), "" if amount is None else size(amount)]
    return cells


def _told(beside: Table | None, problem: Cause | None) -> list[str]:
    if problem is not None:
        return [str(explain_code(problem.code, problem.values))]
    if beside is None:
        return []
    head = [
        text("llama.cpp's own figure, for other devices"),
        text("Weights"),
        text("KV cache"),
        text("Compute buffers"),
    ]
    rows = [
        [row.device, size(row.model_bytes), size(row.context_bytes), size(row.compute_bytes)] for row in beside.rows
    ]
    return ["", table(head, rows, right=(1, 2, 3))]
