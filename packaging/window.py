"""What the executable `weighbridge` of a release runs: the window, or a command."""

import sys

from weighbridge.__main__ import main

sys.exit(main())
