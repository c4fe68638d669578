"""Downloads over loopback. `python -m tests.benchmarks.downloads [MIB [PAIRS]]`.

Pairs, taken in turns, of our transfer and huggingface_hub's `hf_hub_download` of the same file from the same fake Hub,
which runs in a process of its own: how long until the last byte is in the file, for huggingface_hub does not hash; our
hashing is told apart. Then: the memory that a file of 5 GiB takes above idle, hashed and all; how long a pause takes
while bytes come and while none do, with and without TLS; how fast a file is read again and hashed.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
from tests.fake_hub import FakeHub, Made, Slow, Stall

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.hub import transfer as transfer_module
from weighbridge.hub.access import Access
from weighbridge.hub.client import Hub
from weighbridge.hub.environment import prepare
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.pace import Throttle
from weighbridge.hub.part import Origin, Part
from weighbridge.hub.remote import RemoteFile, Repository
from weighbridge.hub.transfer import Transfer
from weighbridge.hub.verify import is_right

REPO, NAME = "o/r", "m.gguf"
LARGE_BYTES = 5 << 30
PAUSES = 9


def main(mib: int, pairs: int) -> None:
    """All of it."""
    with tempfile.TemporaryDirectory(dir=_fast_folder()) as made:
        folder = Path(made)
        with _served(mib << 20) as endpoint:
            _compare(endpoint, folder, mib, pairs)
        with _served(LARGE_BYTES) as endpoint:
            _memory(endpoint, folder)
        for tls in (False, True):
            _pauses(folder, tls)


def _compare(endpoint: str, folder: Path, mib: int, pairs: int) -> None:
    ours: list[float] = []
    theirs: list[float] = []
    hashing: list[float] = []
    for number in range(pairs + 1):
        timed = [(ours, lambda: _ours(endpoint, folder)), (theirs, lambda: _theirs(endpoint, folder))]
        for seconds, work in timed if number % 2 else reversed(timed):
            seconds.append(work())
        hashing.append(_ours(endpoint, folder, hashed=True))
    ratios = [their / our for our, their in zip(ours[1:], theirs[1:], strict=True)]  # the first pair warms up
    for name, seconds in (("ours", ours), ("huggingface_hub", theirs), ("ours, hashed as it comes", hashing)):
        print(f"{name}: {mib / statistics.median(seconds[1:]):.0f} MiB/s (median of {pairs})")
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    print(f"ours / huggingface_hub: {statistics.median(ratios):.2f} ({spread}), to reach 0.9")


def _ours(endpoint: str, folder: Path, hashed: bool = False) -> float:
    """Seconds until the last byte is in the file; with all hashing, until it has its name."""
    ended: list[float] = []

    class Timed(Part):
        def is_right(self, step: Callable[[int], None]) -> bool:
            ended.append(time.perf_counter())
            return super().is_right(step)

    with closing(_hub(endpoint)) as hub:
        repository = hub.repository(REPO)
        (known,) = (file for file in repository.files if file.path == NAME)
        file = known if hashed else RemoteFile(NAME, known.size_bytes)
        target = folder / "ours" / NAME
        began = time.perf_counter()
        transfer_module.Part = Timed
        try:
            _transfer(hub, repository, file, target).run()
        finally:
            transfer_module.Part = Part
        ended += [time.perf_counter()] if hashed else []
        target.unlink()
        return ended[-1] - began


def _theirs(endpoint: str, folder: Path) -> float:
    import httpx2
    from huggingface_hub import hf_hub_download, set_client_factory

    set_client_factory(lambda: httpx2.Client(follow_redirects=True))
    began = time.perf_counter()
    path = hf_hub_download(REPO, NAME, local_dir=folder / "theirs", endpoint=endpoint, force_download=True)
    seconds = time.perf_counter() - began
    Path(path).unlink()
    return seconds


def _memory(endpoint: str, folder: Path) -> None:
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("spawn").Process(target=_fetch_large, args=(endpoint, folder, there))
    child.start()
    idle, peak, seconds = here.recv()
    child.join()
    above = (peak - idle) / (1 << 20)
    print(f"5 GiB, hashed: {seconds:.1f} s, {above:.0f} MiB above idle ({idle / (1 << 20):.0f}), to stay under 100")


def _fetch_large(endpoint: str, folder: Path, told: Connection) -> None:
    process, ended, peaks = psutil.Process(), threading.Event(), [0]
    with closing(_hub(endpoint)) as hub:
        repository = hub.repository(REPO)
        file = next(each for each in repository.files if each.path == NAME)
        idle = process.memory_info().rss
        watch = threading.Thread(target=_watch, args=(process, ended, peaks))
        watch.start()
        began = time.perf_counter()
        target = folder / "large" / NAME
        _transfer(hub, repository, file, target).run()
        seconds = time.perf_counter() - began
        began = time.perf_counter()
        assert is_right(target, file, lambda done: None)
        print(f"read again and hashed: {file.size_bytes / (time.perf_counter() - began) / 1e9:.2f} GB/s")
        ended.set()
        watch.join()
        target.unlink()
    told.send((idle, peaks[0], seconds))


def _watch(process: psutil.Process, ended: threading.Event, peaks: list[int]) -> None:
    while not ended.wait(0.01):
        peaks[0] = max(peaks[0], process.memory_info().rss)


def _pauses(folder: Path, tls: bool) -> None:
    with FakeHub(tls=tls) as fake:
        fake.add(REPO, {NAME: Made(64 << 20)})
        with closing(_hub(fake.endpoint, fake)) as hub:
            repository = hub.repository(REPO)
            for name, fault in (("bytes come", Slow(8 << 20)), ("none come", Stall(4 << 20))):
                seconds = []
                for _ in range(PAUSES):
                    fake.faults.next(fault)
                    seconds.append(_pause(hub, repository, folder / "paused" / NAME))
                middle, most = statistics.median(seconds) * 1e3, max(seconds) * 1e3
                over = ", TLS" if tls else ""
                print(f"pause while {name}{over}: {middle:.1f} ms, at most {most:.1f}, to stay under 200")


def _pause(hub: Hub, repository: Repository, target: Path) -> float:
    """Seconds from the wish to pause until all is let go of."""
    task = Task()
    file = next(each for each in repository.files if each.path == NAME)
    one = _transfer(hub, repository, file, target, task)
    ended: list[float] = []

    def work() -> None:
        try:
            one.run()
        except Cancelled:
            ended.append(time.perf_counter())

    thread = threading.Thread(target=work)
    thread.start()
    while one.have_bytes < 4 << 20:
        time.sleep(0.005)
    time.sleep(0.1)
    began = time.perf_counter()
    task.cancel()
    thread.join()
    target.with_name(f"{NAME}.part").unlink()
    return ended[0] - began


def _transfer(hub: Hub, repository: Repository, file: RemoteFile, target: Path, task: Task | None = None) -> Transfer:
    origin = Origin(repository.id, repository.commit)
    return Transfer(hub, origin, file, target, Throttle(lambda: None), task or Task())


def _hub(endpoint: str, fake: FakeHub | None = None) -> Hub:
    access = Access(lambda: endpoint, lambda: None, lambda: False)
    return Hub(access, NetworkLog(), fake.trust() if fake is not None and fake.authority else None)


@contextmanager
def _served(size_bytes: int) -> Iterator[str]:
    """A fake Hub in another process, with one file."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(size_bytes, there))
    server.start()
    try:
        yield here.recv()
    finally:
        here.send(None)
        server.join()


def _serve(size_bytes: int, told: Connection) -> None:
    with FakeHub() as fake:
        fake.add(REPO, {NAME: Made(size_bytes)})
        told.send(fake.endpoint)
        told.recv()


def _fast_folder() -> str | None:
    """A folder in memory, where there is one, so that no disk is measured."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


if __name__ == "__main__":
    prepare(os.environ)
    os.environ |= {"HF_HUB_DISABLE_XET": "1"}
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(numbers[0] if numbers else 1024, numbers[1] if len(numbers) > 1 else 9)
