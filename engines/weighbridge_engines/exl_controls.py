"""What loads and requests may ask of the ExLlama libraries: settings as data, and what does not go together. Pure.

Names are those of `Load`'s fields where it has one. `parameter` is the library's own name. Caches are named as
elsewhere: "q8" and "q8_0" are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from weighbridge_engines.api import Cause, Load, RequestRefused, Unsupported
from weighbridge_engines.controls import Change, Control, Home, Kind, check
from weighbridge_engines.library_sampling import controls_of

PAGE = 256
"""Tokens of one page: caches, and the parts of a prompt that are computed at a time, are whole pages."""

DEFAULT_CONTEXT = 8192
"""Where nothing is asked, or less where the model was made for less: exllamav3's own programs take as much."""

DEFAULT_BATCH = 2048
MOST_DRAFT_V2 = 8
"""exllamav2 computes so many tokens of a sequence at most at a time (`max_q_size`)."""

BITS: Mapping[str, int] = {f"q{bits}": bits for bits in range(2, 9)}
TYPES_V2 = ("f16", "q8", "q8_0", "q6", "q4", "q4_0")
TYPES_V3 = ("f16", *(f"q{bits}{end}" for bits in range(8, 1, -1) for end in ("", "_0")))
_NOT_AT_ALL = ("projector",)

_MEMORY = frozenset({Change.MEMORY})
_SPEED = frozenset({Change.SPEED})
_ANSWERS = frozenset({Change.ANSWERS})
_BOTH = _MEMORY | _SPEED
_ALL = _BOTH | _ANSWERS


def cache_kinds(load: Load) -> tuple[str, str]:
    """Of keys and of values, "f16" or "q" and the bits. One that is not asked for is as the other."""
    keys, values = load.key_type or load.value_type or "f16", load.value_type or load.key_type or "f16"
    return keys.removesuffix("_0"), values.removesuffix("_0")


