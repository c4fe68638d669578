"""The command line of llama.cpp's server that means the same as the parameters of its library. Pure.

One table: for each parameter that `llama_server.values` sets, the option that says it. A parameter without a row is a
fault that `arguments` raises, so that none is ever left out in silence. The key has no row: it travels in the
environment, for others can read a command line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weighbridge_engines.api import Cause, Unsupported

KEY_VARIABLE = "LLAMA_API_KEY"
"""Where the program looks for its key."""

_HIDDEN = frozenset({"api_keys", "sampling.user_sampling_config"})
"""What no command line says: a key, which others would read, and the library's own note of what was told."""
_OPTION = re.compile(r"(?:^|[\s,])(--?[a-zA-Z][\w-]*)")


@dataclass(frozen=True)
class Way:
    """One way to say a value: `words` are the arguments for it; none where the program's own default says it."""

    options: tuple[str, ...]
    words: Callable[[Any], Sequence[str]]


@dataclass(frozen=True)
class Row:
    """How a parameter is said: the first way whose options the program knows.

    Of a program that knows none of them, a `closing` one is left out, for it only shuts what that program does not
    have; a `rare` one is refused where it is asked for; for any other, the program is too old.
    """

    name: str
    ways: tuple[Way, ...]
    closing: bool = False
    rare: bool = False


def _plain(option: str) -> Way:
    return Way((option,), lambda value: (option, str(value)))


def _enumerated(option: str, prefix: str, names: Mapping[str, str] | None = None) -> Way:
    """A value of an enumeration: its name without `prefix`, in small letters, or as `names` has it."""

    def words(value: str) -> Sequence[str]:
        name = value.removeprefix(prefix)
        return (option, (names or {}).get(name, name.lower()))

    return Way((option,), words)


def _either(yes: str, no: str) -> Way:
    return Way((yes, no), lambda value: (yes if value else no,))


def _only(option: str, when: bool) -> Way:
    """An option for one of two values; the other is the default."""
    return Way((option,), lambda value: (option,) if value is when else ())


def _listed(option: str, read: Callable[[Any], Iterable[object]] = iter) -> Way:
    return Way((option,), lambda value: (option, ",".join(map(str, read(value)))))


def _shares(values: Sequence[float]) -> list[str]:
    """Without the shares of cards that are not there."""
    last = max((place for place, share in enumerate(values) if share), default=-1)
    return [f"{share:g}" for share in values[: last + 1]]


def _draft_types(values: Iterable[str]) -> list[str]:
    """COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE is "draft-simple"."""
    return [value.removeprefix("COMMON_SPECULATIVE_TYPE_").lower().replace("_", "-") for value in values]


def _layers(value: int) -> Sequence[str]:
    """Below 0 it is the program's own choice."""
    return () if value < 0 else ("--gpu-layers", str(value))


def _switch(yes: str, no: str, when: bool = True) -> Way:
    """One option for True and another for False, or the other way round."""
    return Way((yes, no), lambda value: (yes if value is when else no,))


def _adapters(values: Iterable[tuple[str, float]]) -> Sequence[str]:
    return [
        word
        for path, scale in values
        for word in (("--lora", path) if scale == 1 else ("--lora-scaled", f"{path}:{scale:g}"))
    ]


def _template_values(values: Mapping[str, str]) -> Sequence[str]:
    told = {name: json.loads(value) for name, value in values.items()}
    return ("--chat-template-kwargs", json.dumps(told, ensure_ascii=False))


def _load_mode(value: str) -> Sequence[str]:
    return ("--load-mode", value.removeprefix("LLAMA_LOAD_MODE_").lower().replace("_", "+"))


def _numbered(option: str) -> Way:
    return Way((option,), lambda value: (option, f"{value:.10g}"))


