"""The licence texts of all that a release bundles, gathered while it is built; a missing one fails the build.

Three sources: the licence files in the metadata of each distribution that Weighbridge requires, the texts in
`licences/` for those that ship none, and the copyright files of the Debian packages that gave system libraries.
"""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

HERE = Path(__file__).parent / "licences"
KEPT_HERE = {
    "pyside6-essentials": ("LGPL-3.0.txt", "GPL-3.0.txt"),
    "shiboken6": ("LGPL-3.0.txt", "GPL-3.0.txt"),
    "nvidia-ml-py": ("nvidia-ml-py.txt",),
}
"""Distributions whose wheels hold no licence text, and where it is kept instead."""

NAMES = ("licen", "copying", "notice")
"""How the names of licence files begin, in small letters."""

File = tuple[str, str]
"""A file, and the folder of the release that it goes to."""


class MissingLicenceError(Exception):
    """Something would be bundled without its licence text."""


def distribution_licences(name: str) -> list[File]:
    """The licence texts of `name` and of everything it requires here, and the notice."""
    files = [(str(HERE / "NOTICE.md"), "licences")]
    for found in _required(name):
        texts = _own_texts(found) or [HERE / kept for kept in KEPT_HERE.get(_plain(found.name), ())]
        files += _under(found.name, texts)
    return files


def library_licences(libraries: Iterable[str]) -> list[File]:
    """The licence texts of Python itself and of the system libraries among the files `libraries`."""
    files = _under("python", [Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"])
    own = tuple(Path(sysconfig.get_path(place)).resolve() for place in ("purelib", "stdlib", "scripts"))
    others = (path for path in (Path(library).resolve() for library in libraries) if not _is_python(path, own))
    for package in sorted({_debian_package(path) for path in others}):
        files += _under(package, [Path("/usr/share/doc") / package / "copyright"])
    return files


def _required(name: str) -> list[Distribution]:
    """`name`'s distribution and, in turn, those that it requires on this system, without extras of its own."""
    found: dict[str, Distribution] = {}
    waiting = [(name, frozenset[str]())]
    seen = set()
    while waiting:
        wanted = waiting.pop()
        if wanted in seen:
            continue
        seen.add(wanted)
        found[_plain(wanted[0])] = here = distribution(wanted[0])
        for text in here.requires or ():
            requirement = Requirement(text)
            extras = ({"extra": extra} for extra in ("", *wanted[1]))
            if requirement.marker is None or any(requirement.marker.evaluate(extra) for extra in extras):
                waiting.append((requirement.name, frozenset(requirement.extras)))
    return [found[key] for key in sorted(found)]


def _own_texts(found: Distribution) -> list[Path]:
    """The licence files in the metadata of `found`, by their place or their name."""
    return [
        Path(str(file.locate()))
        for file in found.files or ()
        if ".dist-info" in file.parts[0] and ("licenses" in file.parts or file.name.lower().startswith(NAMES))
    ]


def _is_python(path: Path, own: tuple[Path, ...]) -> bool:
    """Whether a file comes from a distribution or is Python's own."""
    return path.name == sysconfig.get_config_var("INSTSONAME") or any(path.is_relative_to(place) for place in own)


def _under(name: str, texts: list[Path]) -> list[File]:
    """`texts` in a folder called `name`; those of one name are numbered apart by the folder they came from."""
    if not texts or not all(text.is_file() for text in texts):
        raise MissingLicenceError(name)
    files = []
    for text in texts:
        inner = text.parent.parts[text.parent.parts.index("licenses") + 1 :] if "licenses" in text.parent.parts else ()
        files.append((str(text), str(Path("licences", name, *inner))))
    return files


def _debian_package(path: Path) -> str:
    """The package that `path` belongs to. Debian lists /usr/lib under its old name /lib as well."""
    for known in (str(path), str(path).removeprefix("/usr")):
        answer = subprocess.run(["dpkg", "-S", known], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return answer.stdout.partition(":")[0]
    raise MissingLicenceError(str(path))


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")
