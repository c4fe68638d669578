"""Whether a window can be opened, and what the terminal is told."""

import pytest

from weighbridge.ui.display import PACKAGES, problem_on_linux


def everything(name):
    return name


def nothing(name):
    raise OSError(name)


@pytest.mark.parametrize(
    "environment",
    [
        {"QT_QPA_PLATFORM": "offscreen"},
        {"QT_QPA_PLATFORM": "wayland"},
        {"WAYLAND_DISPLAY": "wayland-0"},
    ],
)
def test_other_platforms_need_no_xcb(environment):
    assert problem_on_linux(environment, nothing) is None


def test_x11_with_its_libraries_is_fine():
    assert problem_on_linux({"DISPLAY": ":0"}, everything) is None


def test_no_display_is_told_with_what_works_without():
    assert "weighbridge --help" in (problem_on_linux({}, everything) or "")


def test_a_missing_library_is_named_with_its_package():
    def no_cursor(name):
        if "cursor" in name:
            raise OSError(name)

    said = problem_on_linux({"DISPLAY": ":0"}, no_cursor) or ""
    assert "libxcb-cursor.so.0" in said
    assert said.endswith("sudo apt-get install libxcb-cursor0")


def test_all_that_is_missing_is_named():
    said = problem_on_linux({"DISPLAY": ":0", "QT_QPA_PLATFORM": "xcb"}, nothing) or ""
    assert all(package in said for package in PACKAGES.values())
