"""Where the window starts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from weighbridge.base.paths import default_paths
from weighbridge.base.settings import language_choice
from weighbridge.base.words import use_language
from weighbridge.ui.display import problem
from weighbridge_engines.api import Engine


def main(argv: Sequence[str], engines: Callable[[], Mapping[str, Engine]]) -> int:
    """Open the window and stay until it is closed. Returns the exit code: 0, or 1 where no window can be opened.

    `engines()` gives the engines by id; it is called once the window stands.
    """
    use_language(language_choice(default_paths().settings))
    found = problem()
    if found is not None:
        sys.stderr.write(found + "\n")
        return 1
    from weighbridge.ui.program import run  # Qt is imported only where it can work

    return run(argv, engines)
