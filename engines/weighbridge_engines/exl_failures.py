"""Why a load by an ExLlama library ended, or a start of it: in its own words, PyTorch's or a compiler's. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge_engines.api import HOST, Cause
from weighbridge_engines.exl_batch import CARD_FAILED
from weighbridge_engines.exl_log import problem
from weighbridge_engines.failure_words import Failure, cause_in, failure

_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SIZE = r"[\d.]+ (?:[KMG]iB|B)"
_TRANSIENT = rf"\((?P<needed>{_SIZE})\)"

_DAMAGED = (
    r"extends past end of file",
    r"Truncated safetensors header",
    r"too small to be a safetensors",
    r"Invalid (?:safetensors header|data_offsets|shape for|entry for|__metadata__)",
    r"Size mismatch for",
    r"short read from",
    r"SafetensorError",
    r"JSONDecodeError",
    r"UnicodeDecodeError",
    r"No \.safetensors files found",
)

_OF_THE_CARD = (
    failure("engine.card_not_built_for", r"no kernel image is available for execution on the device", card=""),
    failure("engine.card_not_built_for", r"\((?P<card>.+), gfx\w+\) executes \d+-wide wavefronts"),
    failure("engine.card_failed", r"(?:CUDA|HIP) error: (?P<reason>.+)"),
)

FAILURES: tuple[Failure, ...] = (
    # The build does not start.
    failure("exl.cpu_torch", r"installed version of PyTorch is (?P<torch>\S+) and does not support CUDA"),
    failure("exl.cpu_torch", r"Torch not compiled with CUDA enabled", torch=""),
    failure("exl.no_driver", r"Found no NVIDIA driver on your system"),
    failure("exl.old_driver", r"driver on your system is too old \(found version (?P<driver>\d+)\)", needs=""),
    failure("exl.no_card", r"No (?:CUDA|ROCm) device is visible|No CUDA GPUs are available", torch=""),
    failure("exl.no_package", r"ModuleNotFoundError: No module named '(?P<package>triton)"),
    failure("engine.not_installed", r"RuntimeError: (?P<package>PyTorch) is required but not installed"),
    failure("exl.no_ninja", r"Ninja is required to load C\+\+ extensions"),
    failure("exl.no_toolkit", r"CUDA_HOME environment variable is not set", cuda=""),
    failure(
        "exl.other_toolkit",
        r"detected CUDA version \((?P<has>[\d.]+)\) mismatches .*PyTorch \((?P<needs>[\d.]+)\)",
    ),
    failure(
        "exl.no_compiler", r"(?P<compiler>\S*(?:c\+\+|g\+\+|gcc|cl)): (?:command not found|not found|No such file)"
    ),
    failure("exl.no_compiler", r"No such file or directory: '(?P<compiler>[^'\n]*(?:c\+\+|g\+\+|cl))'"),
    failure("exl.no_compiler", r"Failed to find C compiler", compiler="gcc"),
    failure("exl.no_toolkit", r"\bnvcc(?:: (?:command not found|not found|No such file)|'$)", cuda=""),
    failure("engine.out_of_memory", r"died due to signal 9|Killed signal terminated program", device=HOST),
    failure("exl.not_compiled", r"fatal error: (?P<reason>\S+: No such file or directory)"),
    failure("exl.not_compiled", r"^(?P<reason>.*\berror: .+)(?s:.*)Error building extension"),
    failure("exl.not_compiled", r"Error building extension '(?P<reason>\w+)'"),
    failure("exl.other_torch", r"ImportError: (?:.*undefined symbol: (?P<symbol>\S+)|DLL load failed)"),
    # The card's memory, or the system's.
    failure(
        "engine.out_of_memory",
        rf"autosplit: (?P<device>cuda:\d+) has (?P<free>{_SIZE}) of physical headroom.*measured on it {_TRANSIENT}",
    ),
    failure("engine.out_of_memory", rf"autosplit: (?P<device>cuda:\d+) has no headroom .*{_TRANSIENT}"),
    failure(
        "engine.out_of_memory",
        rf"Tried to allocate (?P<needed>{_SIZE})\. GPU (?P<card>\d+) has .* of which (?P<free>{_SIZE}) is free",
    ),
    failure("engine.out_of_memory", rf"Tried to allocate (?P<needed>{_SIZE})"),
    failure("engine.out_of_memory", r"Insufficient VRAM (?:in split )?for model and cache"),
    failure("engine.out_of_memory", r"Insufficient space in device allocation"),
    failure("engine.out_of_memory", r"OutOfMemoryError|(?:CUDA|HIP)(?: error:)? out of memory|_ALLOC_FAILED"),
    failure("engine.out_of_memory", r"MemoryError$|Cannot allocate memory", device=HOST),
    # The folder.
    failure("engine.unknown_architecture", r"Unknown architecture (?P<architecture>\S+) in"),
    failure("exl.no_head", r"(?P<architecture>\w+) does not define a 'mtp' component model"),
    failure(
        "exl.no_tensor_split",
        r"Tensor-parallel is not (?:currently implemented|supported) for (?P<architecture>\w+)",
    ),
    failure("engine.no_adapter_file", r"No such file or directory: (?P<path>.+adapter_(?:config|model)\.\w+)$"),
    failure("engine.no_model_file", r"No such file or directory: (?P<path>.+config\.json)$"),
    failure("exl.no_tokenizer", r"No such file or directory: .*tokenizer\.json$"),
    failure("engine.bad_model_file", "|".join(_DAMAGED)),
    failure(
        "engine.other_layout",
        r"(?P<reason>Required tensor \S+ not found|Could not find \S+ in model|Missing any of the following keys: .*"
        r"|No tensors found for \S+|Key .+ expected .*|Value for .+ is not of expected type.*"
        r"|(?:No|Multiple) architectures? defined|'\w+' (?:missing from|required for) .+|rope_scaling key has both .+"
        r"|KeyError: '(?:architectures|original_max_position_embeddings)')",
    ),
    *_OF_THE_CARD,
)
"""In the order in which they are tried over the whole log: what names most of a cause before what names less."""


def diagnose(log: Sequence[str], exit_code: int | None) -> Cause | None:
    """The cause of an end, by the words of the library, of PyTorch or of a compiler. None where they tell none.

    Where memory ran out: "device", "needed_bytes" and "free_bytes", as far as they are told. Where the card failed, an
    answer for which memory had run out before is not why.
    """
    if told := next(filter(None, map(problem, log)), None):
        return told
    cause = cause_in(log, _OF_THE_CARD if exit_code == CARD_FAILED else FAILURES)
    return None if cause is None else Cause(cause.code, dict(map(_read, cause.values.items())))


def _read(named: tuple[str, object]) -> tuple[str, object]:
    """Sizes as bytes, a card's number as the name of a device, CUDA's number of a driver as its version."""
    name, told = named
    if name in ("needed", "free"):
        number, unit = str(told).split(" ")
        return f"{name}_bytes", int(float(number) * _UNITS[unit])
    if name == "card" and str(told).isdecimal():
        return "device", f"cuda:{told}"
    if name == "driver":
        return "has", f"{int(str(told)) // 1000}.{int(str(told)) % 1000 // 10}"
    return named
