import sys

import pytest

from weighbridge_engines import installed


@pytest.fixture
def second(monkeypatch):
    class Clock:
        now_s = 1e9

        def monotonic(self):
            return self.now_s

    made = Clock()
    monkeypatch.setattr(installed, "time", made)
    return made


def test_what_came_is_seen_after_a_second_and_asked_for_once_within_it(second, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    assert not installed.is_installed("came_just_now")
    (tmp_path / "came_just_now.py").write_text("")
    second.now_s += 0.5
    assert not installed.is_installed("came_just_now")
    second.now_s += 0.5
    sys.path_importer_cache.clear()
    assert installed.is_installed("came_just_now")
    assert "came_just_now" not in sys.modules
