"""Dispatch, and nothing else: the window without arguments, a command with them, and words that only we say.

Nothing of Qt is imported before it is certain that a window is wanted. `worker` serves the frozen build, whose engines
and probes are started through a second executable instead of `python -m`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

INTERRUPTED = 130


def main() -> int:
    """What the command `weighbridge` does. Ctrl-C while it is still being read in ends it without a word."""
    try:
        return _dispatch(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED


def _dispatch(argv: Sequence[str]) -> int:
    if argv[:1] == ["probe"]:
        return worker(argv)
    from weighbridge.hub.environment import prepare

    prepare(os.environ)
    from weighbridge_engines.catalogue import catalogue

    if argv:
        from weighbridge.cli.main import run

        return run(argv, catalogue)
    from weighbridge.ui.app import main as window

    return window(argv, catalogue)


def worker(argv: Sequence[str]) -> int:
    """What the executable `weighbridge-worker` does: the launcher, a probe, or an engine."""
    word, *rest = argv or [""]
    if word == "launch":
        from weighbridge.running.launcher import main as launch

        return launch(rest)
    if word == "probe":
        from weighbridge.hardware.nvidia import main as probe

        return probe()
    from weighbridge_engines.worker import main as serve

    return serve(list(argv))


if __name__ == "__main__":
    sys.exit(main())
