"""What the window says of downloads: names, states, amounts, times. No Qt here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.explain import explain
from weighbridge.base.units import GIB, KIB, MIB, THIN, duration, number, size, transfer
from weighbridge.base.words import mark, plural, text
from weighbridge.hub.jobs import ACTIVE, State
from weighbridge.hub.snapshot import FileView, JobView, Snapshot
from weighbridge.ui.folders import short

_LONG = 1_000


@dataclass(frozen=True)
class StateBadge:
    """How a state looks: the colour by its name in the tokens, the words, and the glyph."""

    kind: str
    words: str
    glyph: str


_BADGES: Mapping[State, StateBadge] = {
    State.QUEUED: StateBadge("unknown", mark("Waiting"), "ring"),
    State.RUNNING: StateBadge("accent", mark("Fetching"), "down"),
    State.RETRYING: StateBadge("tight", mark("Trying again"), "clock"),
    State.VERIFYING: StateBadge("partial", mark("Verifying"), "part"),
    State.PAUSED: StateBadge("unknown", mark("Paused"), "pause"),
    State.DONE: StateBadge("fits", mark("Done"), "check"),
    State.FAILED: StateBadge("no", mark("Failed"), "warning"),
    State.CANCELLED: StateBadge("unknown", mark("Cancelled"), "stop"),
}
_NO_ROOM = StateBadge("tight", mark("No room"), "warning")


def badge_of(job: JobView) -> StateBadge:
    """The badge of a job, its words translated."""
    found = _NO_ROOM if job.for_room else _BADGES[job.state]
    return StateBadge(found.kind, text(found.words), found.glyph)


def state_in_words(state: State) -> str:
    """The state of a file."""
    return text(_BADGES[state].words)


def name_of(job: JobView) -> str:
    """ "owner/name · Q4_K_M", with the branch where it is not main."""
    name = job.repo_id if job.revision == "main" else f"{job.repo_id}@{job.revision}"
    return name if job.label in ("", job.repo_id.rpartition("/")[2]) else f"{name} · {job.label}"


def detail_of(job: JobView, home: Path) -> str:
    """What there is to say of a job beside its figures: why it waits, tries again or has failed, or where it lies."""
    if job.state is State.RETRYING:
        return _retrying(job)
    if job.state is State.VERIFYING:
        checked = sum(file.checked_bytes for file in job.files)
        return text("Read again to be sure: {amount}", amount=amount(checked, job.total_bytes))
    if job.state is State.DONE:
        return short(job.place if len(job.files) > 1 else job.place.parent, home)
    if job.state is State.CANCELLED:
        return text("What had come was removed.")
    if job.error is not None:
        return explain(job.error).what
    return _files_done(job)


def amount(done_bytes: int, total_bytes: int) -> str:
    """ "41.2 of 80.0 GiB": both in the unit of the whole."""
    if total_bytes < _LONG:
        return text("{done} of {total}", done=number(done_bytes), total=size(total_bytes))
    unit = next((each for each in (KIB, MIB, GIB) if round(total_bytes / each, 1) < _LONG), GIB)
    return text("{done} of {total}", done=number(done_bytes / unit, 1), total=size(total_bytes))


def amount_of(job: JobView | FileView) -> str:
    """How much of it is here; of what is whole, its size."""
    total = job.total_bytes if isinstance(job, JobView) else job.size_bytes
    if job.state in (State.DONE, State.CANCELLED):
        return size(total)
    return amount(job.done_bytes, total) if total or isinstance(job, FileView) else text("not listed yet")


def fraction_of(job: JobView) -> float | None:
    """How much of it is here, from 0 to 1; None where there is nothing to show: it has ended, or is not listed yet."""
    if job.state in (State.DONE, State.CANCELLED) or not job.total_bytes:
        return None
    return min(1.0, job.done_bytes / job.total_bytes)


def rate(bytes_s: float | None) -> str:
    """ "38.2 MB/s"; nothing where there is no speed."""
    return "" if bytes_s is None else transfer(bytes_s)


def left_of(job: JobView) -> str:
    """How long it will take yet; nothing where that is not known."""
    if job.state not in ACTIVE or not job.seconds_left:
        return ""
    return duration(max(1.0, job.seconds_left))


def total_in_words(snapshot: Snapshot) -> str:
    """ "3 downloads, 41.2 of 80.0 GiB, 38.2 MB/s, 17 min 3 s left"; "" where nothing is on the way."""
    count = len(snapshot.open)
    if not count:
        return ""
    said = [plural("{count} download", "{count} downloads", count), amount(snapshot.done_bytes, snapshot.total_bytes)]
    if snapshot.bytes_s is not None:
        said.append(rate(snapshot.bytes_s))
        if snapshot.seconds_left:
            said.append(text("{time} left", time=duration(snapshot.seconds_left)))
    return ", ".join(said)


def note_of(snapshot: Snapshot) -> str:
    """For the sidebar: how fast, or, where nothing comes, how many; "" where nothing is on the way."""
    count = len(snapshot.open)
    if not count:
        return ""
    return number(count) if snapshot.bytes_s is None else f"{number(snapshot.bytes_s / 1e6)}{THIN}MB/s"


def spoken(job: JobView, home: Path) -> str:
    """All of a row, for who hears it."""
    said = (name_of(job), badge_of(job).words, amount_of(job), rate(job.bytes_s), detail_of(job, home))
    return ", ".join(part for part in said if part)


def _retrying(job: JobView) -> str:
    why = explain(job.error).what if job.error is not None else ""
    if job.retry_in_s is None:
        return why
    wait = duration(max(1.0, job.retry_in_s))
    return text("{why} Try {number} in {time}.", why=why, number=job.attempt + 1, time=wait).strip()


def _files_done(job: JobView) -> str:
    """Of one file its name, of several how many are done."""
    if len(job.files) == 1:
        return job.files[0].path
    done = sum(file.state is State.DONE for file in job.files)
    return text("{done} of {count} files", done=done, count=len(job.files)) if job.files else ""
