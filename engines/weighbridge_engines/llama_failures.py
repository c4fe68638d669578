"""Why a build of llama.cpp ended, by its own words and its end: one table of patterns. Pure.

The words are the same for every program that hosts the library, and on every system; what a driver or the system's
loader says stands beside them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from weighbridge_engines.api import HOST, Cause
from weighbridge_engines.failure_words import Failure, failure, line_at

_MIB = 1 << 20
_SHOWN = 300
_READ_OF_A_LINE = 500
"""Characters: whoever prints more can not make this slow."""

_NOISE = re.compile(r"llama_model_loader: - (?:kv|type) |print_info: |example_format|chat_template, ")
"""Lines that repeat what stands in the model file: what it says there is nobody's cause."""

_RECOVERED = re.compile(r"retrying without pipeline parallelism|model loaded$|all slots are idle|server is listening")
"""What went wrong before such a line did no harm."""

ILLEGAL_INSTRUCTION = (-4, 0xC000001D, 0xC000001D - (1 << 32))
_ACCESS_VIOLATION = (0xC0000005, 0xC0000005 - (1 << 32))
_NO_LIBRARY = (0xC0000135, 0xC0000135 - (1 << 32), 0xC000007B, 0xC000007B - (1 << 32))
"""By signal, or by the status with which Windows ends a process; unsigned or signed."""

Read = Callable[[str], object]


def _bytes_of_mebibytes(told: str) -> int:
    return int(float(told) * _MIB)


def _plain(told: str) -> str:
    return told.strip()[:_SHOWN]


_READ: Mapping[str, Read] = {
    "needed_bytes": int,
    "needed_mib": _bytes_of_mebibytes,
    "port": int,
    "version": int,
    "type_number": int,
    "most": int,
    "type": str,
    "text_width": int,
    "projector_width": int,
    "block": int,
    "head": int,
}
"""How the groups of a pattern are read; those not named here are text."""


_GONE = r"failed to open (?:GGUF file )?'(?P<path>[^'\n]+)'(?:: | \()No such file(?s:.*?)"

