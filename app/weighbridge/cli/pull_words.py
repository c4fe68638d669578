"""What `weighbridge pull` says: in words, and as lines of JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.explain import explain
from weighbridge.base.units import duration, number, size, transfer
from weighbridge.base.words import plural, text
from weighbridge.cli.table import table
from weighbridge.formats.variant import Variant
from weighbridge.hub.jobs import Job, State
from weighbridge.hub.snapshot import FileView, JobView, seconds_left
from weighbridge.hub.wanted import name_of

_NAME_WIDTH = 48


def plan_in_words(job: Job) -> str:
    """What will be fetched, how large it is, and where it goes."""
    model = f"{job.repo_id} {job.label}"
    lines = [
        plural(
            "{model}: {count} file, {size}, to {folder}",
            "{model}: {count} files, {size}, to {folder}",
            len(job.files),
            model=model,
            size=size(job.size_bytes),
            folder=job.root,
        )
    ]
    lines += [f"  {each.file.path}  {size(each.file.size_bytes)}" for each in job.files]
    return "\n".join(lines)


def plan_as_json(job: Job) -> dict[str, Any]:
    """The same as one object."""
    return {
        "event": "plan",
        "repo_id": job.repo_id,
        "revision": job.revision,
        "commit": job.commit,
        "label": job.label,
        "folder": str(job.root),
        "size_bytes": job.size_bytes,
        "files": [{"path": each.file.path, "size_bytes": each.file.size_bytes} for each in job.files],
    }


def variants_in_words(variants: Iterable[Variant]) -> str:
    """A table of what there is, and below it what is wrong with some."""
    found = tuple(variants)
    rows = [[name_of(each), each.format, size(each.size_bytes), str(len(each.files)), each.name] for each in found]
    head = [text("quant"), text("format"), text("size"), text("files"), text("name")]
    problems = [f"{name_of(each)}: {explain(each.problem)}" for each in found if each.problem is not None]
    return "\n".join([table(head, rows, right=(2, 3)), *problems])


def variants_as_json(variants: Iterable[Variant]) -> list[dict[str, Any]]:
    """The same as objects."""
    return [
        {
            "label": each.label,
            "format": each.format,
            "name": each.name,
            "kind": each.kind.value,
            "size_bytes": each.size_bytes,
            "files": [file.path for file in each.files],
            "problem": _error(each.problem),
        }
        for each in variants
    ]


def progress_as_json(job: JobView) -> dict[str, Any]:
    """How a job stands, as one object."""
    return {
        "event": "progress",
        "state": job.state.value,
        "done_bytes": job.done_bytes,
        "total_bytes": job.total_bytes,
        "bytes_s": job.bytes_s,
        "seconds_left": job.seconds_left,
        "attempt": job.attempt,
        "retry_in_s": job.retry_in_s,
        "error": _error(job.error),
        "files": [
            {"path": file.path, "state": file.state.value, "done_bytes": file.done_bytes, "size_bytes": file.size_bytes}
            for file in job.files
        ],
    }


def progress_in_words(job: JobView) -> list[str]:
    """A line for each file, and one for what is in the way."""
    lines = [file_in_words(file) for file in job.files]
    trouble = trouble_in_words(job)
    return [*lines, trouble] if trouble else lines


def file_in_words(file: FileView) -> str:
    """How far a file is: its share, its speed and the time that is left."""
    share = 100 * file.done_bytes / file.size_bytes if file.size_bytes else 100.0
    name = file.path if len(file.path) <= _NAME_WIDTH else f"…{file.path[1 - _NAME_WIDTH :]}"
    cells = [f"{name:<{_NAME_WIDTH}}", f"{number(share):>3} %", f"{size(file.size_bytes):>10}"]
    if file.state is State.VERIFYING:
        cells.append(text("verifying {size}", size=size(file.checked_bytes)))
    elif file.state is State.RUNNING and file.bytes_s is not None:
        left = seconds_left(file.size_bytes - file.done_bytes, file.bytes_s)
        cells += [transfer(file.bytes_s), *([] if left is None else [text("{time} left", time=duration(left))])]
    else:
        cells.append(state_in_words(file.state))
    return "  ".join(cells)


def state_in_words(state: State) -> str:
    """The word for a state."""
    words = {
        State.QUEUED: text("waits"),
        State.RUNNING: text("begins"),
        State.RETRYING: text("tries again"),
        State.VERIFYING: text("verifying"),
        State.PAUSED: text("paused"),
        State.DONE: text("here"),
        State.FAILED: text("failed"),
        State.CANCELLED: text("cancelled"),
    }
    return words[state]


def trouble_in_words(job: JobView) -> str:
    """Why it does not go on, and when it will; empty where it does."""
    if job.error is None:
        return ""
    if job.retry_in_s is not None:
        again = text("Next try in {time}.", time=duration(job.retry_in_s))
        return f"{explain(job.error).what} {again}"
    return f"{explain(job.error).what} " + (text("It goes on by itself once there is room.") if job.for_room else "")


def _error(error: WeighbridgeError | None) -> dict[str, Any] | None:
    return None if error is None else {**error.values, "code": error.code, "message": str(explain(error))}
