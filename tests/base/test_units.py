"""Figures as a person reads them."""

import pytest

from weighbridge.base.units import THIN, duration, size, transfer


@pytest.mark.parametrize(
    ("value_bytes", "shown"),
    [
        (0, "0 B"),
        (49, "49 B"),
        (999, "999 B"),
        (1000, "1.0 KiB"),
        (1023, "1.0 KiB"),
        (1024, "1.0 KiB"),
        (1023 << 10, "1.0 MiB"),
        (int(999.9 * (1 << 20)), "999.9 MiB"),
        (int(999.96 * (1 << 20)), "1.0 GiB"),
        (int(1002.6 * (1 << 20)), "1.0 GiB"),
        (1 << 30, "1.0 GiB"),
        (98_304_000, "93.8 MiB"),
        (12 << 30, "12.0 GiB"),
        (2000 << 30, "2,000.0 GiB"),
    ],
)
def test_a_size_takes_the_unit_that_keeps_it_short(value_bytes, shown):
    assert size(value_bytes) == shown.replace(" ", "\u202f")


def test_an_unknown_size_is_unknown():
    assert size(None) == "unknown"


def test_the_speed_of_a_download():
    assert transfer(12_345_678) == f"12.3{THIN}MB/s"
    assert transfer(None) == "unknown"


def test_a_time_to_wait():
    shown = [duration(value).replace(THIN, " ") for value in (0.4, 45, 60, 200, 7_500, 7_200, 273_600, None)]
    assert shown == ["0 s", "45 s", "1 min", "3 min 20 s", "2 h 5 min", "2 h", "3 d 4 h", "unknown"]
