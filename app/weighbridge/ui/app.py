"""Where the window starts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from weighbridge.base.errors import Refused
from weighbridge.base.locks import OwnerLock
from weighbridge.base.paths import default_paths
from weighbridge.base.settings import language_choice
from weighbridge.base.words import use_language
from weighbridge.ui.display import problem

if TYPE_CHECKING:
    from weighbridge_engines.api import Engine


def main(argv: Sequence[str], engines: Callable[[], Mapping[str, Engine]]) -> int:
    """Open the window and stay until it is closed.

    Returns the exit code: 0, also where a window was open already and has come to the front; 1 where no window can be
    opened, or another process works with the data folder. `engines()` gives the engines by id; it is called once the
    window stands.
    """
    paths = default_paths()
    use_language(language_choice(paths.settings))
    found = problem()
    if found is not None:
        return _refused(found)
    from weighbridge.ui.single import claim  # Qt is imported only where it can work

    lock = OwnerLock(paths.data)
    try:
        if not claim(lock, paths.data):
            return 0
        from weighbridge.ui.program import run

        return run(argv, engines, paths, lock)
    except Refused as error:
        from weighbridge.base.explain import explain  # with the words of every error

        return _refused(str(explain(error)))
    finally:
        lock.release()


def _refused(why: str) -> int:
    sys.stderr.write(why + "\n")
    return 1
