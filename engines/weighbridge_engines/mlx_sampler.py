"""How one answer's tokens are chosen: mlx-lm's samplers and penalties, for what a request asks.

What is not asked for is as in llama.cpp's server, so that a model answers alike by both engines.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from weighbridge_engines.api import RequestRefused
from weighbridge_engines.mlx_controls import MOST_XTC, SAMPLED
from weighbridge_engines.sampling import NUMBERS

Processor = Callable[[Any, Any], Any]

DEFAULTS: Mapping[str, float] = {control.name: control.default for control in NUMBERS}
_RANDOM = 1 << 32
_FULL = 1e-9
"""The share that leaves the likeliest token alone: 0 turns the library's filter off."""

_WITH_OTHERS = frozenset(
    {
        "dynatemp_exponent", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "mirostat_tau", "mirostat_eta",
        "adaptive_decay",
    }
)  # fmt: skip
"""What does nothing where what it belongs to is off."""


def check_sampling(sampling: Mapping[str, float]) -> None:
    """Raise RequestRefused for what the library has no sampler for, unless it is off."""
    for name, value in sampling.items():
        if name in SAMPLED | _WITH_OTHERS or value == DEFAULTS[name] or (value < 0 and DEFAULTS[name] < 0):
            continue
        raise RequestRefused(f"this engine has no {name}", name)


def sampler(values: Mapping[str, float], vocabulary_size: int) -> Callable[[Any], Any]:
    """The library's, for `values` by a request's names, which are whole. It begins with the seed."""
    seed = int(values["seed"])
    import_module("mlx.core").random.seed(seed if seed >= 0 else random.randrange(_RANDOM))
    top_k = int(values["top_k"])
    threshold = values["xtc_threshold"]
    made: Callable[[Any], Any] = import_module("mlx_lm.sample_utils").make_sampler(
        temp=values["temperature"],
        top_p=values["top_p"] or _FULL,
        min_p=values["min_p"],
        min_tokens_to_keep=max(1, int(values["min_keep"])),
        top_k=top_k if top_k < vocabulary_size else 0,
        xtc_probability=values["xtc_probability"] if threshold <= MOST_XTC else 0.0,
        xtc_threshold=min(threshold, MOST_XTC),
    )
    return made


def processors(values: Mapping[str, float], biases: Mapping[int, float], heard: Sequence[int]) -> list[Processor]:
    """What is done to logits before: `biases` are added, and what came before is made less likely, as `values` say.

    `heard` are all tokens of the prompt; the library itself sees no more than its last one.
    """
    utilities = import_module("mlx_lm.sample_utils")
    last = int(values["repeat_last_n"])
    penalties = utilities.make_logits_processors(
        repetition_penalty=values["repeat_penalty"] if values["repeat_penalty"] != 1 else None,
        repetition_context_size=last,
        presence_penalty=values["presence_penalty"],
        presence_context_size=last,
        frequency_penalty=values["frequency_penalty"],
        frequency_context_size=last,
    )
    biased = utilities.make_logits_processors(logit_bias=dict(biases))
    return [*biased, *([_hearing(penalties, heard[-last - 1 : -1])] if penalties and last else [])]


def _hearing(penalties: Sequence[Processor], heard: Sequence[int]) -> Processor:
    """`penalties` that see `heard` before the tokens that the library tells."""
    core: Any = import_module("mlx.core")
    before = core.array(list(heard), dtype=core.int32)

    def penalise(tokens: Any, logits: Any) -> Any:
        seen = core.concatenate([before, tokens.astype(core.int32)])
        for penalty in penalties:
            logits = penalty(seen, logits)
        return logits

    return penalise


def in_full(tokens: Any, logits: Any) -> Any:
    """Logits in single precision, for probabilities that are told or looked at closely."""
    del tokens
    return logits.astype(import_module("mlx.core").float32)


def bans(tokens: Sequence[int]) -> Mapping[int, float]:
    """Biases with which none of `tokens` is ever chosen."""
    return dict.fromkeys(tokens, -math.inf)
