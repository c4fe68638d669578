"""Jobs for a model that exllamav2 has loaded: prompts as tokens, and its samplers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from weighbridge_engines.api import Load, Request, RequestRefused, TokenLogprob
from weighbridge_engines.exl_controls import SAMPLERS_V2, check_biases
from weighbridge_engines.exl_v2_loading import loaded_parts
from weighbridge_engines.library_sampling import check_penalty, chosen, is_greedy

_STEP = 32
"""The width of the table of logits is a whole number of these."""

SHORTEST_DRY = 21
"""Its DRY wants to look at more tokens than its longest repetition (`dry_max_ngram`)."""


class V2Model:
    """Loads at once. Steps of `generator` are for one thread; any may ask for the rest.

    The pages of an answer are set aside when it begins: each slot has its share of the cache, unless answers are to
    wait for each other.
    """

    def __init__(self, load: Load) -> None:
        self._parts = loaded_parts(load)
        self.generator = self._parts.generator
        self.context = self._parts.share(load)

    def close(self) -> None:
        """Give everything back."""
        self._parts.close()

    def tokens(self, text: str) -> Any:
        """The tokens of a rendered prompt, special ones by their names; a template writes the first one itself."""
        return self._parts.tokenizer.encode(text, add_bos=False, encode_special_tokens=True)

    def room(self, prompt_tokens: int) -> int:
        """How many tokens an answer can have."""
        return self.context - prompt_tokens - self._parts.drafts

    def job(self, tokens: Any, request: Request, most: int) -> Any:
        """An answer of `most` tokens at most, not begun. Raises RequestRefused.

        The library ends an answer as many tokens early as it drafts.
        """
        asked = chosen(request.sampling, SAMPLERS_V2)
        check_penalty(asked)
        return self._parts.generation.ExLlamaV2DynamicJob(
            tokens,
            max_new_tokens=most + self._parts.drafts,
            min_new_tokens=most if request.ignore_eos else 0,
            gen_settings=self._settings(asked, request.logit_bias),
            seed=None if asked["seed"] < 0 else int(asked["seed"]),
            stop_conditions=[*self._ends(), *request.stop],
        )

    def logprobs(self, result: Mapping[str, Any]) -> Sequence[TokenLogprob]:
        """None: the library tells how likely a token was after sampling alone."""
        del result
        return ()

    def _ends(self) -> list[int]:
        """The tokens that end an answer, as the tokenizer and the model's own file for generation name them."""
        told = getattr(self._parts.config, "generation_config", {}).get("eos_token_id") or []
        return sorted({token for token in (self._parts.tokenizer.eos_token_id, *told) if token is not None})

    def _settings(self, asked: Mapping[str, float], biases: Mapping[int, float]) -> Any:
        """The library's defaults are none of ours: each value is told."""
        settings = self._parts.generation.ExLlamaV2Sampler.Settings(
            **_chances(asked), **_penalties(asked), temperature_last=True
        )
        if biases:
            settings.token_bias = self._biases(biases)
        return settings

    def _biases(self, biases: Mapping[int, float]) -> Any:
        torch: Any = import_module("torch")
        vocabulary_size = self._parts.config.vocab_size
        check_biases(biases, vocabulary_size)
        table = torch.zeros((-(-vocabulary_size // _STEP) * _STEP,), dtype=torch.float)
        for token, bias in biases.items():
            table[token] = bias
        return table


def _chances(asked: Mapping[str, float]) -> dict[str, float | int]:
    """What narrows the choice. A temperature of 0 always takes the likeliest token."""
    greedy = is_greedy(asked)
    temperature, spread = asked["temperature"], asked["dynatemp_range"]
    return {
        "temperature": 1.0 if greedy else temperature,
        "top_k": 1 if greedy else int(asked["top_k"]),
        "top_p": 0.0 if greedy else asked["top_p"],
        "min_p": 0.0 if greedy else asked["min_p"],
        "typical": 0.0 if greedy or asked["typical_p"] >= 1 else asked["typical_p"],
        "min_temp": max(0.0, temperature - spread) if spread and not greedy else 0.0,
        "max_temp": temperature + spread if spread and not greedy else 0.0,
        "temp_exponent": asked["dynatemp_exponent"],
        "xtc_probability": 0.0 if greedy else asked["xtc_probability"],
        "xtc_threshold": asked["xtc_threshold"],
    }


def _penalties(asked: Mapping[str, float]) -> dict[str, float | int]:
    """What tokens before cost. To look at none of them is no penalty; to the library it would be all."""
    window, dry_window = int(asked["repeat_last_n"]), int(asked["dry_penalty_last_n"])
    dry = asked["dry_multiplier"] if dry_window else 0.0
    if dry and dry_window < SHORTEST_DRY:
        raise RequestRefused(f"DRY looks at {SHORTEST_DRY} tokens here at least", "dry_penalty_last_n")
    return {
        "token_repetition_penalty": asked["repeat_penalty"] if window else 1.0,
        "token_repetition_range": window or -1,
        "token_repetition_decay": 0,
        "token_frequency_penalty": asked["frequency_penalty"] if window else 0.0,
        "token_presence_penalty": asked["presence_penalty"] if window else 0.0,
        "dry_multiplier": dry,
        "dry_base": asked["dry_base"],
        "dry_allowed_length": int(asked["dry_allowed_length"]),
        "dry_range": dry_window,
    }
