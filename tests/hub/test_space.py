import errno
from pathlib import Path

from weighbridge.hub.space import MARGIN_BYTES, Claim, fault_of, shortages, volume_of

GIB = 1 << 30


def test_two_that_fit_one_by_one_but_not_together():
    claims = [Claim(1, 7, 2 * GIB), Claim(2, 7, 2 * GIB)]
    assert shortages(claims, {7: 3 * GIB}) == {2: (4 * GIB + MARGIN_BYTES, 3 * GIB)}


def test_what_does_not_fit_does_not_stand_in_the_way():
    claims = [Claim(1, 7, 9 * GIB), Claim(2, 7, GIB), Claim(3, 7, GIB)]
    assert list(shortages(claims, {7: 3 * GIB})) == [1]


def test_each_volume_for_itself():
    claims = [Claim(1, 7, GIB), Claim(2, 8, GIB)]
    assert list(shortages(claims, {7: GIB + MARGIN_BYTES, 8: GIB + MARGIN_BYTES - 1})) == [2]


def test_the_unknown_and_the_finished_fit():
    assert shortages([Claim(1, 7, GIB)], {7: None}) == {}
    assert shortages([Claim(1, 7, 0)], {7: 0}) == {}


def test_the_volume_of_a_folder_that_is_yet_to_be_made(tmp_path):
    there = volume_of(tmp_path)
    assert there.free_bytes is not None
    assert volume_of(tmp_path / "a" / "b").id == there.id


def test_what_a_refusal_of_the_system_is(tmp_path):
    full = fault_of(OSError(errno.ENOSPC, "full"), tmp_path / "m", 5)
    assert (full.code, full.values["needed_bytes"]) == ("disk.full", 5 + MARGIN_BYTES)
    assert fault_of(OSError(errno.EDQUOT, "quota"), tmp_path / "m", 5).code == "disk.full"
    other = fault_of(PermissionError(errno.EACCES, "no"), Path("m"), 5)
    assert (other.code, other.values) == ("file.unwritable", {"path": "m", "reason": "no"})
