"""How exllamav3 loads: configuration, cache, draft, weights, adapters, generator, each told in the log."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from weighbridge_engines.api import Load
from weighbridge_engines.exl_batch import is_of_memory
from weighbridge_engines.exl_controls import BITS, cache_kinds, pages_of
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
from weighbridge_engines.exl_probe import EXL3

_GIB = 1 << 30
_STATES_MIB = 1024
"""Host memory for states of layers that cannot go back, for models with such. The library would take 4 GiB."""


@dataclass
class V3Parts(Parts):
    """Of exllamav3, whose generator has threads of its own."""

    def close(self) -> None:
        """Give everything back."""
        if self.generator is not None:
            self.generator.close()
        super().close()


def loaded_parts(load: Load) -> V3Parts:
    """Load. Raises Unsupported where no card can be used, and what the library raises; the log has how far it came."""
    library = imported(EXL3, load)
    config = library.Config.from_directory(str(chat_folder(load.model)))
    context = pages_of(load, config.max_position_embeddings)
    effective = {
        "slots": load.slots,
        "slot_context": context,
        "unified": True,
        "whole_window": bool(load.whole_window),
        "cpu_experts": load.cpu_experts or 0,
    }
    return opened(V3Parts(library, config, context, batch_of(load, context)), load, effective, _load)


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
    layers = (layer for cache in parts.caches() for layer in cache.layers.values())
    say_memory(tensor for layer in layers for tensor in layer.get_tensors())


def _open_draft(parts: Parts, load: Load) -> None:
    """A model of its own in a folder, or a head that predicts further tokens, in that folder or in the model's own."""
    head = load.draft_kind == "mtp"
    if load.draft is None and not head:
        return
    config = parts.config
    if load.draft is not None:
        config = parts.library.Config.from_directory(str(draft_folder(load, chat_folder(load.model))))
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
        use_per_device=_shares(load.split) if load.split else None,
        max_chunk_size=parts.batch,
        max_batch_size=load.slots,
        callback=partial(say_step, "modules"),
        **more,
    )


def _shares(split: Sequence[float]) -> list[float]:
    """What is left of the share of each card, in GiB: the library counts none of what a draft has taken before."""
    return [max(0.0, share - taken / _GIB) for share, taken in zip(split, allocated(), strict=False)]


def _attach(parts: Parts, load: Load) -> None:
    if not load.adapters:
        return
    lora: Any = import_module("exllamav3.model.lora")
    for path, scale in scaled_adapters(load):
        config, weights = adapter_files(path)
        parts.adapters.append(lora.LoRA(parts.model, str(config), str(weights), scale))
        say("adapters", path)


def _warm(parts: Parts, load: Load) -> None:
    """Kernels are chosen, and Triton's compiled, at their first use: before the generator has the cache, and not amid
    the first answer. The library prints which passes fail, and goes on; where memory ran out an answer would, too.
    """
    say("stage", "warming")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        failed = parts.model.warmup(
            cache=parts.cache,
            max_chunk_size=parts.batch,
            max_batch_size=load.slots,
            callback=partial(say_step, "warm_up"),
        )
    told = printed.getvalue()
    sys.stdout.write(told)
    if failed and is_of_memory(told):
        raise RuntimeError(told.strip())


def _generator(parts: Parts, load: Load) -> Any:
    usual_mib = _STATES_MIB if parts.model.caps.get("recurrent_states") else 0
    kept_mib = usual_mib if load.prompt_cache_mib is None else load.prompt_cache_mib
    say("prompt_cache_mib", kept_mib)
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
        recurrent_cache_size=kept_mib << 20,
    )