FAILURES: tuple[Failure, ...] = (
    # The build does not start.
    failure("engine.old_system", r"version [`'](?P<needs>GLIBC(?:XX)?_[\d.]+)' not found"),
    failure(
        "engine.missing_driver", r"(?P<library>lib(?:cuda|vulkan|nvidia-ml)\.so\.1): cannot open shared object file"
    ),
    failure("engine.missing_driver", r"(?P<library>nvcuda\.dll|vulkan-1\.dll) was not found"),
    failure("engine.missing_library", r"(?P<library>lib[\w.+-]+): cannot open shared object file"),
    failure("engine.missing_library", r"Library not loaded: (?:@rpath/)?(?P<library>\S+)"),
    failure("engine.missing_library", r"DLL load failed while importing (?P<library>\w+)"),
    failure("engine.missing_library", r"(?P<library>[\w.-]+\.dll) was not found", system="Windows"),
    failure("engine.not_installed", r"No module named '(?P<package>xllamacpp|llama_cpp)'"),
    failure("engine.bad_option", r"^error: invalid argument: (?P<option>\S+)"),
    failure("engine.cache_type_unknown", r"Unsupported cache type: (?P<type>\S+)"),
    failure("engine.cache_type_unknown", r"KeyError: 'GGML_TYPE_(?P<type>\w+)'"),
    failure("engine.no_such_device", r"invalid device: (?P<device>\S+)"),
    failure("engine.bad_option", r'^error while handling argument "(?P<option>[^"]+)": (?P<reason>.+)'),
    failure("engine.file_name", r"UnicodeEncodeError: .*surrogates not allowed"),
    # Files beside the model, and the model's own.
    failure("engine.no_draft_file", _GONE + r"failed to load draft model, '(?P=path)'"),
    failure("engine.no_projector_file", _GONE + r"failed to load multimodal model, '(?P=path)'"),
    failure("engine.no_projector_file", _GONE + r"Failed to load CLIP model from (?P=path)"),
    failure("engine.no_adapter_file", _GONE + r"failed to load lora adapter '(?P=path)'"),
    failure(
        "engine.projector_mismatch",
        r"mismatch between text model \(n_embd = (?P<text_width>\d+)\) and (?:\S+ )?mmproj"
        r" \(n_embd = (?P<projector_width>\d+)\)",
    ),
    failure(
        "engine.projector_refused",
        r"clip_init: failed to load model '(?P<path>[^'\n]+)': (?:\w+(?:\(\))?: )?(?P<reason>.+)",
    ),
    failure("engine.projector_refused", r"Failed to load CLIP model from (?P<path>.+)", reason=""),
    failure("engine.projector_refused", r"failed to load multimodal model, '(?P<path>[^'\n]+)'", reason=""),
    failure("engine.adapter_mismatch", r"failed to apply lora adapter: (?P<reason>.+)"),
    failure("engine.draft_mismatch", r"(?P<reason>draft model vocab (?:type )?must (?:closely )?match target model.*)"),
    failure("engine.draft_mismatch", r"(?P<reason>the target and draft vocabs are not compatible)"),
    failure("engine.unknown_architecture", r"un(?:known|supported) model architecture: '(?P<architecture>[^']*)'"),
    failure("engine.unknown_tokenizer", r"unknown (?:pre-)?tokenizer(?: type)?: '(?P<tokenizer>[^']*)'"),
    failure("engine.is_projector", r"CLIP cannot be used as main model"),
    failure("engine.type_removed", r"TYPE_(?P<type>\w+) REMOVED, use (?P<instead>\w+)"),
    failure("engine.type_unknown", r"tensor '(?P<tensor>[^']+)' has invalid ggml type (?P<type_number>\d+)"),
    failure("engine.file_denied", r"failed to open (?:GGUF file )?'?(?P<path>[^'\n]+?)'?(?:: | \()Permission denied"),
    failure("engine.file_name", r"failed to open .*(?:Invalid argument|Illegal byte sequence)"),
    failure("engine.no_model_file", r"failed to open GGUF file|failed to open .*No such file or directory"),
    failure("engine.file_too_old", r"GGUFv1 is no longer supported"),
    failure("engine.file_too_new", r"GGUF file is version (?P<version>\d+) but .* up to version (?P<most>\d+)"),
    failure("engine.file_other_order", r"mismatch between the host and model endianness"),
    failure(
        "engine.wrong_part",
        r"(?P<reason>must be loaded with the first split|invalid split .*|failed to load GGUF split.*)",
    ),
    failure("engine.bad_model_file", r"tensor '(?P<tensor>[^']+)' data is not within the file bounds"),
    failure("engine.bad_model_file", r"corrupted or incomplete|unexpectedly reached end of file|has invalid data"),
    failure("engine.bad_model_file", r"invalid magic characters: '(?P<magic>[^'\n]*)'"),
    failure("engine.bad_model_file", r"bad magic|failed to read magic|invalid GGUF|bad GGUF version"),
    failure("engine.bad_model_file", r"gguf_init_from_\w+: failed to read|exceeds remaining file size"),
    failure("engine.bad_model_file", r"corrupted model: \d+ tensors expected but \d+ found"),
    failure(
        "engine.other_layout",
        r"(?P<reason>missing tensor '[^']+'|tensor '[^']+' not found|tensor '[^']+' has wrong shape;[^\n]*"
        r"|wrong number of tensors; [^\n]*|key not found in model: \S+)",
    ),
    # The context.
    failure("engine.cache_needs_flash", r"quantized V cache .*requires flash_attn|but this requires Flash Attention"),
    failure(
        "engine.cache_type_size",
        r"(?P<which>[KV]) cache type (?P<kind>\w+) with block size (?P<block>\d+) does not divide"
        r" n_embd_head_[kv]=(?P<head>\d+)",
    ),
    failure("engine.out_of_memory", r"mmap failed: Cannot allocate memory", device=HOST),
    failure("engine.cannot_map", r"mmap failed: (?P<reason>.+)|(?P<system>MapViewOfFile|CreateFileMappingA) failed"),
    failure("engine.out_of_memory", r"failed to allocate (?P<device>[\w.]+?\d*) buffer of size (?P<needed_bytes>\d+)"),
    failure(
        "engine.out_of_memory",
        r"allocating (?P<needed_mib>[\d.]+) MiB on device \d+: (?:cuda|hip)Malloc failed",
    ),
    failure("engine.out_of_memory", r"emory allocation of size (?P<needed_bytes>\d+) failed", device="Vulkan0"),
    failure("engine.out_of_memory", r"can't allocate (?P<needed_bytes>\d+) Bytes of memory on device", device="SYCL0"),
    failure(
        "engine.out_of_memory",
        r"ggml_metal\w*: error: failed to allocate buffer, size = +(?P<needed_mib>[\d.]+) MiB",
        device="Metal",
    ),
    failure(
        "engine.out_of_memory", r"insufficient memory \(attempted to allocate +(?P<needed_mib>[\d.]+) MB\)", device=HOST
    ),
    failure("engine.out_of_memory", r"failed to allocate buffer of size (?P<needed_bytes>\d+)", device=HOST),
    failure("engine.out_of_memory", r"unable to allocate (?P<device>\S+) buffer"),
    failure("engine.out_of_memory", r"kIOGPUCommandBufferCallbackErrorOutOfMemory", device="Metal"),
    failure("engine.out_of_memory", r"CUDA error: out of memory|(?:cuda|hip)Malloc failed|\bOUT_OF_MEMORY\b"),
    failure(
        "engine.out_of_memory",
        r"ErrorOutOf(?:Device|Host)Memory|_RESULT_ERROR_OUT_OF_(?:DEVICE|HOST)_MEMORY|OUT_OF_(?:HOST|DEVICE)_MEMORY",
    ),
    failure(
        "engine.out_of_memory",
        r"bad_alloc|paging file is too small|[Cc]annot allocate memory|MemoryError$",
        device=HOST,
    ),
    failure("engine.out_of_memory", r"failed to allocate (?:buffer\b|compute|\S+ buffer$)|not enough memory"),
    # The chat template, the port.
    failure(
        "engine.template",
        r"parser: (?P<reason>(?:Parser|Lexer) Error: .+)(?s:.*)(?:template parsing error|not supported)",
    ),
    failure("engine.template", r"chat template parsing error: (?P<reason>.+)"),
    failure("engine.template", r"(?P<reason>the supplied chat template is not supported)"),
    failure("engine.port_taken", r"couldn't bind HTTP server socket, hostname: \S+, port: (?P<port>\d+)"),
    failure("engine.port_taken", r"couldn't bind|bind failed|Address already in use"),
    # The card and its driver.
    failure("engine.card_not_built_for", r"no kernel image is available for execution on the device", card=""),
    failure("engine.card_not_built_for", r"TensileLibrary.*for GPU arch ?: (?P<card>\w+)"),
    failure("engine.card_failed", r"(?:CUDA|ROCm|HIP) error: (?P<reason>.+)"),
    failure("engine.card_failed", r"(?P<reason>ErrorDeviceLost|vk::DeviceLostError|UR_RESULT_ERROR_DEVICE_LOST)"),
    failure("engine.card_failed", r"ggml_metal\w*: error: (?P<reason>command buffer \d+ failed with status \d+)"),
    failure("engine.load_refused", r"E llama_init_from_model: (?:failed to initialize the context: )?(?P<reason>.+)"),
    failure("engine.driver", r"failed to initialize (?:CUDA|ROCm|HIP): (?P<reason>.+)"),
    failure("engine.no_backend", r"no (?:CPU backend found|backends are loaded)"),
    failure("engine.assertion", r"GGML_ASSERT\((?P<reason>.+)\) failed"),
)
"""In the order in which they are tried over the whole log: what names most of a cause before what names less."""

