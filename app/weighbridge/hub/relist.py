"""Listing a job's repository anew, after the Hub has changed what it was made from."""

from __future__ import annotations

import time
from dataclasses import replace

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.base.task import Task
from weighbridge.hub.abandon import abandonable
from weighbridge.hub.jobs import Job, JobFile
from weighbridge.hub.pace import wait_s
from weighbridge.hub.remote import Repository, Source
from weighbridge.hub.transfer import Phase, Standing


class Relisting:
    """Finding the files of `job` as they are now. It is watched as a transfer is."""

    have_bytes = 0

    def __init__(self, source: Source, job: Job, task: Task) -> None:
        self.standing = Standing()
        self._source, self._job, self._task = source, job, task

    def run(self) -> Job:
        """The job at the commit at which its revision is now. Raises Cancelled, Refused("hub.no_file") and others."""
        attempt = 1
        while True:
            try:
                return relisted(self._job, abandonable(self._listed, lambda _: None, self._task))
            except Unreachable as error:
                seconds = wait_s(attempt, error)
                self.standing = Standing(Phase.RETRYING, attempt, time.monotonic() + seconds, error)
                self._task.wait(seconds)
                attempt += 1

    def _listed(self) -> Repository:
        return self._source.repository(self._job.repo_id, self._job.revision, self._task)


def relisted(job: Job, repository: Repository) -> Job:
    """`job` with its files as they are in `repository`."""
    known = repository.by_path
    paths = [each.file.path for each in job.files]
    missing = [path for path in paths if path not in known]
    if missing:
        raise Refused("hub.no_file", repo_id=job.repo_id, path=missing[0])
    return replace(job, commit=repository.commit, files=tuple(JobFile(known[path]) for path in paths))
