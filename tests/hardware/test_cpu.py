from weighbridge.hardware.cpu import detect_cpu, parse_cpuinfo, parse_sysctl, usable_cores
from weighbridge.hardware.machine import Cpu


def x86(processor, package, core):
    return (
        f"processor\t: {processor}\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Core(TM) i7-1165G7 @ 2.80GHz\n"
        f"physical id\t: {package}\ncore id\t\t: {core}\nflags\t\t: fpu sse4_2 avx fma avx2 avx512f avx512_vbmi\n\n"
    )


def test_cores_and_threads_of_an_x86_processor():
    cpu = parse_cpuinfo("".join(x86(number, 0, number % 2) for number in range(4)))
    assert cpu.name == "Intel(R) Core(TM) i7-1165G7 @ 2.80GHz"
    assert (cpu.physical_cores, cpu.logical_cores) == (2, 4)
    assert cpu.extensions == ("SSE4.2", "AVX", "FMA", "AVX2", "AVX-512F", "AVX-512VBMI")


def test_two_packages_with_the_same_core_numbers():
    assert parse_cpuinfo(x86(0, 0, 0) + x86(1, 1, 0)).physical_cores == 2


def test_an_arm_processor_tells_no_name_and_no_cores():
    text = "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd fphp asimddp i8mm\nCPU part\t: 0xd0b\n\n"
    cpu = parse_cpuinfo(text + text.replace(": 0\n", ": 1\n"))
    assert (cpu.name, cpu.physical_cores, cpu.logical_cores) == (None, None, 2)
    assert cpu.extensions == ("NEON", "FP16", "DotProd", "I8MM")


def test_nothing_readable_is_unknown():
    assert parse_cpuinfo("") == Cpu(None, None, None, None)
    assert parse_cpuinfo("garbage") == Cpu(None, None, None, None)


def test_an_apple_processor():
    cpu = parse_sysctl(
        "machdep.cpu.brand_string: Apple M4 Pro\nhw.physicalcpu: 14\nhw.logicalcpu: 14\n"
        "hw.optional.AdvSIMD: 1\nhw.optional.arm.FEAT_I8MM: 1\nhw.optional.arm.FEAT_SME: 0\n"
    )
    assert cpu == Cpu("Apple M4 Pro", 14, 14, None, ("NEON", "I8MM"))
    assert parse_sysctl("") == Cpu(None, None, None, None)


def test_a_container_s_limit_is_whole_cores_and_at_least_one():
    assert usable_cores(8, []) == 8
    assert usable_cores(8, [{"cpu.max": "250000 100000"}, {}]) == 2
    assert usable_cores(8, [{"cpu.max": "50000 100000"}]) == 1
    assert usable_cores(2, [{"cpu.max": "400000 100000"}]) == 2
    assert usable_cores(None, [{"cpu.max": "400000 100000"}]) == 4


def test_this_machine_has_a_processor():
    cpu = detect_cpu()
    assert cpu.name
    assert 1 <= cpu.usable_cores <= cpu.logical_cores
