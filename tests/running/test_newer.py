"""Whether there is a newer version of a build, out of what uv lists."""

import json
from dataclasses import replace

import pytest
from tests.running.made_builds import APART

from weighbridge.running.newer import newer_in, package_of

LISTED = json.dumps(
    [
        {"name": "torch", "version": "2.13.0", "latest_version": "2.15.0", "latest_filetype": "wheel"},
        {"name": "mlx-lm", "version": "0.32.0", "latest_version": "0.32.2", "latest_filetype": "wheel"},
    ]
)


@pytest.mark.parametrize(
    ("requirement", "package"),
    [
        ("xllamacpp>=2026.10", "xllamacpp"),
        ("mlx-lm[cuda13]>=0.32", "mlx-lm"),
        ("Flask_Thing.x>1", "flask-thing-x"),
        ("vllm", "vllm"),
    ],
)
def test_the_package_of_a_build_is_its_first_requirement(requirement, package):
    assert package_of(replace(APART, requirements=(requirement, "torch"))) == package


def test_the_newer_version_is_found_among_what_else_is_said():
    lines = ["Using Python 3.11.7 environment at: /somewhere", LISTED]
    assert newer_in(lines, "mlx-lm") == "0.32.2"
    assert newer_in(lines, "numpy") is None
    assert newer_in(["[]"], "numpy") is None


@pytest.mark.parametrize("lines", [(), ("nothing of it",), ("[not JSON",)])
def test_what_tells_nothing_is_no_answer(lines):
    with pytest.raises(ValueError):
        newer_in(lines, "numpy")
