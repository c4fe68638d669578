"""How one answer's tokens are chosen: llama.cpp's samplers in its server's order, and a grammar where one is asked for.

What is not asked for is as in llama.cpp's server, so that a model answers alike by both engines.
"""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from weighbridge_engines.api import RequestRefused, TokenLogprob
from weighbridge_engines.llama_cpp_model import DecodeFailed, LlamaModel
from weighbridge_engines.sampling import NUMBERS

DEFAULTS: Mapping[str, float] = {control.name: control.default for control in NUMBERS}
BREAKERS = (b"\n", b":", b'"', b"*")
"""What ends a repetition for DRY, as in llama.cpp."""

MIROSTAT_M = 100
_RANDOM = 1 << 32


class Sampler:
    """Chooses the tokens of one answer; close it.

    `heard` are the tokens before, which penalties look at. `grammar` is GBNF; raises RequestRefused, with `field`,
    where the library does not know it.
    """

    def __init__(
        self,
        model: LlamaModel,
        asked: Mapping[str, float],
        heard: Sequence[int],
        biases: Mapping[int, float],
        grammar: str | None = None,
        field: str = "grammar",
    ) -> None:
        self._model = model
        self._library = library = model.library
        self._values = {**DEFAULTS, **asked}
        self._chain = library.llama_sampler_chain_init(library.llama_sampler_chain_default_params())
        self._grammar = None
        try:
            self._grammar = None if grammar is None else grammar_sampler(model, grammar, field)
            self._fill(biases)
        except BaseException:
            self.close()
            raise
        for token in heard[-self._lookback :] if self._lookback else ():
            library.llama_sampler_accept(self._chain, token)

    @property
    def _lookback(self) -> int:
        """How many tokens before matter."""
        values = self._values
        penal = values["repeat_penalty"] != 1 or values["frequency_penalty"] or values["presence_penalty"]
        dry = values["dry_penalty_last_n"] if values["dry_multiplier"] else 0
        return int(max(values["repeat_last_n"] if penal else 0, dry))

    def next(self) -> int:
        """The next token of the answer."""
        if self._grammar is None:
            return self._model.sample(self._chain)
        logits = self._model.logits()[0]
        token = self._chosen(logits)
        if not self._allowed(token):
            token = self._chosen(self._kept_to(logits))
        self._library.llama_sampler_accept(self._grammar, token)
        self._library.llama_sampler_accept(self._chain, token)
        return token

    def logprob(self, token: int, most: int) -> TokenLogprob:
        """How likely `token` was to be next, and the `most` that were likeliest."""
        numpy: Any = import_module("numpy")
        logprobs = log_softmax(self._model.logits()[0])
        best = numpy.argpartition(-logprobs, range(most))[:most] if most else ()
        likeliest = tuple((self._model.name(int(one)), float(logprobs[one])) for one in best)
        return TokenLogprob(self._model.name(token), float(logprobs[token]), likeliest)

    def close(self) -> None:
        """Give the library's samplers back."""
        for sampler in (self._chain, self._grammar):
            if sampler is not None:
                self._library.llama_sampler_free(sampler)
        self._chain = self._grammar = None

    def _add(self, sampler: Any) -> None:
        self._library.llama_sampler_chain_add(self._chain, sampler)

    def _fill(self, biases: Mapping[int, float]) -> None:
        library, values = self._library, self._values
        seed = int(values["seed"]) if values["seed"] >= 0 else random.randrange(_RANDOM)
        if biases:
            self._add(bias_sampler(self._model, biases))
        if values["repeat_penalty"] != 1 or values["frequency_penalty"] or values["presence_penalty"]:
            self._add(self._penalties())
        if values["dry_multiplier"]:
            self._add(self._dry())
        if values["temperature"] <= 0:
            self._add(library.llama_sampler_init_greedy())
        elif values["mirostat"]:
            self._add(library.llama_sampler_init_temp(values["temperature"]))
            self._add(self._mirostat(seed))
        else:
            self._fill_usual(seed)

    def _fill_usual(self, seed: int) -> None:
        library, values = self._library, self._values
        least = int(values["min_keep"])
        if values["top_n_sigma"] > 0:
            self._add(library.llama_sampler_init_top_n_sigma(values["top_n_sigma"]))
        if values["top_k"]:
            self._add(library.llama_sampler_init_top_k(int(values["top_k"])))
        for name, made in (("typical_p", "typical"), ("top_p", "top_p"), ("min_p", "min_p")):
            self._add(getattr(library, f"llama_sampler_init_{made}")(values[name], least))
        if values["xtc_probability"]:
            self._add(library.llama_sampler_init_xtc(values["xtc_probability"], values["xtc_threshold"], least, seed))
        self._add(
            library.llama_sampler_init_temp_ext(
                values["temperature"], values["dynatemp_range"], values["dynatemp_exponent"]
            )
        )
        if values["adaptive_target"] >= 0:
            self._add(library.llama_sampler_init_adaptive_p(values["adaptive_target"], values["adaptive_decay"], seed))
        else:
            self._add(library.llama_sampler_init_dist(seed))

    def _penalties(self) -> Any:
        values = self._values
        return self._library.llama_sampler_init_penalties(
            self._model.vocabulary_size,
            int(values["repeat_last_n"]),
            values["repeat_penalty"],
            values["frequency_penalty"],
            values["presence_penalty"],
        )

    def _dry(self) -> Any:
        values = self._values
        return self._library.llama_sampler_init_dry(
            self._model.vocabulary,
            values["dry_multiplier"],
            values["dry_base"],
            int(values["dry_allowed_length"]),
            int(values["dry_penalty_last_n"]),
            (ctypes.c_char_p * len(BREAKERS))(*BREAKERS),
            len(BREAKERS),
        )

    def _mirostat(self, seed: int) -> Any:
        tau, eta = self._values["mirostat_tau"], self._values["mirostat_eta"]
        if self._values["mirostat"] == 1:
            size = self._model.vocabulary_size
            return self._library.llama_sampler_init_mirostat(size, seed, tau, eta, MIROSTAT_M)
        return self._library.llama_sampler_init_mirostat_v2(seed, tau, eta)

    # With a grammar the tokens are laid out for the samplers here: what the grammar forbids must be seen before the
    # library is told of a token, for it ends the process at one that the grammar does not know.

    def _chosen(self, logits: Any) -> int:
        table = _Table(self._library, logits)
        self._library.llama_sampler_apply(self._chain, ctypes.byref(table.head))
        return table.selected()

    def _allowed(self, token: int) -> bool:
        numpy: Any = import_module("numpy")
        table = _Table(self._library, numpy.zeros(1, numpy.float32), token)
        self._library.llama_sampler_apply(self._grammar, ctypes.byref(table.head))
        return math.isfinite(table.rows["logit"][0])

    def _kept_to(self, logits: Any) -> Any:
        """The logits, endless below but for what the grammar allows. Raises DecodeFailed where that is nothing."""
        table = _Table(self._library, logits)
        self._library.llama_sampler_apply(self._grammar, ctypes.byref(table.head))
        kept = table.rows["logit"]
        if not (kept > -math.inf).any():
            raise DecodeFailed("no token goes on with the grammar")
        return kept


