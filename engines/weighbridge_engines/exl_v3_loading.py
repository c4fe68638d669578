"""How exllamav3 loads: configuration, cache, draft, weights, adapters, generator, each told in the log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

from weighbridge_engines.api import Load
from weighbridge_engines.exl_controls import BITS, DEFAULT_BATCH, PAGE, cache_kinds, pages_of
from weighbridge_engines.exl_folder import adapter_files, chat_folder, model_folder
from weighbridge_engines.exl_kernels import told_building
from weighbridge_engines.exl_log import say, say_step
from weighbridge_engines.exl_memory import say_memory
from weighbridge_engines.exl_probe import EXL3, check_cards

DRAFTS = 4
"""Tokens that are drafted at a time where the draft has no wish of its own (`Generator`)."""


@dataclass
class Parts:
    """What a load is made of, as far as it has come. `adapters` are kept because the model refers to them."""

    library: Any
    config: Any
    context: int
    batch: int
    model: Any = None
    cache: Any = None
    draft: Any = None
    draft_cache: Any = None
    drafts: int = 0
    tokenizer: Any = None
    generator: Any = None
    adapters: list[Any] = field(default_factory=list)

    def close(self) -> None:
        """Give everything back."""
        if self.generator is not None:
            self.generator.close()
        for model in (self.draft, self.model):
            if model is not None:
                model.unload()


def loaded_parts(load: Load) -> Parts:
    """Load. Raises Unsupported where no card can be used, and what the library raises; the log has how far it came."""
    say("stage", "starting")
    check_cards(EXL3)
    with told_building():
        library: Any = import_module("exllamav3")
    say("stage", "reading")
    config = library.Config.from_directory(str(chat_folder(load.model)))
    batch = (load.batch or DEFAULT_BATCH) // PAGE * PAGE
    parts = Parts(library, config, pages_of(load, config.max_position_embeddings), batch)
    _say_effective(parts, load)
    try:
        _load(parts, load)
    except BaseException:
        parts.close()
        raise
    return parts


def _say_effective(parts: Parts, load: Load) -> None:
    """Before a draft is told of, whose own values would follow."""
    keys, values = cache_kinds(load)
    told = {
        "context": parts.context,
        "slots": load.slots,
        "slot_context": parts.context,
        "unified": True,
        "batch": parts.batch,
        "key_type": load.key_type or keys,
        "value_type": load.value_type or values,
        "split_mode": load.split_mode or "layer",
        "whole_window": bool(load.whole_window),
        "cpu_experts": load.cpu_experts or 0,
        "prompt_cache_mib": load.prompt_cache_mib or 0,
    }
    for name, value in told.items():
        say(name, value)


def _load(parts: Parts, load: Load) -> None:
    parts.config.infer_params.moe_cpu_offload = load.cpu_experts or 0
    parts.model = parts.library.Model.from_config(parts.config, swa_full=bool(load.whole_window))
    parts.tokenizer = parts.library.Tokenizer.from_config(parts.config)
    _open_draft(parts, load)
    parts.cache = _cache(parts, parts.model, load)
    if parts.draft is not None:
        parts.draft_cache = _cache(parts, parts.draft, load)
        _read(parts, parts.draft, load, tensor_p=False)
    _read(parts, parts.model, load, tensor_p=load.split_mode == "tensor", draft_model=parts.draft)
    _attach(parts, load)
    _warm(parts, load)
    parts.generator = _generator(parts, load)
    say_memory(_cache_tensors(parts))


def _open_draft(parts: Parts, load: Load) -> None:
    """A model of its own in a folder, or a head that predicts further tokens, in that folder or in the model's own."""
    head = load.draft_kind == "mtp"
    if load.draft is None and not head:
        return
    config = parts.config
    if load.draft is not None:
        config = parts.library.Config.from_directory(str(model_folder(load.draft)))
    component = "mtp" if head else "text"
    parts.draft = parts.library.Model.from_config(config, component=component, swa_full=bool(load.whole_window))
    parts.drafts = int(load.extra.get("draft_tokens") or parts.draft.caps.get("default_draft_size", DRAFTS))
    say("draft", load.draft or load.model)
    say("draft_kind", load.draft_kind)
    say("draft_tokens", parts.drafts)


def _cache(parts: Parts, model: Any, load: Load) -> Any:
    """Made before the model is read, which sets its memory aside. A model whose state cannot go back keeps so much
    history as a draft may have to take back.
    """
    keys, values = cache_kinds(load)
    kind: dict[str, Any] = {"layer_type": parts.library.CacheLayer_fp16}
    if keys != "f16":
        kind = {"layer_type": parts.library.CacheLayer_quant, "k_bits": BITS[keys], "v_bits": BITS[values]}
    return parts.library.Cache(
        model, max_num_tokens=parts.context, max_batch_size=load.slots, max_history=parts.drafts, **kind
    )


def _read(parts: Parts, model: Any, load: Load, **more: Any) -> None:
    reserve = load.extra.get("reserve_gib")
    model.load(
        reserve_per_device=list(reserve) if reserve else None,
        use_per_device=list(load.split) if load.split else None,
        max_chunk_size=parts.batch,
        max_batch_size=load.slots,
        callback=partial(say_step, "modules"),
        **more,
    )


def _attach(parts: Parts, load: Load) -> None:
    if not load.adapters:
        return
    lora: Any = import_module("exllamav3.model.lora")
    for path, scale in zip(load.adapters, load.adapter_scales or (1.0,) * len(load.adapters), strict=True):
        config, weights = adapter_files(path)
        parts.adapters.append(lora.LoRA(parts.model, str(config), str(weights), scale))
        say("adapters", path)


def _warm(parts: Parts, load: Load) -> None:
    """Kernels are chosen, and Triton's compiled, at their first use: before the generator has the cache, and not amid
    the first answer.
    """
    say("stage", "warming")
    parts.model.warmup(
        cache=parts.cache,
        max_chunk_size=parts.batch,
        max_batch_size=load.slots,
        callback=partial(say_step, "warm_up"),
    )


def _generator(parts: Parts, load: Load) -> Any:
    return parts.library.Generator(
        parts.model,
        parts.cache,
        parts.tokenizer,
        max_batch_size=load.slots,
        max_chunk_size=parts.batch,
        draft_model=parts.draft,
        draft_cache=parts.draft_cache,
        num_draft_tokens=parts.drafts or None,
        cpu_cache_size=(load.prompt_cache_mib or 0) << 20,
    )


def _cache_tensors(parts: Parts) -> Iterator[Any]:
    for cache in (parts.cache, parts.draft_cache):
        if cache is not None:
            for layer in cache.layers.values():
                yield from layer.get_tensors()
