"""Which files engines have open."""

import os
import subprocess
import sys

import pytest

from weighbridge.running.holding import engines_hold

READER = "import sys, time; file = open(sys.argv[1]); print('open', flush=True); time.sleep(60)"


@pytest.mark.skipif(os.name != "posix", reason="a name that is a link is of POSIX")
@pytest.mark.parametrize(("name", "held"), [("llama-server", True), ("reader", False)])
def test_a_server_program_that_has_a_file_open_holds_it(tmp_path, name, held):
    model, other = tmp_path / "m.gguf", tmp_path / "n.gguf"
    for path in (model, other):
        path.write_bytes(b"GGUF")
    program = tmp_path / name
    program.symlink_to(sys.executable)
    with subprocess.Popen([str(program), "-I", "-S", "-c", READER, str(model)], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        try:
            assert engines_hold([model]) is held
            assert not engines_hold([other])
        finally:
            process.kill()
    assert not engines_hold([model])