_OF_MEMORY = tuple(failure for failure in FAILURES if failure.code == "engine.out_of_memory")
_FREE = re.compile(r"(?:- |using device )(?P<device>\w+) .*?(?:, |- )(?P<free>\d+) MiB free", re.MULTILINE)
_CARD = re.compile(r"on device (?P<number>\d+): (?:cuda|hip)Malloc failed")
_LONGER = re.compile(r"n_ctx_seq \((?P<context>\d+)\) > n_ctx_train \((?P<trained>\d+)\)")
_BUILT_WITH = re.compile(r"system_info: .*\bCPU : (?P<flags>.+)")
_FLAG = re.compile(r"(\w+) = 1")
_PARTS = (
    (re.compile(r"buffer for kv cache|KV buffer|kv_cache"), "cache"),
    (re.compile(r"compute (?:pp |tg )?buffers|gallocr_reserve"), "compute"),
    (re.compile(r"error loading model|alloc_tensor_range"), "weights"),
)


def diagnose(log: Sequence[str], exit_code: int | None) -> Cause | None:
    """The cause, in the engine's own words where it has any, else by how it ended; None where neither tells.

    The values are numbers where the words hold numbers; "line" is the line that told. Where memory ran out: "device",
    "needed_bytes" (of the one buffer that was refused), "free_bytes" as the log told it before, "part" ("weights",
    "cache" or "compute"), and "context" and "trained" where the context is longer than the model was trained for.
    Where an instruction was unknown: "built_with", the extensions that the build says it uses.
    """
    if exit_code in ILLEGAL_INSTRUCTION:
        return Cause("engine.illegal_instruction", {"signal": "SIGILL", "built_with": _built_with(log)})
    text = "\n".join(line[:_READ_OF_A_LINE] for line in _telling(log))
    for each in FAILURES:
        if match := each.words.search(text):
            values = {**each.values, **_read(match), "line": line_at(text, match.start())}
            if each.code == "engine.out_of_memory":
                values = _memory(values, text, "\n".join(log))
            return Cause(each.code, values)
    return _by_end(exit_code)


