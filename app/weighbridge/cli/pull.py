"""`weighbridge pull`: fetch a model from the Hub."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from weighbridge.base.errors import NotFound, Refused, WeighbridgeError
from weighbridge.base.paths import default_paths, user_path
from weighbridge.base.stop_signals import StopSignals
from weighbridge.base.words import text

if TYPE_CHECKING:
    from weighbridge.base.settings import Settings
    from weighbridge.hub.client import Hub
    from weighbridge.hub.job_store import JobStore
    from weighbridge.hub.jobs import Job
    from weighbridge.hub.queue import Queue
    from weighbridge.hub.reference import Reference
    from weighbridge.hub.remote import Repository
    from weighbridge.hub.snapshot import JobView, Snapshot

INTERRUPTED = 130
_LOOK_S = 0.25


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("pull", help=text("fetch a model from the Hub"))
    parser.add_argument(
        "reference",
        metavar=text("REPOSITORY[:QUANT|:FILE]"),
        help=text("owner/name, owner/name:Q4_K_M, or the address of its page; without QUANT: as llama.cpp picks"),
    )
    parser.add_argument("--revision", metavar=text("BRANCH"), help=text("a branch, tag or commit; default: main"))
    parser.add_argument("--to", metavar=text("FOLDER"), help=text("a models folder; default: Weighbridge's own"))
    parser.add_argument("--with-projector", action="store_true", help=text("also the file for seeing pictures"))
    parser.add_argument("--list", action="store_true", help=text("only show what there is"))
    parser.add_argument("--json", action="store_true", help=text("print lines of JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Fetch a model and wait for it; with --list, show what there is. Ctrl-C pauses and keeps what has come."""
    from weighbridge.base.task import Task
    from weighbridge.cli.at_hub import listed, the_hub

    with the_hub() as (first, kept):
        reference = _reference(arguments, kept)
        hub, repository = listed(first, reference.repo_id, reference.revision or "main", Task())
        with closing(hub):
            if arguments.list:
                return _show(hub, repository, as_json=arguments.json)
            return _pull(hub, kept, _job(arguments, reference, hub, kept, repository), arguments)


def _reference(arguments: argparse.Namespace, kept: Settings) -> Reference:
    """What is meant; addresses may be of the Hub, or of the mirror that is set."""
    from weighbridge.hub.access import endpoint
    from weighbridge.hub.reference import HOSTS, is_revision, parse

    reference = parse(arguments.reference, HOSTS | {urlsplit(endpoint(kept, os.environ)).hostname or ""})
    if arguments.revision is None:
        return reference
    if not is_revision(arguments.revision):
        raise Refused("hub.bad_name", name=arguments.revision[:200])
    return replace(reference, revision=arguments.revision)


def _show(hub: Hub, repository: Repository, as_json: bool) -> int:
    from weighbridge.cli.pull_words import variants_as_json, variants_in_words
    from weighbridge.hub.peek import remote_reader
    from weighbridge.hub.wanted import variants_of

    found = variants_of(repository, remote_reader(hub, repository))
    if as_json:
        told = {"repo_id": repository.id, "revision": repository.revision, "commit": repository.commit}
        print(json.dumps({**told, "variants": variants_as_json(found)}))
    else:
        print(variants_in_words(found))
    return 0


def _job(arguments: argparse.Namespace, reference: Reference, hub: Hub, kept: Settings, repository: Repository) -> Job:
    """What is to be fetched, and where to: --to a folder, else as set."""
    from weighbridge.hub.jobs import job_of
    from weighbridge.hub.layout import Layout, shelf_of
    from weighbridge.hub.peek import remote_reader
    from weighbridge.hub.wanted import wanted
    from weighbridge.library.places import downloads_folder

    try:
        found = wanted(repository, reference, remote_reader(hub, repository), with_projector=arguments.with_projector)
    except NotFound as error:
        if error.code != "model.other_branches":
            raise
        there = [branch for branch in hub.branches(repository.id) if branch != repository.revision]
        raise NotFound("hub.other_branches", repo_id=repository.id, there=there) from error
    layout = Layout.FOLDER if arguments.to else Layout(kept.download_target)
    usual = downloads_folder(default_paths(), kept, os.environ)
    folder = user_path(arguments.to).absolute() if arguments.to else usual
    return job_of(found, shelf_of(repository, layout, folder))


