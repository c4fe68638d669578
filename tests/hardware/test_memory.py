from pathlib import Path

from weighbridge.hardware.cgroup import cpu_limit, folders, group_paths, memory_limit
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.hardware.memory import detect_memory, parse_meminfo, within_limits

GIB = 1 << 30
MEMINFO = "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    8388608 kB\nHugePages_Total: 0\n"
HOST = Memory(MemoryKind.SHARED, 16 * GIB, 8 * GIB)
V2 = {
    "memory.max": str(4 * GIB),
    "memory.current": str(3 * GIB),
    "memory.stat": f"anon {GIB}\nfile {2 * GIB}\ninactive_file {GIB}\nactive_file {GIB // 2}\nslab_reclaimable 0",
}
V1 = {
    "memory.limit_in_bytes": str(4 * GIB),
    "memory.usage_in_bytes": str(3 * GIB),
    "memory.stat": f"inactive_file 7\ntotal_inactive_file {GIB}\ntotal_active_file {GIB // 2}",
}


def test_meminfo():
    assert parse_meminfo(MEMINFO) == HOST
    assert parse_meminfo("") == Memory(MemoryKind.SHARED, None, None)
    assert parse_meminfo("MemTotal: many kB\n:::\nMemTotal").total_bytes is None


def test_a_container_s_limit_is_respected_and_cached_files_do_not_count():
    for files in (V2, V1):
        assert within_limits(HOST, [files]) == Memory(MemoryKind.SHARED, 4 * GIB, 2 * GIB + GIB // 2)


def test_no_limit_changes_nothing():
    unlimited = [
        {},
        {"memory.max": "max", "memory.current": "5"},
        {"memory.limit_in_bytes": "9223372036854771712", "memory.usage_in_bytes": "5"},
        {"memory.max": "nonsense", "memory.current": "5"},
        {"memory.max": str(4 * GIB)},
    ]
    assert within_limits(HOST, unlimited) == HOST


def test_what_the_host_lacks_is_not_available_in_a_container():
    poor = Memory(MemoryKind.SHARED, 16 * GIB, GIB)
    assert within_limits(poor, [V2]).available_bytes == GIB


def test_each_group_above_limits_too():
    inner = {**V2, "memory.max": str(2 * GIB), "memory.current": "0", "memory.stat": ""}
    outer = {**V2, "memory.current": str(4 * GIB), "memory.stat": ""}
    assert within_limits(HOST, [inner, outer]) == Memory(MemoryKind.SHARED, 2 * GIB, 0)


def test_a_group_over_its_limit_has_nothing_left():
    assert memory_limit({"memory.max": "10", "memory.current": "20"}).available_bytes == 0


def test_processor_limits():
    assert cpu_limit({"cpu.max": "150000 100000"}) == 1.5
    assert cpu_limit({"cpu.max": "max 100000"}) is None
    assert cpu_limit({"cpu.cfs_quota_us": "200000", "cpu.cfs_period_us": "100000"}) == 2
    assert cpu_limit({"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"}) is None
    assert cpu_limit({"cpu.max": "100000 0"}) is None
    assert cpu_limit({}) is None


def test_the_groups_of_a_process():
    paths = group_paths("12:cpu,cpuacct:/docker/ab\n4:memory:/docker/ab\n0::/init.scope\nnonsense\n")
    assert paths == {"cpu": "/docker/ab", "cpuacct": "/docker/ab", "memory": "/docker/ab", "": "/init.scope"}
    assert list(folders(paths, "memory", Path("/c"))) == [
        Path("/c/init.scope"),
        Path("/c"),
        Path("/c/memory/docker/ab"),
        Path("/c/memory/docker"),
        Path("/c/memory"),
    ]
    assert list(folders({"": "/"}, "cpu", Path("/c"))) == [Path("/c")]
    assert list(folders({}, "cpu", Path("/c"))) == []


def test_this_machine_has_memory():
    memory = detect_memory()
    assert 0 < memory.available_bytes <= memory.total_bytes
