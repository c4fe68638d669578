"""How exllamav2 loads: configuration, cache, draft, weights, adapters, generator, each told in the log."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Load
from weighbridge_engines.exl_controls import MOST_DRAFT_V2, PAGE, cache_kinds, pages_of
from weighbridge_engines.exl_folder import adapter_files, chat_folder
from weighbridge_engines.exl_log import say, say_step
from weighbridge_engines.exl_parts import (
    DRAFTS,
    Parts,
    allocated,
    batch_of,
    draft_folder,
    imported,
    opened,
    say_memory,
    scaled_adapters,
)
from weighbridge_engines.exl_probe import EXL2, can_flash

_GIB = 1 << 30
_RESERVE = 64 << 20
"""What the library leaves free of a card of which it is told nothing (`load_autosplit`)."""

_FALLBACK = "LlamaForCausalLM"
"""What the library takes an architecture for that it does not know, and says so in a warning alone."""

_CACHES = {"f16": "ExLlamaV2Cache", "q8": "ExLlamaV2Cache_Q8", "q6": "ExLlamaV2Cache_Q6", "q4": "ExLlamaV2Cache_Q4"}


@dataclass
class V2Parts(Parts):
    """Of exllamav2. In a cache that is not `paged` there is room for one answer alone."""

    generation: Any = None
    slots: int = 1
    paged: bool = False

    def share(self, load: Load) -> int:
        """What one answer with its prompt may have of the cache, in tokens."""
        return self.context if load.unified else self.context // self.slots // PAGE * PAGE


def loaded_parts(load: Load) -> V2Parts:
    """Load. Raises Unsupported where no card can be used, and what the library raises; the log has how far it came."""
    library = imported(EXL2, load)
    config = _config(library, chat_folder(load.model))
    context, paged = pages_of(load, int(config.max_seq_len)), _is_paged(config, load)
    parts = V2Parts(library, config, context, batch_of(load, context), paged=paged, slots=load.slots if paged else 1)
    parts.generation = import_module("exllamav2.generator")
    effective = {
        "slots": parts.slots,
        "slot_context": parts.share(load),
        "unified": bool(load.unified),
        "flash_attention": paged,
    }
    return opened(parts, load, effective, _load)


def _config(library: Any, folder: Path) -> Any:
    """Raises ValueError for an architecture that is not known: the library would go on as if it were another."""
    config = library.ExLlamaV2Config(str(folder))
    if config.arch.arch_string == _FALLBACK != config.architecture:
        raise ValueError(f"Unknown architecture {config.architecture} in {folder}")
    config.arch_compat_overrides(quiet=True)
    return config


def _is_paged(config: Any, load: Load) -> bool:
    """Whether its generator can share a cache among answers: that takes flash-attn, which few environments have, and
    which the library would use on cards that it was not made for.
    """
    if load.flash_attention is False or not can_flash():
        config.no_flash_attn = True
    attention: Any = import_module("exllamav2.attn")
    return bool(attention.has_flash_attn_with_paged) and not config.no_flash_attn


def _load(parts: V2Parts, load: Load) -> None:
    _size(parts, parts.config)
    parts.model = parts.library.ExLlamaV2(parts.config)
    parts.tokenizer = _tokenizer(parts)
    if load.draft is not None:
        _open_draft(parts, load)
    parts.cache = _read_split(parts, load) if load.split or load.split_mode == "tensor" else _read(parts, load)
    _attach(parts, load)
    say("stage", "warming")
    parts.generator = _generator(parts)
    parts.generator.warmup()
    if parts.adapters:
        parts.generator.set_loras(parts.adapters)
    say_memory(tensor for cache in parts.caches() for tensor in cache.all_tensors())


def _tokenizer(parts: Parts) -> Any:
    """Without the length to which prompts are cut or filled up, where the file has one from a training."""
    made = parts.library.ExLlamaV2Tokenizer(parts.config)
    made.tokenizer_model.hf_tokenizer.no_truncation()
    made.tokenizer_model.hf_tokenizer.no_padding()
    return made


def _size(parts: Parts, config: Any) -> None:
    """How long a text may be, and how much of it is computed at a time: the space for both is taken at the load."""
    config.max_seq_len = parts.context
    config.max_input_len = parts.batch
    config.max_attention_size = parts.batch**2


def _open_draft(parts: Parts, load: Load) -> None:
    config = _config(parts.library, draft_folder(load, chat_folder(load.model)))
    config.no_flash_attn = parts.config.no_flash_attn
    _size(parts, config)
    parts.drafts = int(load.extra.get("draft_tokens") or DRAFTS)
    say("draft", load.draft)
    say("draft_tokens", parts.drafts)
    parts.draft = parts.library.ExLlamaV2(config)
    parts.draft_cache = _lazy_cache(parts, parts.draft, load)
    parts.draft.load_autosplit(parts.draft_cache, callback=partial(say_step, "modules"))


def _cache_class(parts: Parts, load: Load) -> Any:
    return getattr(parts.library, _CACHES[cache_kinds(load)[0]])


def _lazy_cache(parts: Parts, model: Any, load: Load) -> Any:
    return _cache_class(parts, load)(model, max_seq_len=parts.context, lazy=True)


def _read(parts: Parts, load: Load) -> Any:
    """Layer after layer with its part of the cache, on one card after the other."""
    cache = _lazy_cache(parts, parts.model, load)
    told = [int(gib * _GIB) for gib in load.extra.get("reserve_gib", ())]
    reserve = told and told + [_RESERVE] * (len(allocated()) - len(told))
    parts.model.load_autosplit(cache, reserve_vram=reserve or None, callback=partial(say_step, "modules"))
    return cache


def _read_split(parts: Parts, load: Load) -> Any:
    """As the cards are to share it, by whole layers or by parts of each; the cache comes after."""
    split = list(load.split) if load.split else None
    told, kind = partial(say_step, "modules"), _cache_class(parts, load)
    if load.split_mode == "tensor":
        parts.model.load_tp(split, callback=told, expect_cache_tokens=parts.context, expect_cache_base=kind)
        return parts.library.ExLlamaV2Cache_TP(parts.model, base=kind, max_seq_len=parts.context)
    parts.model.load(split, callback=told)
    return kind(parts.model, max_seq_len=parts.context)


def _attach(parts: Parts, load: Load) -> None:
    for path, scale in scaled_adapters(load):
        config, weights = adapter_files(path)
        parts.adapters.append(parts.library.ExLlamaV2Lora(parts.model, str(config), str(weights), scale))
        say("adapters", path)


def _generator(parts: V2Parts) -> Any:
    return parts.generation.ExLlamaV2DynamicGenerator(
        parts.model,
        parts.cache,
        parts.tokenizer,
        max_batch_size=parts.slots,
        max_chunk_size=parts.batch,
        max_q_size=MOST_DRAFT_V2,
        draft_model=parts.draft,
        draft_cache=parts.draft_cache,
        num_draft_tokens=parts.drafts,
        paged=parts.paged,
    )
