"""What a weighed model says of itself: its badge, who can run it, what would make it fit. For window and terminal."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.units import THIN, number, size, tokens
from weighbridge.base.words import mark, plural, text
from weighbridge.choices.choice import Elsewhere
from weighbridge.choices.runner import Runner
from weighbridge.estimates.estimate import HOST, Basis, Estimate, Place, Term
from weighbridge.estimates.fit import Fit, Remedy, Verdict
from weighbridge.estimates.plan import Plan
from weighbridge.formats.model import ModelInfo

_TERMS: Mapping[Term, str] = {
    Term.WEIGHTS: mark("Weights"),
    Term.KV: mark("KV cache"),
    Term.STATE: mark("State"),
    Term.COMPUTE: mark("Compute buffers"),
    Term.OUTPUT: mark("Output"),
    Term.ENGINE: mark("Engine"),
    Term.PROJECTOR: mark("Projector"),
    Term.DRAFT: mark("Draft model"),
    Term.ADAPTER: mark("Adapter"),
}
_BASES: Mapping[Basis, str] = {
    Basis.CALCULATED: mark("Calculated"),
    Basis.ENGINE: mark("llama.cpp's own figure"),
    Basis.MEASURED: mark("Measured here"),
}
_WHOLE: Mapping[Verdict, str] = {
    Verdict.FITS: mark("Fits · {amount} left"),
    Verdict.TIGHT: mark("Tight · {amount} left"),
}
_ON_PROCESSOR: Mapping[Verdict, str] = {
    Verdict.FITS: mark("Fits on the processor · {amount} left"),
    Verdict.TIGHT: mark("Tight on the processor · {amount} left"),
}


def term_in_words(term: Term) -> str:
    """ "KV cache"."""
    return text(_TERMS[term])


def basis_in_words(basis: Basis) -> str:
    """ "Calculated"."""
    return text(_BASES[basis])


def place_in_words(place: Place) -> str:
    """A card by its name; system memory as "RAM"."""
    return place.name or text("RAM")


def verdict_in_words(fit: Fit | None) -> str:
    """The verdict and the figure that matters: "Fits · 4.9 GiB left". Where there are cards and none of it lies there,
    "Fits on the processor".
    """
    if fit is None or fit.verdict is Verdict.UNKNOWN:
        return text("Unknown")
    if fit.verdict is Verdict.PARTIAL:
        return _partial(fit)
    left = size(abs(fit.left_bytes or 0))
    if fit.verdict is Verdict.NO:
        return text("No · {amount} short", amount=left)
    if fit.gpu_layers == 0:
        return text(_ON_PROCESSOR[fit.verdict], amount=left)
    return text(_WHOLE[fit.verdict], amount=left)


def _partial(fit: Fit) -> str:
    if fit.plan.cpu_experts and fit.gpu_layers == fit.all_layers:
        return plural(
            "Partial · experts of {count} layer in RAM",
            "Partial · experts of {count} layers in RAM",
            fit.plan.cpu_experts,
            count=number(fit.plan.cpu_experts),
        )
    return text("Partial · {count} of {all} layers", count=number(fit.gpu_layers or 0), all=number(fit.all_layers or 0))


def lacking_in_words(runner: Runner | None) -> str:
    """ "Needs another card", where no room in memory helps; "" where none is lacking."""
    return text("Needs another card") if runner is not None and runner.lacks_card else ""


def runner_in_words(runner: Runner | None) -> str:
    """ "llama.cpp", "llama.cpp (install)", "vLLM (not part of this program)", or that no engine is known to run it, or
    that this one does not.
    """
    if runner is None:
        return text("no known engine")
    if runner.installed:
        return runner.title
    if not runner.suits:
        return text("no engine ({engine} does not run this model)", engine=runner.title)
    if runner.missing is not None and runner.missing.code == "engine.not_ours":
        return text("{engine} (not part of this program)", engine=runner.title)
    if runner.missing is not None and runner.missing.code in _OF_CARDS:
        return text(_OF_CARDS[runner.missing.code], engine=runner.title)
    return text("{engine} (install)", engine=runner.title)


_OF_CARDS: Mapping[str, str] = {
    "program.needs_card": mark("{engine} (needs a card that is not here)"),
    "program.needs_newer_card": mark("{engine} (needs a newer card)"),
}


def elsewhere_in_words(elsewhere: Elsewhere) -> str:
    """ "Fits · 10.2 GiB left on RTX 3090 with the CUDA build of llama.cpp (install)". A build that is here and not in
    use is to be chosen.
    """
    values = elsewhere.missing.values
    if elsewhere.missing.code == "engine.build_not_used":
        sentence = mark("{verdict} on {device} with {build} of {engine} (here, not in use)")
    else:
        sentence = mark("{verdict} on {device} with the {build} build of {engine} (install)")
    return text(
        sentence,
        verdict=verdict_in_words(elsewhere.fit),
        device=elsewhere.device.name,
        build=str(values.get("build", "")),
        engine=str(values.get("engine", "")),
    )


def remedy_in_words(remedy: Remedy, plan: Plan) -> str:
    """What to change: "It fits with a KV cache in q8_0 and a context of 8,192 tokens."."""
    changed: list[str] = []
    if remedy.plan.slots != plan.slots:
        changed.append(plural("{count} slot", "{count} slots", remedy.plan.slots, count=number(remedy.plan.slots)))
    if remedy.plan.key_type != plan.key_type:
        changed.append(text("a KV cache in {type}", type=remedy.plan.key_type))
    if remedy.plan.context != plan.context:
        changed.append(text("a context of {tokens}", tokens=tokens(remedy.plan.context)))
    listed = text(" and ").join(changed)
    if remedy.verdict is Verdict.PARTIAL:
        return text("It fits in part with {changes}.", changes=listed)
    return text("It fits with {changes}.", changes=listed)


def total_in_words(estimate: Estimate) -> str:
    """The whole need: "4.6 GiB", "3.1 GiB to 8.0 GiB" for a range, "4.6 GiB + unknown" where a term is unknown."""
    if estimate.total_bytes is None:
        return text("{known} + unknown", known=size(estimate.known_bytes))
    least = estimate.least_bytes
    if least is not None and least < estimate.total_bytes:
        return text("{least} to {most}", least=size(least), most=size(estimate.total_bytes))
    return size(estimate.total_bytes)


def where_in_words(fit: Fit) -> str:
    """Which place the verdict speaks of: "in RAM", "on RTX 3090"; "" where that is not known."""
    if fit.place is None:
        return ""
    if fit.place.id == HOST and not fit.place.name:
        return text("in RAM")
    return text("on {device}", device=fit.place.name)


_NOTES: Mapping[str, str] = {
    "estimate.approximate": mark("This architecture keeps more than is counted here, so the figure is a range."),
    "estimate.file_pages": mark(
        "The lower figure is without pages of the file, which the system takes back where somebody needs the room."
    ),
    "estimate.upper_bound": mark(
        "This architecture is not known here: at most so much, if every layer keeps all tokens."
    ),
    "estimate.unknown": mark(
        "The header does not say enough to tell what it keeps for its context, or what it says cannot be true."
    ),
    "estimate.weights_by_size": mark("Only the start of the header is read yet, so where its weights lie is by size."),
    "estimate.window_not_quantised": mark(
        "MLX refuses to quantise a cache of which some layers keep only a window. Set the KV cache to f16."
    ),
}


def note_in_words(code: str) -> str:
    """What a figure rests on."""
    return text(_NOTES[code])


def last_off_in_words(off: float) -> str:
    """ "Last time it took 4.0 % more than was estimated."."""
    share = number(abs(off) * 100, 1)
    if off >= 0:
        return text("Last time it took {share} % more than was estimated.", share=share)
    return text("Last time it took {share} % less than was estimated.", share=share)


def parameters_in_words(info: ModelInfo) -> str | None:
    """ "134.5 M", "30.5 B, 3.3 B active"; None where they are not known."""
    if info.parameters is None:
        return None
    return counts_in_words(info.parameters, info.active_parameters if info.experts else None)


def counts_in_words(whole: int, active: int | None) -> str:
    """The same of counts: `active` are those that one token touches; None where all do, or that is not known."""
    if active is not None and active < whole:
        return text("{count}, {active} active", count=count_in_words(whole), active=count_in_words(active))
    return count_in_words(whole)


def count_in_words(count: int) -> str:
    """ "134.5 M", "8.2 B"."""
    return f"{number(count / 1e9, 1)}{THIN}B" if count >= 1e9 else f"{number(count / 1e6, 1)}{THIN}M"


def plan_in_words(plan: Plan) -> str:
    """The settings that the figure is for."""
    cache = plan.key_type if plan.key_type == plan.value_type else f"{plan.key_type}/{plan.value_type}"
    said = [
        text("At {tokens} of context", tokens=tokens(plan.context)),
        text("KV cache in {type}", type=cache),
        plural("{count} slot", "{count} slots", plan.slots, count=number(plan.slots)),
        text("batch of {tokens}", tokens=tokens(plan.batch_tokens)),
    ]
    if plan.slots > 1:
        said.append(
            text("{tokens} for each answer", tokens=tokens(plan.slot_cells)) if not plan.unified else text("shared")
        )
    return ", ".join(said)
