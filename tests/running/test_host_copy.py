"""What is put beside an engine in an environment of its own."""

from pathlib import Path

import weighbridge_engines
from weighbridge.running.host_copy import FOLDER, host_of, remove_older_hosts

PACKAGE = Path(weighbridge_engines.__path__[0])


def test_all_modules_and_their_tables_are_there_and_nothing_else(tmp_path):
    copied = {path.name for path in (host_of(tmp_path) / "weighbridge_engines").iterdir()}
    assert copied == {path.name for path in PACKAGE.iterdir() if path.suffix in (".py", ".toml")}
    assert "api.py" in copied


def test_it_is_made_once_and_those_of_other_versions_can_go(tmp_path):
    first = host_of(tmp_path)
    (first / "kept").write_text("")
    (tmp_path / FOLDER / "0.0-older").mkdir()
    assert host_of(tmp_path) == first
    remove_older_hosts(tmp_path)
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == [first.name]
    assert (first / "kept").exists()
