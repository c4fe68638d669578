"""What a load by either ExLlama library is made of, and what is the same in both: how it begins, what is looked at
first, what it took of each card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from weighbridge_engines.api import Cause, Load, Unsupported
from weighbridge_engines.exl_controls import DEFAULT_BATCH, PAGE, cache_kinds
from weighbridge_engines.exl_folder import model_folder, vocabulary
from weighbridge_engines.exl_kernels import told_building
from weighbridge_engines.exl_log import say, say_problem
from weighbridge_engines.exl_probe import Library, check_cards

DRAFTS = 4
"""Tokens that are drafted at a time where nobody has another wish."""


@dataclass
class Parts:
    """As far as it has come. `adapters` are kept because the model refers to them."""

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
        for model in (self.draft, self.model):
            if model is not None:
                model.unload()

    def caches(self) -> Iterator[Any]:
        """That of the model and that of its draft, as far as they are there."""
        return (cache for cache in (self.cache, self.draft_cache) if cache is not None)


AnyParts = TypeVar("AnyParts", bound=Parts)


def imported(library: Library, load: Load) -> Any:
    """The package. Raises Unsupported where no card can be used, or others are named than are here; the log has why."""
    say("stage", "starting")
    check_cards(library)
    refuse(more_than_cards(load, _cards()))
    with told_building():
        package: Any = import_module(library.package)
    say("stage", "reading")
    return package


def opened(
    parts: AnyParts, load: Load, effective: Mapping[str, object], read: Callable[[AnyParts, Load], object]
) -> AnyParts:
    """`parts` after `read`, or closed where that fails. What is `effective`, and the same in both libraries, is told
    before a draft is, whose own values would follow.
    """
    keys, values = cache_kinds(load)
    types = {"key_type": load.key_type or keys, "value_type": load.value_type or values}
    shared = {"context": parts.context, "batch": parts.batch, "split_mode": load.split_mode or "layer"}
    for name, value in {**shared, **types, **effective}.items():
        say(name, value)
    try:
        read(parts, load)
    except BaseException:
        parts.close()
        raise
    return parts


def refuse(cause: Cause | None) -> None:
    """Raise Unsupported for `cause`, which is told in the log, where there is one."""
    if cause is not None:
        say_problem(cause)
        raise Unsupported(cause)


def more_than_cards(load: Load, cards: int) -> Cause | None:
    """Why what is told of each card does not go with as many as are here: libraries leave such numbers out, or fail."""
    for name, told in (("split", load.split), ("reserve_gib", load.extra.get("reserve_gib"))):
        if told and len(told) > cards:
            return Cause("exl.fewer_cards", {"name": name, "told": len(told), "cards": cards})
    return None


def batch_of(load: Load, context: int) -> int:
    """Tokens that are computed at a time, in whole pages: a cache holds no more of them than it has cells."""
    return min((load.batch or DEFAULT_BATCH) // PAGE * PAGE, context)


def draft_folder(load: Load, model: Path) -> Path:
    """The folder of the draft that `load` names for the model in the folder `model`. Raises Unsupported where it is
    gone, or has other tokens by the same numbers, which neither library looks at.
    """
    try:
        folder = model_folder(str(load.draft))
    except FileNotFoundError:
        refuse(Cause("engine.no_draft_file", {"path": str(load.draft)}))
        raise
    words, others = vocabulary(model), vocabulary(folder)
    if words and others and words != others:
        refuse(Cause("engine.draft_mismatch"))
    return folder


def scaled_adapters(load: Load) -> Iterable[tuple[str, float]]:
    """The adapters with how strongly each acts."""
    return zip(load.adapters, load.adapter_scales or (1.0,) * len(load.adapters), strict=True)


def _cards() -> int:
    torch: Any = import_module("torch")
    return int(torch.cuda.device_count())


def allocated() -> Sequence[int]:
    """What PyTorch holds of each card for this process, in bytes."""
    torch: Any = import_module("torch")
    return [int(torch.cuda.memory_allocated(card)) for card in range(torch.cuda.device_count())]


def say_memory(cache_tensors: Iterable[Any]) -> None:
    """Of each card, what is held of it: the cache's tensors, and all else, which are weights and buffers."""
    held: dict[int, int] = {}
    for tensor in cache_tensors:
        if tensor is not None and tensor.device.type == "cuda":
            held[tensor.device.index] = held.get(tensor.device.index, 0) + tensor.nbytes
    for card, taken in enumerate(allocated()):
        cache = held.get(card, 0)
        if taken:
            say("memory", f"cuda:{card} weights {max(0, taken - cache)} cache {cache}")
