"""Programs that a test starts."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager


@contextmanager
def running(command, **options):
    """A process that is killed where the test failed to end it: `Popen` alone would wait for it for ever."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()