def whole_pages(tokens: int) -> int:
    """`tokens`, and what is missing to a whole number of pages."""
    return -(-tokens // PAGE) * PAGE


def _context(cells: str, slots: int, types: Sequence[str], keys: str, values: str) -> tuple[Control, ...]:
    return (
        Control("context", "context", Kind.WHOLE, cells, _BOTH, low=PAGE, high=1 << 24, unit="tokens"),
        Control("slots", "context", Kind.WHOLE, "max_batch_size", _BOTH, low=1, high=slots, default=1),
        Control("key_type", "context", Kind.CHOICE, keys, _ALL, choices=tuple(types), default="f16"),
        Control("value_type", "context", Kind.CHOICE, values, _ALL, choices=tuple(types), default="f16"),
    )


def _cards(split: str, reserve: str, tensor: str) -> tuple[Control, ...]:
    return (
        Control("split_mode", "cards", Kind.CHOICE, tensor, _BOTH, choices=("layer", "tensor"), default="layer"),
        Control("split", "cards", Kind.NUMBERS, split, _BOTH, low=0, high=10_000, unit="GiB"),
        Control("reserve_gib", "cards", Kind.NUMBERS, reserve, _MEMORY, Home.EXTRA, low=0, high=10_000, unit="GiB"),
    )


_LORA = (
    Control("adapters", "beside", Kind.FILES, "directory", _ALL),
    Control("adapter_scales", "beside", Kind.NUMBERS, "lora_scaling", _ANSWERS, low=-100, high=100),
)
_TEMPLATE = (
    Control("template", "form", Kind.TEXT, "", _ANSWERS),
    Control("template_values", "form", Kind.VALUES, "", _ANSWERS, Home.EXTRA),
)


_SHARED = {
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "dry_multiplier": "dry_multiplier",
    "dry_base": "dry_base",
    "dry_allowed_length": "dry_allowed_length",
    "dry_penalty_last_n": "dry_range",
    "seed": "seed",
    "max_tokens": "max_new_tokens",
    "ignore_eos": "min_new_tokens",
}
_PARAMETERS_V2 = {
    **_SHARED,
    "typical_p": "typical",
    "dynatemp_range": "max_temp",
    "dynatemp_exponent": "temp_exponent",
    "xtc_probability": "xtc_probability",
    "xtc_threshold": "xtc_threshold",
    "repeat_penalty": "token_repetition_penalty",
    "repeat_last_n": "token_repetition_range",
    "frequency_penalty": "token_frequency_penalty",
    "presence_penalty": "token_presence_penalty",
}
"""Attributes of `ExLlamaV2Sampler.Settings`, and arguments of a job."""

_PARAMETERS_V3 = {
    **_SHARED,
    "xtc_probability": "probability",
    "xtc_threshold": "threshold",
    "repeat_penalty": "rep_p",
    "repeat_last_n": "sustain_range",
    "frequency_penalty": "freq_p",
    "presence_penalty": "pres_p",
    "adaptive_target": "target",
    "adaptive_decay": "decay",
    "json_schema": "json_schema",
}
"""Arguments of its samplers (`SS_*`), of a job, and of its filter."""

SAMPLERS_V2, SAMPLERS_V3 = frozenset(_PARAMETERS_V2), frozenset(_PARAMETERS_V3)
"""What a request may say, by its names there."""

CONTROLS_V2: tuple[Control, ...] = (
    *_context("max_seq_len", 256, TYPES_V2, "cache", "cache"),
    Control("batch", "context", Kind.WHOLE, "max_input_len", _BOTH, low=PAGE, high=1 << 17, unit="tokens",
            default=DEFAULT_BATCH),
    Control("unified", "context", Kind.SWITCH, "max_batch_size", _BOTH, default=False),
    Control("flash_attention", "context", Kind.SWITCH, "no_flash_attn", _BOTH),
    *_cards("gpu_split", "reserve_vram", "load_tp"),
    Control("draft", "beside", Kind.FILE, "draft_model", _BOTH),
    Control("draft_tokens", "beside", Kind.WHOLE, "num_draft_tokens", _SPEED, Home.EXTRA, low=1, high=MOST_DRAFT_V2,
            unit="tokens", default=4),
    *_LORA,
    *_TEMPLATE,
    *controls_of(SAMPLERS_V2, _PARAMETERS_V2),
)  # fmt: skip

CONTROLS_V3: tuple[Control, ...] = (
    *_context("max_num_tokens", 256, TYPES_V3, "k_bits", "v_bits"),
    Control("batch", "context", Kind.WHOLE, "max_chunk_size", _BOTH, low=PAGE, high=1 << 17, unit="tokens",
            default=DEFAULT_BATCH),
    Control("whole_window", "context", Kind.SWITCH, "swa_full", _BOTH, default=False),
    Control("prompt_cache_mib", "context", Kind.WHOLE, "cpu_cache_size", _BOTH, low=0, high=1 << 24, unit="MiB",
            default=0),
    *_cards("use_per_device", "reserve_per_device", "tensor_p"),
    Control("cpu_experts", "cards", Kind.WHOLE, "moe_cpu_offload", _BOTH, low=0, high=10_000, unit="layers",
            default=0),
    Control("draft", "beside", Kind.FILE, "draft_model", _BOTH),
    Control("draft_kind", "beside", Kind.CHOICE, "component", _BOTH, choices=("simple", "mtp", "dflash"),
            default="simple"),
    Control("draft_tokens", "beside", Kind.WHOLE, "num_draft_tokens", _SPEED, Home.EXTRA, low=1, high=64,
            unit="tokens"),
    *_LORA,
    *_TEMPLATE,
    *controls_of(SAMPLERS_V3, _PARAMETERS_V3),
)  # fmt: skip


def checked_v2(load: Load) -> None:
    """Raise Unsupported, with a "setting." code that names it, for what exllamav2 could not follow."""
    _checked(load, CONTROLS_V2, _needs_v2(load))


def checked_v3(load: Load) -> None:
    """The same for exllamav3."""
    _checked(load, CONTROLS_V3, _needs_v3(load))


def _checked(load: Load, controls: Iterable[Control], needs: Iterable[tuple[str, str, bool]]) -> None:
    check(load, controls)
    for name in _NOT_AT_ALL:
        if getattr(load, name) is not None:
            raise Unsupported(Cause("setting.unknown", {"name": name}))
    if load.task != "chat":
        raise Unsupported(Cause("setting.choice", {"name": "task", "value": load.task, "known": "chat"}))
    for name, needed, met in (*_needs(load), *needs):
        if not met:
            raise Unsupported(Cause("setting.needs", {"name": name, "needs": needed}))


def _needs(load: Load) -> Iterator[tuple[str, str, bool]]:
    """What is asked for, what it goes with or needs, and whether that is so."""
    if load.split is not None:
        yield "split", "split", any(load.split)
        yield "split", "reserve_gib", "reserve_gib" not in load.extra
    if load.adapter_scales:
        yield "adapter_scales", "adapters", len(load.adapter_scales) == len(load.adapters)
    if load.context is not None:
        yield "slots", "context", load.slots * PAGE <= whole_pages(load.context)


def _needs_v2(load: Load) -> Iterator[tuple[str, str, bool]]:
    """Its caches have one type; a batch of tokens must hold the steps of all slots."""
    keys, values = cache_kinds(load)
    yield "value_type", "key_type", keys == values
    if load.split_mode == "tensor":
        yield "reserve_gib", "split_mode", "reserve_gib" not in load.extra
    yield "slots", "batch", load.slots * MOST_DRAFT_V2 <= (load.batch or DEFAULT_BATCH)
    if "draft_tokens" in load.extra:
        yield "draft_tokens", "draft", load.draft is not None


def _needs_v3(load: Load) -> Iterator[tuple[str, str, bool]]:
    """Keys and values are both in bits, as many as each likes, or neither is."""
    keys, values = cache_kinds(load)
    yield "value_type", "key_type", (keys == "f16") == (values == "f16")
    if load.split_mode == "tensor":
        yield "cpu_experts", "split_mode", not load.cpu_experts
    drafts = load.draft is not None or load.draft_kind == "mtp"
    if load.draft_kind == "dflash":
        yield "draft_kind", "draft", load.draft is not None
    if "draft_tokens" in load.extra:
        yield "draft_tokens", "draft", drafts


def pages_of(load: Load, trained: int | None) -> int:
    """The tokens of the cache, in whole pages; `trained` is what the model was made for."""
    if load.context is not None:
        return whole_pages(load.context)
    most = DEFAULT_CONTEXT * load.slots if trained is None else min(DEFAULT_CONTEXT, trained) * load.slots
    return max(PAGE * load.slots, most // PAGE * PAGE)


def check_biases(biases: Iterable[int], vocabulary_size: int) -> None:
    """Raise RequestRefused for a token that there is not: one library passes over it, the other fails amid its step."""
    if (most := max(biases, default=0)) >= vocabulary_size:
        raise RequestRefused(f"there is no token {most}", "logit_bias")
