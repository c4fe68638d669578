"""Why a load by mlx-lm ended, or a start of it: by what it, MLX, or what is beside it said. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from weighbridge_engines.api import HOST, Cause
from weighbridge_engines.failure_words import Failure, cause_in, failure
from weighbridge_engines.mlx_folder import CONFIG

_CAUSE = "mlx: cause = "
"""Before a cause that we know ourselves, as JSON."""

_FAILED = "mlx: failed = "
"""Before what the library raised while it loaded."""

_READ_OF_A_LINE = 2000


def _failure(code: str, *words: str, **values: object) -> Failure:
    """`words` are alternatives."""
    return failure(code, "|".join(words), **values)


FAILURES: tuple[Failure, ...] = (
    # The build does not start.
    _failure("engine.not_installed", r"No module named '(?P<package>mlx_lm|mlx)(?:\.core)?'"),
    _failure("engine.old_system", r"version [`'](?P<needs>GLIBC(?:XX)?_[\d.]+)' not found"),
    _failure("engine.missing_driver", r"(?P<library>libcuda\.so\.1): cannot open shared object file"),
    _failure("engine.missing_library", r"(?P<library>lib[\w.+-]+): cannot open shared object file"),
    _failure("engine.missing_library", r"Library not loaded: (?:@rpath/)?(?P<library>\S+)"),
    # Memory.
    _failure(
        "engine.piece_too_large",
        r"Attempting to allocate (?P<needed_bytes>\d+) bytes which is greater than the maximum allowed buffer size of"
        r" (?P<most_bytes>\d+) bytes",
    ),
    _failure(
        "engine.out_of_memory", r"\[malloc(?:_or_wait)?\] Unable to allocate (?P<needed_bytes>\d+) bytes", device=HOST
    ),
    _failure("engine.out_of_memory", r"\[metal::malloc\]|kIOGPUCommandBufferCallbackErrorOutOfMemory", device="Metal"),
    _failure(
        "engine.out_of_memory",
        r"cudaMalloc\w*.*(?:failed|error)|cudaErrorMemoryAllocation|out of memory",
        device="CUDA0",
    ),
    _failure("engine.out_of_memory", r"bad_alloc|[Cc]annot allocate memory|\bMemoryError", device=HOST),
    # The folder, and what lies beside it.
    _failure("engine.no_draft_file", r"No draft: (?P<path>.+)"),
    _failure("engine.no_adapter_file", r"No adapter: (?P<path>.+)"),
    _failure("engine.adapter_mismatch", r"(?P<reason>Adapter at .+ contains incompatible tensors)"),
    _failure("engine.adapter_mismatch", r"KeyError: [\"'](?P<reason>LoRA config is missing[^\"']*)"),
    _failure(
        "engine.no_model_file",
        r"No model folder: ",
        r"No safetensors found in ",
        r"No such file or directory: .*config\.json",
    ),
    _failure("engine.file_denied", r"Permission denied: '(?P<path>[^'\n]+)'"),
    _failure("engine.own_code", r"requires importing and running a custom module \('(?P<file>[^'\n]+)'\)"),
    _failure("engine.own_code", r"contains custom code which must be executed", file="tokenizer"),
    _failure("engine.unknown_architecture", r"Model type (?P<architecture>\S+) not supported"),
    _failure(
        "engine.unknown_architecture",
        r"module 'mlx_lm\.models\.(?P<architecture>[^']+)' has no attribute '(?:Model|ModelArgs)'",
    ),
    _failure(
        "engine.bad_model_file",
        r"\[load_safetensors\]",
        r"\[read\] Unable to read (?:\d+ bytes|from file)",
        r"Perhaps an incomplete download",
    ),
    _failure("engine.other_layout", r"(?P<reason>No module named 'mlx_lm\.(?:chat_templates|tool_parsers)\.[^'\n]*')"),
    _failure("engine.no_tokenizer", r"Couldn't instantiate the backend tokenizer", r"Can't load tokenizer for"),
    _failure("engine.bad_settings", r"JSONDecodeError: (?P<reason>.+)", r"No settings in (?P<file>.+)", reason=CONFIG),
    _failure("engine.bad_settings", r"\bKeyError: '(?P<reason>\w+)'"),
    _failure("engine.other_layout", r"ValueError: (?P<reason>(?:Missing|Received) \d+ parameters[^\n]*)"),
    _failure("engine.other_layout", r"ValueError: (?P<reason>Expected shape [^\n]+)"),
    _failure("engine.other_layout", r"ValueError: (?P<reason>\[quantize\] The [^\n]+)"),
    _failure("engine.load_refused", r"(?P<reason>Quantized SDPA does not support [\w ]+|\w+ Quantization NYI)"),
    # The card.
    _failure("engine.card_failed", r"\[METAL\] Command buffer execution failed: (?P<reason>.+)"),
    _failure("engine.card_failed", r"CUDA error: (?P<reason>.+)"),
    _failure("engine.driver", r"(?P<reason>CUDA driver version is insufficient[^\n]*)"),
    _failure("engine.load_refused", rf"^{_FAILED}(?P<reason>.+)"),
)
"""In the order in which they are tried over the whole log."""


def said(cause: Cause) -> str:
    """The line of the log that tells `cause`."""
    return _CAUSE + json.dumps({"code": cause.code, "values": dict(cause.values)})


def failed(error: BaseException) -> str:
    """The line of the log that tells what was raised."""
    return f"{_FAILED}{type(error).__name__}: {' '.join(str(error).split())[:_READ_OF_A_LINE]}"


def diagnose(log: Sequence[str], exit_code: int | None) -> Cause | None:
    """The cause, by what stands in the log; None where it tells nothing. "line" is the line that told."""
    del exit_code  # what a signal means is the same for every engine
    for line in reversed(log):
        if (told := _told(line)) is not None:
            return told
    telling = [line for line in log if line.startswith(_FAILED)] or log  # else what led to it would tell, too
    return cause_in(telling, FAILURES)


def _told(line: str) -> Cause | None:
    """A cause that was said by `said`."""
    try:
        told = json.loads(line.removeprefix(_CAUSE)) if line.startswith(_CAUSE) else None
    except (ValueError, RecursionError):
        return None
    return None if told is None else Cause(str(told["code"]), told["values"])
