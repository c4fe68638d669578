"""What llama.cpp's log tells: effective values, buffers, its table of memory. Pure.

The same for every build and every program that hosts the library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from weighbridge_engines.api import HOST, Row

_MIB = 1 << 20


def _inverse(words: str) -> float:
    return 1 / float(words) if float(words) else 0.0


_VALUES: Sequence[tuple[re.Pattern[str], str, Callable[[str], int | float | str]]] = (
    (re.compile(r"llama_context: n_ctx +=\s+(\d+)"), "context", int),
    (re.compile(r"llama_context: n_batch +=\s+(\d+)"), "batch", int),
    (re.compile(r"llama_context: n_ubatch +=\s+(\d+)"), "micro_batch", int),
    (re.compile(r"llama_context: n_seq_max +=\s+(\d+)"), "slots", int),
    (re.compile(r"system_info: n_threads = (\d+)"), "threads", int),
    (re.compile(r"n_threads_batch = (\d+)"), "batch_threads", int),
    (re.compile(r"print_info: n_ctx_train +=\s+(\d+)"), "trained_context", int),
    (re.compile(r"llama_context: freq_base +=\s+([\d.]+)"), "rope_base", float),
    (re.compile(r"llama_context: freq_scale +=\s+([\d.e+-]+)"), "rope_scale", _inverse),
    (re.compile(r"initializing, n_slots = \d+, n_ctx_slot = (\d+)"), "slot_context", int),
    (re.compile(r"prompt cache is enabled, size limit: (\d+) MiB"), "prompt_cache_mib", int),
    (re.compile(r"context checkpoints enabled, max = (\d+)"), "checkpoints", int),
    (re.compile(r"context checkpoints enabled, .*min spacing = (\d+)"), "checkpoint_step", int),
    (re.compile(r"adding speculative implementation 'draft-(\w+)'"), "draft_kind", str),
    (re.compile(r"- n_max=(\d+), n_min=\d+, p_min="), "draft_tokens", int),
    (re.compile(r"- n_max=\d+, n_min=(\d+), p_min="), "draft_least_tokens", int),
    (re.compile(r"- n_max=\d+, n_min=\d+, p_min=([\d.]+)"), "draft_least_probability", float),
    (re.compile(r"offloaded (\d+)/\d+ layers to GPU"), "gpu_layers", int),
    (re.compile(r"offloaded \d+/(\d+) layers to GPU"), "layers", int),
    (re.compile(r"llama_kv_cache: size = .* K \((\w+)\):"), "key_type", str),
    (re.compile(r"llama_kv_cache: size = .* V \((\w+)\):"), "value_type", str),
    (re.compile(r"loaded multimodal model, '(.+)'$"), "projector", str),
    (re.compile(r"loading draft model '(.+)'$"), "draft", str),
    (re.compile(r"loading lora adapter from '(.+)' \.\.\.$"), "adapters", str),
)
_BUFFER = re.compile(r"(?P<memory>\S+) +(?P<what>model|KV|RS|compute|output) buffer size = +(?P<mebibytes>[\d.]+) MiB")
_TERMS = {
    "model": "weights_bytes",
    "KV": "kv_bytes",
    "RS": "state_bytes",
    "compute": "compute_bytes",
    "output": "output_bytes",
}
_PROJECTOR = re.compile(r"load_hparams: model size: +(?P<mebibytes>[\d.]+) MiB")
"""The weights of a projector. In whose memory they lie is said in another line."""

_HOST = re.compile(r"CPU|AMX|.*_Host$")
"""The engine's names for kinds of system memory, pinned for a card and repacked for the processor among them."""
_WORDS: Sequence[tuple[str, str, bool | int | str]] = (
    ("llama_context: kv_unified            = true", "unified", True),
    ("llama_context: kv_unified            = false", "unified", False),
    ("llama_context: flash_attn            = enabled", "flash_attention", True),
    ("llama_context: flash_attn            = disabled", "flash_attention", False),
    ("Flash Attention enabled", "flash_attention", True),
    ("Flash Attention not supported", "flash_attention", False),
    ("using full-size SWA cache", "whole_window", True),
    ("swa_full is not supported by this model", "whole_window", False),
    ("(load_mode = mmap", "mapped", True),
    ("(load_mode = none)", "mapped", False),
    ("(load_mode = mlock)", "mapped", False),
    ("(load_mode = mlock)", "locked", True),
    ("(load_mode = mmap+mlock)", "locked", True),
    ("prompt cache is disabled", "prompt_cache_mib", 0),
    ("context checkpoints disabled", "checkpoints", 0),
    ("creating MTP draft context", "draft_kind", "mtp"),
    ("load_model: loading model", "stage", "reading"),
    ("load_tensors:", "stage", "weights"),
    ("llama_context: n_seq_max", "stage", "context"),
    ("warming up the model", "stage", "warming"),
)


