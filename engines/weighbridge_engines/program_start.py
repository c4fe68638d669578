"""Starts a Python server that takes its key as an argument alone, without the key on any command line.

Run by path, by the server's own Python, which may be older than ours: `program_start.py MODULE:FUNCTION OPTION
[ARGUMENT ...]`. The key comes by environment and is put behind OPTION in this process's own list of arguments, which
other users of the machine cannot see. Standard library only.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

KEY_VARIABLE = "WEIGHBRIDGE_ENGINE_KEY"
"""As in `api`, which this file cannot import where it runs."""


def main(argv: list[str]) -> object:
    """Call the function as its console script would; what it returns is the exit status."""
    entry, option, *rest = argv
    module, _, function = entry.partition(":")
    key = os.environ.pop(KEY_VARIABLE, "")
    sys.argv = [module, *rest, *([option, key] if key else [])]
    return getattr(import_module(module), function)()


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, whose modules are not for the server
    sys.exit(main(sys.argv[1:]))  # type: ignore[arg-type] # as a console script