class _Table:
    """Tokens with their logits, laid out as the library's samplers take them."""

    def __init__(self, library: Any, logits: Any, first: int = 0) -> None:
        numpy: Any = import_module("numpy")
        self.rows = numpy.empty(len(logits), [("id", numpy.int32), ("logit", numpy.float32), ("p", numpy.float32)])
        self.rows["id"] = numpy.arange(first, first + len(logits))
        self.rows["logit"] = logits
        self.rows["p"] = 0
        data = self.rows.ctypes.data_as(library.llama_token_data_p)
        self.head = library.llama_token_data_array(data, len(logits), -1, False)

    def selected(self) -> int:
        """What the samplers have chosen."""
        return int(self.head.data[self.head.selected].id)


def grammar_sampler(model: LlamaModel, grammar: str, field: str) -> Any:
    """The library's sampler for `grammar`. Raises RequestRefused where it does not know it."""
    text = grammar.encode("utf-8", "replace").replace(b"\0", b"")
    sampler = model.library.llama_sampler_init_grammar(model.vocabulary, text, b"root")
    if not sampler:
        raise RequestRefused("the engine does not know this grammar", field)
    return sampler


def bias_sampler(model: LlamaModel, biases: Mapping[int, float]) -> Any:
    """The library's sampler that adds to logits. Raises RequestRefused for a token that the model does not have."""
    for token in biases:
        if token >= model.vocabulary_size:
            raise RequestRefused(f"there is no token {token}", "logit_bias")
    library, count = model.library, len(biases)
    rows = (library.llama_logit_bias * count)(*(library.llama_logit_bias(*pair) for pair in biases.items()))
    return library.llama_sampler_init_logit_bias(model.vocabulary_size, count, rows)


def log_softmax(logits: Any) -> Any:
    """Natural logarithms of probabilities, in double precision, along the last axis."""
    numpy: Any = import_module("numpy")
    wide = logits.astype(numpy.float64)
    wide = wide - wide.max(axis=-1, keepdims=True)
    return wide - numpy.log(numpy.exp(wide).sum(axis=-1, keepdims=True))
