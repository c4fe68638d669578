"""Downloads that are killed, cut, stalled and lied to, many times. `python -m tests.soak.downloads [SEED [RUNS]]`.

Each run fetches a small repository from the fake Hub, in child processes that are killed with -9 at random moments,
over connections that break in every way the fake knows; at times the repository changes meanwhile, bytes come wrong,
or the disk is full (a small tmpfs, for root). It must end with the right bytes or with the refusal that is due, and at
no moment may a file under a final name be anything but whole and right. Prints what it did; ends with an assertion
else.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.fake_hub import (
    Corrupt,
    Cut,
    Expired,
    FakeHub,
    IgnoreRange,
    Portal,
    RateLimited,
    Redirect,
    Repo,
    Reset,
    ShortBody,
    Stall,
    Status,
    WrongRange,
)
from tests.soak.downloading import Order, fetch

RUNS = 200
KINDS = (Cut, Reset, Stall, Status, ShortBody, IgnoreRange, WrongRange, Expired, Portal, Redirect)
AT_HUB = (Status(500), Status(503), Portal(), RateLimited(1), Cut(0), Reset(0))
WORLDS = ("plain",) * 5 + ("changed", "rewritten", "corrupt once", "corrupt always", "full disk", "no room")
PATIENCE_S = 120.0
SMALL_DISK = 1 << 20


def main(seed: int, runs: int) -> None:
    """All runs."""
    print(f"seed {seed}", flush=True)
    counts: Counter[str] = Counter()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.soak.downloading", "huggingface_hub"])
    began = time.monotonic()
    for number in range(runs):
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            Run(random.Random(seed * 1_000_003 + number), Path(folder), context, counts).run()
        if (number + 1) % 20 == 0:
            print(f"{number + 1} runs in {time.monotonic() - began:.0f} s: {dict(sorted(counts.items()))}", flush=True)


class Run:
    """One download, from its first byte to its end."""

    def __init__(self, chance: random.Random, folder: Path, context: Any, counts: Counter[str]) -> None:
        self._chance, self._folder, self._context, self._counts = chance, folder, context, counts
        self._world = chance.choice(WORLDS)
        self._kills = chance.choice((0, 0, 1, 1, 2, 4))
        self._right: dict[str, set[str]] = {}
        self._changed = False

    def run(self) -> None:
        """Begin it, kill it, begin it again, until it has ended."""
        models = self._folder / "models"
        models.mkdir()
        self._counts[self._world] += 1
        with FakeHub() as hub, self._disk(models):
            repo = hub.add("o/r", self._files())
            self._note(repo)
            self._go_wrong(hub)
            blind = self._world == "full disk"
            order = Order(hub.endpoint, "o/r", self._folder / "data", models, blind)
            while self._kills:
                self._killed(order, hub, repo)
            state, code = self._ended(order, hub, repo)
            if code == "hub.changed":
                self._counts["told that it changed"] += 1
                state, code = self._ended(order, hub, repo)
            self._require_good_end(models, repo, state, code)

    def _files(self) -> dict[str, bytes]:
        chance = self._chance
        if self._world in ("full disk", "no room"):
            return {"m-Q8_0.gguf": chance.randbytes(2 * SMALL_DISK)}
        if chance.random() < 0.5:
            return {"m-Q8_0.gguf": chance.randbytes(chance.randrange(1, 4 << 20))}
        parts = [f"m-Q8_0-{number:05}-of-00003.gguf" for number in (1, 2, 3)]
        return {part: chance.randbytes(chance.randrange(1, 2 << 20)) for part in parts}

    def _note(self, repo: Repo) -> None:
        """What may lie under each name from now on."""
        for path, entry in repo.branches["main"].entries.items():
            self._right.setdefault(path, set()).add(entry.sha256)

    def _go_wrong(self, hub: FakeHub) -> None:
        hub.faults.random(self._chance.randrange(1 << 30), self._chance.uniform(0, 0.6), KINDS)
        for _ in range(self._chance.randrange(4)):
            hub.faults.next(self._chance.choice(AT_HUB), on="resolve")
        path, entry = next(iter(hub.repos["o/r"].branches["main"].entries.items()))
        wrong = Corrupt(self._chance.randrange(entry.size))
        if self._world == "corrupt once":
            hub.faults.next(wrong, path)
        if self._world == "corrupt always":
            hub.faults.always(wrong, path)

    @contextmanager
    def _disk(self, models: Path) -> Iterator[None]:
        """For root, a disk that is too small."""
        if self._world not in ("full disk", "no room") or os.geteuid() != 0:
            yield
            return
        _mount(models, f"size={SMALL_DISK}")
        try:
            yield
        finally:
            subprocess.run(["umount", str(models)], check=True)

    def _killed(self, order: Order, hub: FakeHub, repo: Repo) -> None:
        """Begin it and kill it, unless it ends before."""
        self._kills -= 1
        process, told = self._begun(order)
        self._meanwhile(repo, self._chance.uniform(0.02, 0.6))
        if not told.poll():
            self._counts["killed"] += 1
        process.kill()
        process.join()
        self._look(order.models)

    def _ended(self, order: Order, hub: FakeHub, repo: Repo) -> tuple[str, str | None]:
        """Begin it and wait for its end."""
        process, told = self._begun(order)
        try:
            self._meanwhile(repo, self._chance.uniform(0.0, 0.5))
            until = time.monotonic() + PATIENCE_S
            while True:
                assert told.poll(max(0.0, until - time.monotonic())), f"{self._world}: no end in {PATIENCE_S} s"
                state, code = told.recv()
                if state != "paused":
                    return state, code
                self._make_room(order.models, code)
        finally:
            process.join(5)
            process.kill()
            process.join()
            self._look(order.models)

    def _begun(self, order: Order) -> tuple[Any, Connection]:
        told, tells = self._context.Pipe(duplex=False)
        process = self._context.Process(target=fetch, args=(order, tells))
        process.start()
        tells.close()
        return process, told

    def _meanwhile(self, repo: Repo, seconds: float) -> None:
        """What others do while it is being fetched."""
        time.sleep(seconds)
        if self._world not in ("changed", "rewritten") or self._changed:
            return
        self._changed = True
        old = repo.branches["main"]
        repo.commit({path: self._chance.randbytes(200_000) for path in old.entries})
        self._note(repo)
        if self._world == "rewritten":
            del repo.commits[old.sha]

    def _make_room(self, models: Path, code: str | None) -> None:
        assert code == "disk.full", code
        assert self._world in ("full disk", "no room")
        self._counts["paused without room"] += 1
        _mount(models, "remount,size=8m")

    def _look(self, models: Path) -> None:
        """Whatever has a final name is whole and right."""
        for path in (path for path in models.rglob("*") if path.is_file() and ".part" not in path.suffixes):
            assert hashlib.sha256(path.read_bytes()).hexdigest() in self._right[path.name], f"{self._world}: {path}"

    def _require_good_end(self, models: Path, repo: Repo, state: str, code: str | None) -> None:
        self._counts[f"{state} {code or ''}".strip()] += 1
        if self._world == "corrupt always":
            assert (state, code) == ("failed", "hub.corrupt"), (state, code)
            return
        assert state == "done", (self._world, state, code)
        here = {path.name for path in models.rglob("*") if path.is_file()}
        assert here == set(repo.branches["main"].entries), here


def _mount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(numbers[0] if numbers else 1, numbers[1] if len(numbers) > 1 else RUNS)
