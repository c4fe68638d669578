"""What stands against an engine: what keeps it from running here at all, and what speaks against it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.choices.advice.advice import Reason
from weighbridge.choices.advice.candidate import Candidate
from weighbridge.choices.advice.knowledge import Knowledge
from weighbridge.choices.advice.machine_kind import Fast, fast_of, system_of
from weighbridge.choices.advice.subject import Subject
from weighbridge.estimates.fit import Verdict
from weighbridge.running.builds import version_key


def kept_from(candidate: Candidate, subject: Subject, known: Knowledge) -> tuple[Reason, ...]:
    """Why it cannot run the subject here, whatever is installed; nothing where it can, as far as is known."""
    machine = candidate.ground.around.machine
    fast = fast_of(machine)
    found = (
        _by_system(candidate, system_of(machine)),
        _by_cards(candidate, fast),
        _by_format(subject, fast, known),
        _by_file(candidate, subject),
        _by_memory(candidate, subject),
        *_by_needs(candidate, subject),
    )
    return tuple(reason for reason in found if reason is not None)


def speaks_against(candidate: Candidate, subject: Subject, known: Knowledge) -> tuple[Reason, ...]:
    """What is to be known of it before it is taken."""
    return tuple(_doubts(candidate, subject, known))


def has_at_least(has: str | None, least: str) -> bool | None:
    """Whether one compute capability is at least another; None where it is unknown and it matters."""
    if not least:
        return True
    return None if has is None else version_key(has) >= version_key(least)


def _by_system(candidate: Candidate, system: str) -> Reason | None:
    if system in candidate.known.systems:
        return None
    wsl = system == "windows" and "linux" in candidate.known.systems
    return Reason("not_on_system", {"engine": candidate.title, "system": system, "wsl": wsl})


def _by_cards(candidate: Candidate, fast: Fast) -> Reason | None:
    if fast.vendor == "cpu" or fast.vendor not in candidate.cards:
        if candidate.known.processor:
            return None
        return Reason("needs_cards", {"engine": candidate.title, "vendors": tuple(sorted(candidate.cards))})
    if fast.vendor == "nvidia" and has_at_least(fast.capability, candidate.cards["nvidia"]) is False:
        return Reason("capability_low", _capability(candidate, fast))
    return None


def _by_format(subject: Subject, fast: Fast, known: Knowledge) -> Reason | None:
    least = known.needs.get(subject.format, "")
    if fast.vendor != "nvidia" or has_at_least(fast.capability, least) is not False:
        return None
    values = {"format": subject.format, "device": fast.name, "capability": fast.capability, "least": least}
    return Reason("format_needs", values)


def _capability(candidate: Candidate, fast: Fast) -> dict[str, object]:
    least = candidate.cards["nvidia"]
    return {"engine": candidate.title, "device": fast.name, "capability": fast.capability, "least": least}


def _by_file(candidate: Candidate, subject: Subject) -> Reason | None:
    if candidate.engine is None or subject.facts is None:
        return None
    cause = candidate.engine.suits(subject.facts)
    return None if cause is None else Reason("unsuited", {"engine": candidate.title, "cause": cause})


def _by_memory(candidate: Candidate, subject: Subject) -> Reason | None:
    fit = subject.fits.get(candidate.id)
    if fit is None or fit.verdict is not Verdict.NO:
        return None
    return Reason("does_not_fit", {"engine": candidate.title, "short_bytes": -(fit.left_bytes or 0)})


def _by_needs(candidate: Candidate, subject: Subject) -> Iterator[Reason]:
    for need in sorted(subject.needs):
        if not candidate.can(need):
            yield Reason("lacks", {"engine": candidate.title, "need": need.value})


def _doubts(candidate: Candidate, subject: Subject, known: Knowledge) -> Iterator[Reason]:
    one, fast = candidate.known, fast_of(candidate.ground.around.machine)
    named = {"engine": candidate.title}
    if subject.users > 1 and not candidate.parallel:
        yield Reason("one_at_a_time", {**named, "users": subject.users})
    if not candidate.on_cards:
        yield Reason("leaves_cards", {**named, "device": fast.name})
    if one.maker and fast.vendor == "cpu" and one.maker not in (fast.name or "").casefold():
        yield Reason("made_for", {**named, "maker": one.maker})
    blind = candidate.blind_to
    if blind is not None:
        yield Reason("build_blind", {**named, "device": blind.name})
    if fast.vendor == "nvidia" and has_at_least(fast.capability, candidate.cards.get("nvidia", "")) is None:
        yield Reason("capability_unknown", _capability(candidate, fast))
    least = known.kernels.get(subject.format, "")
    if fast.vendor == "nvidia" and has_at_least(fast.capability, least) is False:
        values = {"format": subject.format, "device": fast.name, "capability": fast.capability, "least": least}
        yield Reason("no_kernel", values)
    if one.archived:
        yield Reason("archived", named)
    if one.agpl:
        yield Reason("agpl", named)
