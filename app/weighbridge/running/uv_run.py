"""Running `uv`, which the program brings along: its lines, how far it is, its end. Nothing of ours is on its path."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from weighbridge.base.task import Task
from weighbridge.library.package_index import index_hosts, index_settings
from weighbridge.running.child import Child
from weighbridge.running.command import without_ours

PROJECT_FIRST = "first-index"
"""How uv is told to take what is in a project's own index from there alone, whatever other indexes have."""
TORCH_HOST = str(urlsplit("https://download.pytorch.org/whl").hostname)
"""Where uv finds the builds of PyTorch that are not in other indexes."""
_POLL_S = 0.1
_SHOWN = 300
_SECRET = re.compile(r"(?<=://)[^/\s@]+@")
_RULES = re.compile(r"^[\s×╰─▶├│]+")

OnLine = Callable[[str], None]


@dataclass(frozen=True)
class Source:
    """Where packages come from: `environment` and `arguments` for uv, and the `hosts` that it will ask."""

    environment: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


def from_indexes(inherited: Mapping[str, str], project_index: str | None, torch: str | None = None) -> Source:
    """The user's own indexes, as set for uv or pip; before them, for what it has, the project's own.

    PyTorch and what belongs to it come from its own index where `torch` names the builds of it that are wanted.
    """
    told = index_settings(inherited)
    environment = without_ours(told.environment)
    hosts = index_hosts(told.environment)
    if project_index is not None:
        environment["UV_INDEX"] = " ".join(filter(None, (project_index, environment.get("UV_INDEX"))))
        environment["UV_INDEX_STRATEGY"] = PROJECT_FIRST
        hosts = index_hosts(environment)
    if torch is None:
        return Source(environment, told.arguments, hosts)
    return Source(environment, (*told.arguments, "--torch-backend", torch), (TORCH_HOST, *hosts))


def from_wheels(inherited: Mapping[str, str], folder: Path) -> Source:
    """The wheels in `folder`, and nothing else: the network is not asked."""
    named = {"UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_FIND_LINKS", "UV_CONSTRAINT"}
    named.add("UV_TORCH_BACKEND")
    kept = {name: value for name, value in without_ours(inherited).items() if name not in named}
    return Source({**kept, "UV_OFFLINE": "1"}, ("--no-index", "--find-links", str(folder)))


@dataclass
class _Heard:
    """What uv has said so far. Lines come from the child's reader thread."""

    on_line: OnLine
    lines: list[str] = field(default_factory=list)

    def hear(self, line: str) -> None:
        line = _SECRET.sub("", line)
        self.lines.append(line)
        self.on_line(line)


def run_uv(
    arguments: Sequence[str], environment: Mapping[str, str], cache: Path, task: Task, note: str, on_line: OnLine
) -> str | None:
    """Run it to its end: None, or why it failed, in its own words. `on_line` is called from another thread.

    Its cache lies in `cache`, so that nothing stays behind and what has come can be counted. That is unpacked there,
    so that it says nothing of how much is to come. Raises Cancelled, OSError.
    """
    import uv

    heard = _Heard(on_line)
    options = ["--cache-dir", str(cache), "--no-progress", "--color", "never"]
    child = Child([uv.find_uv_bin(), *arguments, *options], environment, heard.hear, lambda: None)
    try:
        while (code := child.ended()) is None:
            task.step(size_of(cache), None, note)
            time.sleep(_POLL_S)
    finally:
        child.stop()
        while child.ended() is None:
            time.sleep(_POLL_S)
    return None if code == 0 else reason_in(heard.lines, code)


def reason_in(lines: Sequence[str], code: int) -> str:
    """The last words of a uv that failed: from its error on, without the rules that it draws."""
    first = next((place for place, line in enumerate(lines) if line.startswith(("error:", "  ×"))), -4)
    words = " ".join(" ".join(_RULES.sub("", line).split()) for line in list(lines)[first:])
    return words[:_SHOWN] or f"uv: {code}"


def python_for(least: str) -> str:
    """Which Python uv shall make an environment of: the one that runs us, or any, for a frozen build has none."""
    return f">={least}" if getattr(sys, "frozen", False) else sys.executable


def size_of(folder: Path) -> int:
    """Bytes below `folder`, a file of several names counted once; what goes away meanwhile counts nothing."""
    found: dict[tuple[int, int], int] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.lstat(os.path.join(place, name))  # noqa: PTH118 - thousands of files, while uv runs
            except OSError:
                continue
            found[(status.st_dev, status.st_ino)] = status.st_size
    return sum(found.values())
