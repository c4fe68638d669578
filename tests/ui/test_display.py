"""Whether a window can be opened, and what the terminal is told."""

import subprocess
import sys

import pytest

from weighbridge.ui.display import QT, XCB, problem_on_linux


def everything(name):
    return name


def nothing(name):
    raise OSError(name)


def all_but(*missing):
    def load(name):
        if name in missing:
            raise OSError(name)

    return load


@pytest.mark.parametrize(
    "environment",
    [
        {"QT_QPA_PLATFORM": "offscreen"},
        {"QT_QPA_PLATFORM": "wayland"},
        {"WAYLAND_DISPLAY": "wayland-0"},
    ],
)
def test_other_platforms_need_qt_but_no_xcb(environment):
    assert problem_on_linux(environment, all_but(*XCB)) is None
    said = problem_on_linux(environment, nothing) or ""
    assert all(package in said for package in QT.values())
    assert not any(package in said for package in XCB.values())


def test_x11_with_its_libraries_is_fine():
    assert problem_on_linux({"DISPLAY": ":0"}, everything) is None


def test_no_display_is_told_with_what_works_without():
    assert "weighbridge --help" in (problem_on_linux({}, everything) or "")


@pytest.mark.parametrize(
    ("library", "package"),
    [
        ("libxcb-cursor.so.0", "libxcb-cursor0"),
        ("libGL.so.1", "libgl1"),
        ("libdbus-1.so.3", "libdbus-1-3"),
        ("libfontconfig.so.1", "libfontconfig1"),
        ("libglib-2.0.so.0", "libglib2.0-0"),
    ],
)
def test_a_missing_library_is_named_with_its_package(library, package):
    said = problem_on_linux({"DISPLAY": ":0"}, all_but(library)) or ""
    assert library in said
    assert said.endswith(f"sudo apt-get install {package}")


def test_all_that_is_missing_is_named():
    said = problem_on_linux({"DISPLAY": ":0", "QT_QPA_PLATFORM": "xcb"}, nothing) or ""
    assert all(package in said for package in (*QT.values(), *XCB.values()))


def test_a_missing_library_is_told_in_the_terminal_before_qt_is_imported():
    """A loader that finds no libGL stands in for a system without it."""
    program = """
import ctypes, sys
real = ctypes.CDLL
def load(name, *rest, **more):
    if name == "libGL.so.1":
        raise OSError("libGL.so.1: cannot open shared object file")
    return real(name, *rest, **more)
ctypes.CDLL = load
from weighbridge.ui.app import main
code = main([], dict)
assert "PySide6" not in sys.modules
sys.exit(code)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert "libGL.so.1" in done.stderr
    assert "Traceback" not in done.stderr