_MAPPED = Way(("--mmap", "--no-mmap"), lambda value: ("--no-mmap" if value.endswith("NONE") else "--mmap",))
_ROPE = "LLAMA_ROPE_SCALING_TYPE_"
RARE: Mapping[str, Way] = {
    "ctx_shift": _switch("--context-shift", "--no-context-shift"),
    "n_ctx_checkpoints": _plain("--ctx-checkpoints"),
    "checkpoint_min_step": _plain("--checkpoint-min-step"),
    "n_cache_reuse": _plain("--cache-reuse"),
    "slot_prompt_similarity": _numbered("--slot-prompt-similarity"),
    "cpuparams.poll": _plain("--poll"),
    "no_extra_bufts": _switch("--no-repack", "--repack"),
    "numa": _enumerated("--numa", "GGML_NUMA_STRATEGY_"),
    "split_mode": _enumerated("--split-mode", "LLAMA_SPLIT_MODE_"),
    "main_gpu": _plain("--main-gpu"),
    "no_kv_offload": _switch("--no-kv-offload", "--kv-offload"),
    "no_op_offload": _switch("--no-op-offload", "--op-offload"),
    "speculative.draft.n_max": _plain("--spec-draft-n-max"),
    "speculative.draft.n_min": _plain("--spec-draft-n-min"),
    "speculative.draft.p_min": _numbered("--spec-draft-p-min"),
    "speculative.draft.n_gpu_layers": _plain("--spec-draft-ngl"),
    "speculative.draft.cache_type_k": _enumerated("--spec-draft-type-k", "GGML_TYPE_"),
    "speculative.draft.cache_type_v": _enumerated("--spec-draft-type-v", "GGML_TYPE_"),
    "mmproj_use_gpu": _switch("--mmproj-offload", "--no-mmproj-offload"),
    "image_min_tokens": _plain("--image-min-tokens"),
    "image_max_tokens": _plain("--image-max-tokens"),
    "rope_scaling_type": _enumerated("--rope-scaling", _ROPE),
    "rope_freq_scale": _numbered("--rope-freq-scale"),
    "rope_freq_base": _numbered("--rope-freq-base"),
    "yarn_orig_ctx": _plain("--yarn-orig-ctx"),
    "yarn_ext_factor": _numbered("--yarn-ext-factor"),
    "yarn_attn_factor": _numbered("--yarn-attn-factor"),
    "yarn_beta_slow": _numbered("--yarn-beta-slow"),
    "yarn_beta_fast": _numbered("--yarn-beta-fast"),
    "embedding": _only("--embedding", True),
    "pooling_type": _enumerated("--pooling", "LLAMA_POOLING_TYPE_"),
    "embd_normalize": _plain("--embd-normalize"),
    "chat_template": _plain("--chat-template"),
    "default_template_kwargs": Way(("--chat-template-kwargs",), _template_values),
    "enable_reasoning": Way(("--reasoning",), lambda value: ("--reasoning", "on" if value else "off")),
    "sampling.reasoning_budget_tokens": _plain("--reasoning-budget"),
    "n_predict": _plain("--predict"),
    "sampling.temp": _numbered("--temp"),
    "sampling.top_k": _plain("--top-k"),
    "sampling.top_p": _numbered("--top-p"),
    "sampling.min_p": _numbered("--min-p"),
    "sampling.typ_p": _numbered("--typical-p"),
    "sampling.dynatemp_range": _numbered("--dynatemp-range"),
    "sampling.dynatemp_exponent": _numbered("--dynatemp-exp"),
    "sampling.xtc_probability": _numbered("--xtc-probability"),
    "sampling.xtc_threshold": _numbered("--xtc-threshold"),
    "sampling.penalty_repeat": _numbered("--repeat-penalty"),
    "sampling.penalty_last_n": _plain("--repeat-last-n"),
    "sampling.penalty_freq": _numbered("--frequency-penalty"),
    "sampling.penalty_present": _numbered("--presence-penalty"),
    "sampling.dry_multiplier": _numbered("--dry-multiplier"),
    "sampling.dry_base": _numbered("--dry-base"),
    "sampling.dry_allowed_length": _plain("--dry-allowed-length"),
    "sampling.dry_penalty_last_n": _plain("--dry-penalty-last-n"),
    "sampling.mirostat": _plain("--mirostat"),
    "sampling.mirostat_tau": _numbered("--mirostat-ent"),
    "sampling.mirostat_eta": _numbered("--mirostat-lr"),
    "sampling.adaptive_target": _numbered("--adaptive-target"),
    "sampling.adaptive_decay": _numbered("--adaptive-decay"),
    "sampling.seed": _plain("--seed"),
    "sampling.ignore_eos": _only("--ignore-eos", True),
    "sampling.samplers": _plain("--samplers"),
    "sampling.grammar": _plain("--grammar"),
    "sampling.json_schema": _plain("--json-schema"),
}
"""How the parameters are said that a load names only where somebody has asked for them."""
ROWS: tuple[Row, ...] = (
    Row("model.path", (_plain("--model"),)),
    Row("model_alias", (_listed("--alias", sorted),)),
    Row("hostnames", (_listed("--host"),)),
    Row("port", (_plain("--port"),)),
    Row("n_ctx", (_plain("--ctx-size"),)),
    Row("n_parallel", (_plain("--parallel"),)),
    Row("kv_unified", (_either("--kv-unified", "--no-kv-unified"),)),
    Row("n_batch", (_plain("--batch-size"),)),
    Row("n_ubatch", (_plain("--ubatch-size"),)),
    Row("n_gpu_layers", (Way(("--gpu-layers",), _layers),)),
    Row("tensor_split", (_listed("--tensor-split", _shares),)),
    Row("tensor_buft_overrides", (_plain("--override-tensor"),)),
    Row("cpuparams.n_threads", (_plain("--threads"),)),
    Row("cpuparams_batch.n_threads", (_plain("--threads-batch"),)),
    Row("cache_type_k", (_enumerated("--cache-type-k", "GGML_TYPE_"),)),
    Row("cache_type_v", (_enumerated("--cache-type-v", "GGML_TYPE_"),)),
    Row(
        "flash_attn_type",
        (_enumerated("--flash-attn", "LLAMA_FLASH_ATTN_TYPE_", {"ENABLED": "on", "DISABLED": "off"}),),
    ),
    Row("swa_full", (_only("--swa-full", True),), rare=True),
    Row("load_mode", (Way(("--load-mode",), _load_mode), _MAPPED)),
    Row("mmproj.path", (_plain("--mmproj"),), rare=True),
    Row("speculative.draft.mparams.path", (_plain("--spec-draft-model"), _plain("--model-draft")), rare=True),
    Row("speculative.types", (_listed("--spec-type", _draft_types),), rare=True),
    Row("lora_adapters", (Way(("--lora", "--lora-scaled"), _adapters),), rare=True),
    Row("fit_params", (Way(("--fit",), lambda value: ("--fit", "on" if value else "off")),)),
    Row("cache_ram_mib", (_plain("--cache-ram"),), closing=True),
    Row("ui", (_only("--no-ui", False), _only("--no-webui", False)), closing=True),
    Row("offline", (_only("--offline", True),), closing=True),
    Row("cors_origins", (_plain("--cors-origins"),), closing=True),
    Row("cors_credentials", (_only("--no-cors-credentials", False),), closing=True),
    Row("warmup", (_only("--no-warmup", False),), closing=True),
    Row("verbosity", (_plain("--verbosity"),)),
    *(Row(name, (way,), rare=True) for name, way in RARE.items()),
)
_BY_NAME = {row.name: row for row in ROWS}


