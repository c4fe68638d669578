"""What holds for the source tree as a whole: sizes, layers without Qt, explained codes, and pages that keep up."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from weighbridge.base.explain import WHAT_AND_NEXT
from weighbridge.base.explain_builds import BUILDS
from weighbridge.base.explain_compare import COMPARE
from weighbridge.base.explain_endpoints import ENDPOINTS
from weighbridge.base.explain_engines import ENGINES
from weighbridge.base.explain_failures import FAILURES
from weighbridge.base.explain_files import FILES
from weighbridge.base.explain_hardware import HARDWARE
from weighbridge.base.explain_hub import HUB
from weighbridge.base.explain_library import LIBRARY
from weighbridge.base.explain_requests import REQUESTS
from weighbridge.base.explain_settings import SETTINGS
from weighbridge.base.explain_speed import SPEED

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for root in ("app", "engines", "resources") for path in (ROOT / root).rglob("*.py"))
TEXTS = ("*.py", "*.md", "*.toml", "*.spec", "*.csv", "*.desktop")
LONGEST_FILE, MEDIAN_FILE = 600, 150
LONGEST_FUNCTION, MEDIAN_FUNCTION, USUAL_FUNCTION = 60, 10, 30

RAISERS = {"BadFile", "NotFound", "Refused", "EngineFailed", "Unreachable", "WeighbridgeError", "Cause", "StreamFault"}
EXPLAINED_IN = tuple(path.name for path in SOURCES if path.name.startswith("explain"))
CODE = re.compile(r"[a-z]+\.[a-z0-9_]+(\.[a-z0-9_]+)*")
NOT_CODES = {
    "chat.completion",
    "chat.completion.chunk",
    "build.json",
    "chat.open",
    "hardware.csv",
    "model.path",
    "model.yml",
    "settings.json",
    "settings.toml",
    "speed.csv",
}
"""What looks like a code: two kinds of answer, a command of the window, three files, a setting of an engine."""


@dataclass(frozen=True)
class Source:
    """What the tests look at of one file."""

    path: Path
    lengths: dict[str, int]
    literals: frozenset[str]
    raised: frozenset[str]
    imported: frozenset[str | None]


@cache
def sources():
    """All of them, read once; of their trees nothing is kept."""
    return [source(path) for path in SOURCES]


def source(path):
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return Source(
        path,
        {
            f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
            for node in functions
        },
        frozenset(node.value for node in nodes if is_text(node)),
        raised_codes(nodes),
        frozenset(node.module for node in nodes if isinstance(node, ast.ImportFrom)),
    )


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def raised_codes(nodes):
    """The literals that are a code for certain: first arguments of errors, causes and stream faults."""
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
    named = [node for node in calls if getattr(node.func, "id", getattr(node.func, "attr", "")) in RAISERS]
    return frozenset(node.args[0].value for node in named if is_text(node.args[0]))


def test_files_are_short():
    lines = {path.relative_to(ROOT): path.read_text("utf-8").count("\n") for path in SOURCES}
    assert len(lines) > 100
    assert not {path: count for path, count in lines.items() if count > LONGEST_FILE}
    assert statistics.median(lines.values()) <= MEDIAN_FILE


def test_functions_are_short():
    lengths = {name: length for one in sources() for name, length in one.lengths.items()}
    assert not {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION}
    assert statistics.median(lengths.values()) < MEDIAN_FUNCTION
    usual = [length for length in lengths.values() if length < USUAL_FUNCTION]
    assert len(usual) >= 0.9 * len(lengths)


def test_every_code_is_explained():
    areas = {code.partition(".")[0] for code in WHAT_AND_NEXT}
    used = set()
    for one in sources():
        alike = {text for text in one.literals if CODE.fullmatch(text) and text.partition(".")[0] in areas}
        used |= one.raised | (alike - NOT_CODES)
    assert len(used) > 50
    assert sorted(used - set(WHAT_AND_NEXT)) == []


def test_nothing_is_explained_that_nobody_says():
    said = {text for one in sources() if one.path.name not in EXPLAINED_IN for text in one.literals}
    said |= {
        code
        for path in (ROOT / "engines").rglob("*.toml")
        for code in re.findall(r'"([\w.]+)"', path.read_text("utf-8"))
    }
    assert sorted(set(WHAT_AND_NEXT) - said) == []


def test_explanations_are_in_order():
    areas = (BUILDS, COMPARE, ENDPOINTS, ENGINES, FAILURES, FILES, HARDWARE, HUB, LIBRARY, REQUESTS, SETTINGS, SPEED)
    rest = [code for code in WHAT_AND_NEXT if not any(code in area for area in areas)]
    for codes in (rest, *map(list, areas)):
        assert codes == sorted(codes)


def test_nothing_is_left_for_later():
    promise = re.compile("|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "coming " + "soon")), re.IGNORECASE)
    folders = ("app", "engines", "resources", "packaging", "tests", ".ci")
    files = [path for folder in folders for kind in TEXTS for path in (ROOT / folder).rglob(kind)]
    files += [path for kind in TEXTS for path in ROOT.glob(kind)]
    assert len(files) > len(SOURCES)
    assert not [str(path) for path in files if promise.search(path.read_text("utf-8"))]


def test_the_core_is_imported_without_qt_and_without_heavy_libraries():
    script = """
import importlib, pkgutil, sys, weighbridge, weighbridge_engines
packages = [weighbridge, weighbridge_engines]
names = [m.name for p in packages for m in pkgutil.walk_packages(p.__path__, p.__name__ + ".")]
core = [n for n in names if not n.startswith("weighbridge.ui") and n != "weighbridge.__main__"]
for name in core:
    importlib.import_module(name)
heavy = {"PySide6", "shiboken6", "xllamacpp", "torch", "mlx", "llama_cpp", "huggingface_hub", "numpy"}
print(len(core), *sorted(heavy & set(sys.modules)))
"""
    told = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    count, *heavy = told.stdout.split()
    assert int(count) > 60
    assert not heavy


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal")
def test_qt_setters_leave_none_alone(qapp):
    """PySide6 6.12 loses a reference to None with each call that returns nothing, which ends Python after a while."""
    from PySide6.QtCore import QObject

    one = QObject()
    before = sys.getrefcount(None)
    for number in range(1_000):
        one.setObjectName(str(number))
    assert abs(sys.getrefcount(None) - before) < 100


def test_a_release_leaves_nothing_of_qt_out_that_is_imported():
    spec = (ROOT / "packaging" / "weighbridge.spec").read_text("utf-8")
    (excluded,) = re.findall(r"^EXCLUDED = (\[.*\])$", spec, re.MULTILINE)
    used = {module for one in sources() for module in one.imported}
    assert "PySide6.QtNetwork" in used
    assert used & set(ast.literal_eval(excluded)) == set()


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def name_of(requirement):
    return re.match(r"[A-Za-z0-9._-]+", requirement)[0].lower()


def test_the_readme_explains_every_dependency():
    extras = (extra for name, extra in project()["optional-dependencies"].items() if name != "dev")
    wanted = {name_of(text) for texts in (project()["dependencies"], *extras) for text in texts}
    rows = re.findall(r"^\| `([a-z0-9-]+)[^`]*`", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(wanted - set(rows)) == []


def test_the_readme_has_two_commands_of_one_line_each():
    text = (ROOT / "README.md").read_text("utf-8")
    commands = [line for line in text.splitlines() if "apt-get" in line and ".venv" in line]
    assert [line.split()[-1] for line in commands] == [".venv/bin/weighbridge", ".venv/bin/pytest"]


def test_the_changelog_knows_this_version():
    assert f"## {project()['version']}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
