"""Kinds of system memory in the table."""

from weighbridge.hardware.memory_types import load_memory_types


def test_what_goes_into_sockets_the_slowest_first():
    kinds = load_memory_types()
    speeds = [kind.bandwidth.gbs for kind in kinds]
    assert speeds == sorted(speeds)
    known = {kind.name: kind.bandwidth for kind in kinds}
    assert known["DDR5-5600 dual channel (2x64-bit)"].gbs == 2 * 8 * 5.6
    assert "5600" in known["DDR5-5600 dual channel (2x64-bit)"].source
    assert not [name for name in known if name.startswith("LPDDR")]