def _telling(log: Sequence[str]) -> list[str]:
    """The lines after the last one that says that all before did no harm."""
    lines = [line for line in log if not _NOISE.search(line)]
    last = max((place for place, line in enumerate(lines) if _RECOVERED.search(line)), default=-1)
    return lines[last + 1 :]


def _read(match: re.Match[str]) -> dict[str, object]:
    told = {name: value for name, value in match.groupdict().items() if value is not None}
    return {name.replace("_mib", "_bytes"): _READ.get(name, _plain)(value) for name, value in told.items()}


def _memory(values: dict[str, object], text: str, log: str) -> dict[str, object]:
    """All that the log tells of the memory that ran out: one line names the device, another the bytes."""
    known: dict[str, object] = {}
    for each in _OF_MEMORY:
        if match := each.words.search(text):
            known = {**_read(match), **known}
            values = {**each.values, **values}
    values |= known
    card = _CARD.search(text)
    if "device" not in values and card is not None:
        values["device"] = f"{'ROCm' if 'ROCm' in log else 'CUDA'}{card['number']}"
    device = str(values.get("device", ""))
    if device.startswith("CPU"):
        values["device"] = device = HOST
    free = {match["device"]: int(match["free"]) * _MIB for match in _FREE.finditer(log)}
    if (free_bytes := free.get("CPU" if device == HOST else device)) is not None:
        values["free_bytes"] = free_bytes
    if part := next((name for words, name in _PARTS if words.search(text)), None):
        values["part"] = part
    if longer := _LONGER.search(log):
        values |= {"context": int(longer["context"]), "trained": int(longer["trained"])}
    return values


def _by_end(exit_code: int | None) -> Cause | None:
    if exit_code in _NO_LIBRARY:
        return Cause("engine.missing_library", {"library": "DLL", "system": "Windows"})
    if exit_code in _ACCESS_VIOLATION:
        return Cause("engine.crashed", {"signal": "0xC0000005"})
    return None


def _built_with(log: Sequence[str]) -> tuple[str, ...]:
    """The extensions that this build says it uses, as it calls them; AMX where it says that it cannot be used."""
    flags = next((match["flags"] for line in log if (match := _BUILT_WITH.search(line))), "")
    amx = ("AMX",) if any("AMX is not ready to be used" in line for line in log) else ()
    return (*_FLAG.findall(flags), *amx)