def _pull(hub: Hub, kept: Settings, job: Job, arguments: argparse.Namespace) -> int:
    from weighbridge.cli.pull_words import plan_as_json, plan_in_words

    if arguments.json:
        print(json.dumps(plan_as_json(job)), flush=True)
    else:
        print(plan_in_words(job))
    with StopSignals() as stop, _downloads(hub, kept) as queue:
        job_id = queue.add(job)
        view = _follow(queue, job_id, job, stop, arguments)
        if view is None:
            return _interrupted(queue, job_id, as_json=arguments.json)
    return _told(view, arguments)


@contextmanager
def _downloads(hub: Hub, kept: Settings) -> Iterator[Queue]:
    """The queue, of which this process fetches, while no other does, what is added from now on."""
    from weighbridge.base.database import Database
    from weighbridge.hub.job_store import JobStore
    from weighbridge.hub.queue import Limits, Queue

    paths = default_paths()
    with closing(Database(paths.database)) as database:
        store = JobStore(database)
        newest = _newest(store)
        limits = Limits(kept.downloads_at_once, kept.download_bytes_s)
        with closing(Queue(hub, store, paths.data, lambda: limits, lambda job: job.id > newest)) as queue:
            yield queue


def _newest(store: JobStore) -> int:
    return max(store.ids(), default=0)


def _follow(queue: Queue, job_id: int, job: Job, stop: StopSignals, arguments: argparse.Namespace) -> JobView | None:
    """Show how it goes until it ends, here or in the process that fetches it; None where the user has had enough."""
    from weighbridge.cli.pull_display import display
    from weighbridge.hub.jobs import ENDED, State

    show = display(arguments.json)
    while not stop.wait(_LOOK_S):
        snapshot = queue.snapshot()
        view = snapshot.job(job_id) or _heir(snapshot, job)
        if view is None:
            raise NotFound("hub.no_job")
        job_id = view.id
        show(view, snapshot.owner)
        if view.state in ENDED or (view.state is State.PAUSED and not view.for_room):
            return view
    return None


def _heir(snapshot: Snapshot, gone: Job) -> JobView | None:
    """The job that has taken the place of one that is gone: somebody else has asked for the same files."""
    from weighbridge.hub.snapshot import place_of

    wanted = (place_of(gone), [each.file.path for each in gone.files])
    return next((each for each in snapshot.jobs if (each.place, [file.path for file in each.files]) == wanted), None)


def _interrupted(queue: Queue, job_id: int, as_json: bool) -> int:
    """Pause it, where it is ours to pause."""
    try:
        queue.pause(job_id)
        told = text("Paused; what has come is kept. The same command goes on.")
    except WeighbridgeError:
        told = text("It goes on in the other Weighbridge.")
    if not as_json:
        print(told, file=sys.stderr)
    return INTERRUPTED


def _told(view: JobView, arguments: argparse.Namespace) -> int:
    """Say where the model is, or raise why it is not here."""
    from weighbridge.hub.jobs import State

    if view.state is not State.DONE:
        raise view.error or Refused("hub.stopped", name=view.repo_id)
    name = _model_id(view.place)
    if arguments.json:
        done: dict[str, Any] = {"event": "done", "path": str(view.place), "id": name}
        print(json.dumps(done))
        return 0
    print(text("It is here: {path}", path=view.place))
    if name is not None:
        print(text('Ask it something: weighbridge run {model} "..."', model=name))
    else:
        print(text("Add that folder to the model folders in Settings to see it in the library."))
    return 0


def _model_id(place: Path) -> str | None:
    """The name under which the library has it, on its list again; None where it does not look there."""
    from weighbridge.cli.at_home import at_home

    with at_home() as home:
        home.marks.put_back_below(place)
        for model in home.library.models:
            if place in (model.path, *model.parts) or place in model.path.parents:
                return model.id
    return None