_SAMPLERS = {
    "repeat_last_n": "repeat_last_n",
    "repeat_penalty": "repeat_penalty",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "dry_multiplier": "dry_multiplier",
    "dry_base": "dry_base",
    "dry_allowed_length": "dry_allowed_length",
    "dry_penalty_last_n": "dry_penalty_last_n",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "xtc_probability": "xtc_probability",
    "xtc_threshold": "xtc_threshold",
    "typical_p": "typical_p",
    "temp": "temperature",
    "mirostat": "mirostat",
    "mirostat_lr": "mirostat_eta",
    "mirostat_ent": "mirostat_tau",
    "adaptive_target": "adaptive_target",
    "adaptive_decay": "adaptive_decay",
}
"""What llama.cpp tells at the start of each answer, by its names there, and by those of requests."""

_SAMPLER = re.compile(r"(\w+) = (-?\d+(?:\.\d+)?)(?:,|$)")


def _samplers(line: str) -> dict[str, int | float]:
    """Of one of the lines that begin with a tab after "sampler params"."""
    found = {name: value for name, value in _SAMPLER.findall(line.strip()) if name in _SAMPLERS}
    return {_SAMPLERS[name]: float(value) if "." in value else int(value) for name, value in found.items()}


def report(line: str) -> Mapping[str, int | float | str | bool]:
    """Effective values, buffer sizes (bytes) and the stage of the load, out of one line of the log."""
    found: dict[str, int | float | str | bool] = {}
    if line.startswith("\t"):
        found |= _samplers(line)
    for pattern, name, read in _VALUES:
        if match := pattern.search(line):
            found[name] = read(match[1])
    for words, name, told in _WORDS:
        if words in line:
            found[name] = told
    if match := _BUFFER.search(line):
        found[_TERMS[match["what"]]] = int(float(match["mebibytes"]) * _MIB)
        found["device"] = device_of(match["memory"])
    if match := _PROJECTOR.search(line):
        found["projector_bytes"] = int(float(match["mebibytes"]) * _MIB)
    return found


def device_of(memory: str) -> str:
    """The device in whose memory a buffer lies, by the engine's name for that memory: "CUDA0", or HOST.

    Every RPC server calls its first device RPC0, so the address in "RPC0[127.0.0.1:18801]" stays.
    """
    return HOST if _HOST.match(memory) else memory.removesuffix("_Mapped")


_ROW = re.compile(
    r"(\S+ I )?common_memory_breakdown_print: \|\s+- (?P<name>\S+)(?P<card> \(.*\))?\s*\|"
    r"(\s*\d+ =\s*\d+ \+ \()?\s*\d{1,9} =\s*"
    r"(?P<model>\d{1,9}) \+\s*(?P<context>\d{1,9}) \+\s*(?P<compute>\d{1,9})[ )|]"
)


def row(line: str) -> Row | None:
    """One row of the table of memory, whose figures are whole MiB, rounded down."""
    match = _ROW.match(line)
    if match is None:
        return None
    model, context, compute = (int(match[name]) * _MIB for name in ("model", "context", "compute"))
    return Row(match["name"], match["card"] is None, model, context, compute)