def arguments(values: Mapping[str, Any], known: Collection[str] | None = None) -> list[str]:
    """The arguments that say `values`, in the words of a program that knows the options `known` (None: all).

    Raises KeyError for a parameter that has no row, Unsupported for one that this program has no word for.
    """
    told: list[str] = []
    for name, value in values.items():
        if name not in _HIDDEN:
            told += _said(_BY_NAME[name], value, known)
    return told


def _said(row: Row, value: Any, known: Collection[str] | None) -> Sequence[str]:
    for way in row.ways:
        if known is None or all(option in known for option in way.options):
            return way.words(value)
    if row.closing:
        return ()
    raise Unsupported(Cause("engine.option_unknown", {"option": row.ways[0].options[0]}))


def unsaid(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Those of `values` for which there is no option."""
    return tuple(name for name in values if name not in _BY_NAME and name not in _HIDDEN)


def lacking(known: Collection[str]) -> tuple[str, ...]:
    """The options that a program which knows `known` would need, as the newest one calls them."""
    needed = (row for row in ROWS if not row.closing and not row.rare)
    return tuple(
        row.ways[0].options[0]
        for row in needed
        if not any(all(option in known for option in way.options) for way in row.ways)
    )


def options_in(text: str) -> frozenset[str]:
    """The options that a help text explains: those at the beginning of its lines, before their explanations."""
    lines = (line for line in text.splitlines() if line.startswith("-"))
    return frozenset(option for line in lines for option in _OPTION.findall(line))
