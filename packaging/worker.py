"""What the executable `weighbridge-worker` of a release runs: the launcher, a probe, or an engine. Never Qt."""

import sys

from weighbridge.__main__ import worker

sys.exit(worker(sys.argv[1:]))
