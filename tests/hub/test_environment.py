"""What libraries of the Hub are told before they are imported."""

import subprocess
import sys

from weighbridge.hub.environment import QUIET, SMALL, prepare

ASKED = """
import os, sys
from weighbridge.__main__ import main
sys.argv = ["weighbridge", "--version"]
main()
assert "huggingface_hub" not in sys.modules
from huggingface_hub import constants
print(constants.HF_HUB_DISABLE_TELEMETRY, constants.HF_HUB_DISABLE_PROGRESS_BARS)
"""


def test_what_the_user_has_set_of_xet_stands():
    environment = {"HF_XET_CLIENT_READ_TIMEOUT": "7s", "HF_HUB_DISABLE_TELEMETRY": "0"}
    prepare(environment)
    assert environment == {**SMALL, **QUIET, "HF_XET_CLIENT_READ_TIMEOUT": "7s"}


def test_the_program_tells_them_before_it_imports_them():
    told = subprocess.run([sys.executable, "-P", "-c", ASKED], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "True True"
