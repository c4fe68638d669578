"""Jobs for a model that exllamav3 has loaded: prompts as tokens, samplers, schemas, probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from weighbridge_engines.api import Load, Request, RequestRefused, TokenLogprob
from weighbridge_engines.exl_controls import SAMPLERS_V3, check_biases
from weighbridge_engines.exl_v3_loading import loaded_parts
from weighbridge_engines.library_sampling import check_penalty, chosen, is_greedy
from weighbridge_engines.schemas import FIELD, check_references

ROUND = 2048
"""Tokens of an answer for which pages are set aside at a time where several answers share the cache."""

_OF_THE_LIBRARY = "x-guidance"
"""A keyword by which a schema could tell the library to pass over what it does not know."""

_LEAST_LOG = math.log(1e-45)
"""Of about the smallest number above nothing in 32 bits: what is less is told as this."""


class V3Model:
    """Loads at once. Steps of `generator` are for one thread; any may ask for the rest."""

    def __init__(self, load: Load) -> None:
        self._parts = loaded_parts(load)
        self._shared = load.slots > 1
        self.generator = self._parts.generator
        self.context: int = self._parts.context

    def close(self) -> None:
        """Give everything back."""
        self._parts.close()

    def tokens(self, text: str) -> Any:
        """The tokens of a rendered prompt, special ones by their names; a template writes the first one itself."""
        return self._parts.tokenizer.encode(text, add_bos=False, encode_special_tokens=True)

    def room(self, prompt_tokens: int) -> int:
        """How many tokens an answer can have."""
        return self.context - prompt_tokens - 1 - self._parts.drafts

    def job(self, tokens: Any, request: Request, most: int) -> Any:
        """An answer of `most` tokens at most, not begun. Raises RequestRefused."""
        asked = chosen(request.sampling, SAMPLERS_V3)
        check_penalty(asked)
        check_biases(request.logit_bias, self._parts.config.vocab_size)
        ends = [*self._parts.config.eos_token_id_list, *request.stop]
        return self._parts.library.Job(
            tokens,
            max_new_tokens=most,
            min_new_tokens=most if request.ignore_eos else 0,
            sampler=self._sampler(asked, request.logit_bias),
            seed=None if asked["seed"] < 0 else int(asked["seed"]),
            stop_conditions=ends,
            return_probs=request.logprobs is not None,
            return_top_tokens=request.logprobs or 0,
            filters=self._filters(request.schema),
            max_rq_tokens=ROUND if self._shared else None,
        )

    def _filters(self, schema: Mapping[str, Any] | None) -> list[Any]:
        """llguidance refuses by name what it cannot hold an answer to."""
        if schema is None:
            return []
        if _OF_THE_LIBRARY in schema:
            raise RequestRefused(f"a schema has no {_OF_THE_LIBRARY} here", FIELD)
        try:
            made = self._parts.library.LLGuidanceFilter(
                self._parts.tokenizer, eos_after_completed=True, json_schema=dict(schema)
            )
        except ValueError as error:
            raise RequestRefused(f"the schema cannot be kept to here: {error}"[:300], FIELD) from error
        check_references(schema)
        return [made]

    def _sampler(self, asked: Mapping[str, float], biases: Mapping[int, float]) -> Any:
        """The samplers in the library's own order, temperature last; those that ask for nothing it leaves out."""
        library = self._parts.library
        window = int(asked["repeat_last_n"])
        dry = asked["dry_multiplier"] if asked["dry_penalty_last_n"] else 0.0
        steps = [
            library.SS_LogitBias(dict(biases)),
            library.SS_RepP(asked["repeat_penalty"], window, 0),
            library.SS_PresFreqP(asked["presence_penalty"], asked["frequency_penalty"], window, 0),
            library.SS_DRY(dry, asked["dry_base"], int(asked["dry_allowed_length"]), int(asked["dry_penalty_last_n"])),
        ]
        return library.CustomSampler(steps + self._choice(asked))

    def _choice(self, asked: Mapping[str, float]) -> list[Any]:
        library = self._parts.library
        if is_greedy(asked):
            return [library.SS_Argmax()]
        steps = [
            library.SS_MinP(asked["min_p"]),
            library.SS_TopK(int(asked["top_k"])),
            library.SS_TopP(asked["top_p"]),
            library.SS_XTC(asked["xtc_probability"], asked["xtc_threshold"], tokenizer=self._parts.tokenizer),
            library.SS_Temperature(asked["temperature"]),
        ]
        adaptive = asked["adaptive_target"] >= 0
        last = library.SS_AdaptiveP(asked["adaptive_target"], asked["adaptive_decay"]) if adaptive else None
        return [*steps, last or library.SS_Sample()]

    def logprobs(self, result: Mapping[str, Any]) -> Sequence[TokenLogprob]:
        """How likely each token of a result was before sampling, and the likeliest in its place."""
        if "token_probs" not in result:
            return ()
        tokens, chances = result["token_ids"][0].tolist(), result["token_probs"][0].tolist()
        if "top_k_tokens" in result:
            likely = zip(result["top_k_tokens"][0].tolist(), result["top_k_probs"][0].tolist(), strict=True)
            others = [tuple(zip(*pair, strict=True)) for pair in likely]
        else:
            others = [()] * len(tokens)
        return [
            TokenLogprob(self._piece(token), _log(chance), [(self._piece(one), _log(its)) for one, its in beside])
            for token, chance, beside in zip(tokens, chances, others, strict=True)
        ]

    def _piece(self, token: int) -> bytes:
        pieces = self._parts.tokenizer.get_id_to_piece_list(True)
        text: str = pieces[token] if token < len(pieces) else ""
        return text.encode("utf-8", "replace")


def _log(chance: float) -> float:
    return math.log(chance) if chance > 0 else _LEAST_LOG
