"""Why a load by an ExLlama library ended, or a start of it: in its own words, PyTorch's or a compiler's. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weighbridge_engines.api import HOST, Cause
from weighbridge_engines.exl_log import problem

_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SHOWN = 300
_READ_OF_A_LINE = 2000
"""Characters: a compiler's command has some hundred options."""


@dataclass(frozen=True)
class _Failure:
    code: str
    words: re.Pattern[str]
    values: Mapping[str, object] = field(default_factory=dict)


def _failure(code: str, *words: str, **values: object) -> _Failure:
    """`words` are alternatives."""
    return _Failure(code, re.compile("|".join(words), re.MULTILINE), values)


_SIZE = r"[\d.]+ (?:[KMG]iB|B)"
_TRANSIENT = rf"\((?P<needed>{_SIZE})\)"

FAILURES: tuple[_Failure, ...] = (
    # The build does not start.
    _failure("exl.cpu_torch", r"installed version of PyTorch is (?P<torch>\S+) and does not support CUDA"),
    _failure("exl.cpu_torch", r"Torch not compiled with CUDA enabled", torch=""),
    _failure("exl.no_driver", r"Found no NVIDIA driver on your system"),
    _failure("exl.old_driver", r"driver on your system is too old \(found version (?P<driver>\d+)\)", needs=""),
    _failure("exl.no_card", r"No (?:CUDA|ROCm) device is visible", r"No CUDA GPUs are available", torch=""),
    _failure("exl.no_package", r"ModuleNotFoundError: No module named '(?P<package>triton)"),
    _failure("engine.not_installed", r"RuntimeError: (?P<package>PyTorch) is required but not installed"),
    _failure("exl.no_ninja", r"Ninja is required to load C\+\+ extensions"),
    _failure("exl.no_toolkit", r"CUDA_HOME environment variable is not set", cuda=""),
    _failure(
        "exl.other_toolkit",
        r"detected CUDA version \((?P<has>[\d.]+)\) mismatches .*PyTorch \((?P<needs>[\d.]+)\)",
    ),
    _failure(
        "exl.no_compiler", r"(?P<compiler>\S*(?:c\+\+|g\+\+|gcc|cl)): (?:command not found|not found|No such file)"
    ),
    _failure("exl.no_compiler", r"No such file or directory: '(?P<compiler>[^'\n]*(?:c\+\+|g\+\+|nvcc|cl))'"),
    _failure("exl.not_compiled", r"fatal error: (?P<reason>\S+: No such file or directory)"),
    _failure("exl.not_compiled", r"^(?P<reason>.*\berror: .+)(?s:.*)Error building extension"),
    _failure("exl.not_compiled", r"Error building extension '(?P<reason>\w+)'"),
    _failure("exl.other_torch", r"ImportError: .*undefined symbol: (?P<symbol>\S+)", r"ImportError: DLL load failed"),
    # The card's memory, or the system's.
    _failure(
        "engine.out_of_memory",
        rf"autosplit: (?P<device>cuda:\d+) has (?P<free>{_SIZE}) of physical headroom.*measured on it {_TRANSIENT}",
    ),
    _failure("engine.out_of_memory", rf"autosplit: (?P<device>cuda:\d+) has no headroom .*{_TRANSIENT}"),
    _failure(
        "engine.out_of_memory",
        rf"Tried to allocate (?P<needed>{_SIZE})\. GPU (?P<card>\d+) has .* of which (?P<free>{_SIZE}) is free",
    ),
    _failure("engine.out_of_memory", rf"Tried to allocate (?P<needed>{_SIZE})"),
    _failure("engine.out_of_memory", r"Insufficient VRAM (?:in split )?for model and cache"),
    _failure("engine.out_of_memory", r"Insufficient space in device allocation"),
    _failure("engine.out_of_memory", r"OutOfMemoryError", r"(?:CUDA|HIP) out of memory"),
    _failure("engine.out_of_memory", r"MemoryError$", r"Cannot allocate memory", device=HOST),
    # The folder.
    _failure("engine.unknown_architecture", r"Unknown architecture (?P<architecture>\S+) in"),
    _failure(
        "exl.no_tensor_split",
        r"Tensor-parallel is not (?:currently implemented|supported) for (?P<architecture>\w+)",
    ),
    _failure("engine.no_adapter_file", r"No such file or directory: (?P<path>.+adapter_(?:config|model)\.\w+)$"),
    _failure("engine.no_model_file", r"No such file or directory: (?P<path>.+config\.json)$"),
    _failure("exl.no_tokenizer", r"No supported tokenizer found", r"does not include a tokenizer\.json"),
    _failure("exl.no_tokenizer", r"No such file or directory.*tokenizer\.json", r"tokenizer\.json.*No such file"),
    _failure(
        "engine.bad_model_file",
        r"extends past end of file",
        r"Truncated safetensors header",
        r"too small to be a safetensors",
        r"Invalid (?:safetensors header|data_offsets|shape for|entry for|__metadata__)",
        r"Size mismatch for",
        r"short read from",
        r"can only convert an array of size 1",
        r"SafetensorError",
        r"JSONDecodeError",
        r"UnicodeDecodeError",
        r"No \.safetensors files found",
    ),
    _failure(
        "engine.other_layout",
        r"(?P<reason>Required tensor \S+ not found|Could not find \S+ in model|Missing any of the following keys: .*"
        r"|Key \S+ expected but not present)",
    ),
    # The card and its driver.
    _failure("engine.card_not_built_for", r"no kernel image is available for execution on the device", card=""),
    _failure("engine.card_failed", r"(?:CUDA|HIP) error: (?P<reason>.+)"),
)
"""In the order in which they are tried over the whole log: what names most of a cause before what names less."""


def diagnose(log: Sequence[str], exit_code: int | None) -> Cause | None:
    """The cause of an end, by the words of the library, of PyTorch or of a compiler. None where they tell none.

    Where memory ran out: "device", "needed_bytes" and "free_bytes", as far as they are told.
    """
    del exit_code
    if told := next(filter(None, map(problem, log)), None):
        return told
    text = "\n".join(line[:_READ_OF_A_LINE] for line in _without_source(log))
    for failure in FAILURES:
        if match := failure.words.search(text):
            found = {name: told.strip()[:_SHOWN] for name, told in match.groupdict().items() if told is not None}
            line = {"line": _line_of(text, match.start())}
            return Cause(failure.code, {**failure.values, **_read(found), **line})
    return None


def _without_source(log: Sequence[str]) -> Iterator[str]:
    """All but the lines of source that Python shows beside where an error came from: words for faults stand in them."""
    shown = False
    for line in log:
        shown = line.startswith('  File "') or (shown and line.startswith("    "))
        if not shown:
            yield line


def _read(found: Mapping[str, str]) -> dict[str, object]:
    """Sizes as bytes, a card's number as the name of a device, CUDA's number of a driver as its version."""
    values: dict[str, object] = {}
    for name, told in found.items():
        if name in ("needed", "free"):
            number, unit = told.split(" ")
            values[f"{name}_bytes"] = int(float(number) * _UNITS[unit])
        elif name == "card":
            values["device"] = f"cuda:{told}"
        elif name == "driver":
            values["has"] = f"{int(told) // 1000}.{int(told) % 1000 // 10}"
        else:
            values[name] = told
    return values


def _line_of(text: str, place: int) -> str:
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    return text[start : end if end >= 0 else len(text)].strip()[:_SHOWN]
