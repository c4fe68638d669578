"""An answer held to a JSON schema or a grammar, by the package llguidance beside mlx-lm.

It names each keyword of a schema that it does not keep to, so that none is passed over in silence.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from copy import copy
from functools import cached_property
from importlib import import_module
from typing import Any

from weighbridge_engines.api import RequestRefused
from weighbridge_engines.installed import is_installed
from weighbridge_engines.schemas import FIELD, check_references

PACKAGE = "llguidance"
_OPTIONS = {"whitespace_pattern": r"[ \n]{0,20}"}
"""Between the parts of a JSON text: without a bound a small model writes spaces for ever."""


class Grammars:
    """What answers can be held to, for one tokenizer. `ends` are the tokens that end an answer."""

    def __init__(self, tokenizer: Any, ends: Collection[int]) -> None:
        self._tokenizer = tokenizer
        self._ends = frozenset(ends)

    def of_schema(self, schema: Mapping[str, Any]) -> Kept:
        """Raises RequestRefused, which names what an answer cannot be held to."""
        matcher = self._matcher(FIELD)
        check_references(schema)
        return self._kept(matcher.grammar_from_json_schema(json.dumps(schema), overrides=_OPTIONS), FIELD)

    def of_text(self, grammar: str) -> Kept:
        """`grammar` is GBNF. Raises RequestRefused where it is none."""
        matcher = self._matcher("grammar")
        convert = import_module("llguidance.gbnf_to_lark").gbnf_to_lark
        try:
            made = matcher.grammar_from_lark(convert(grammar))
        except (Exception, RecursionError) as error:  # the converter raises plain exceptions, too
            raise RequestRefused(f"this is no grammar: {error}"[:300], "grammar") from error
        return self._kept(made, "grammar")

    def _matcher(self, field: str) -> Any:
        if not is_installed(PACKAGE):
            raise RequestRefused(f"this needs the package {PACKAGE} beside mlx-lm", field)
        return import_module(PACKAGE).LLMatcher

    def _kept(self, grammar: str, field: str) -> Kept:
        matcher: Any = import_module(PACKAGE).LLMatcher
        if fault := matcher.validate_grammar(grammar, self._tokens):
            raise RequestRefused(f"an answer cannot be held to this: {fault}"[:300], field)
        return Kept(matcher(self._tokens, grammar), self._ends)

    @cached_property
    def _tokens(self) -> Any:
        """Raises RequestRefused where the tokenizer is of a kind that the package cannot read."""
        backend = copy(getattr(self._tokenizer, "backend_tokenizer", None))
        if backend is None:
            raise RequestRefused("this model's tokenizer cannot be held to a form", FIELD)
        backend.no_padding()
        backend.no_truncation()
        return import_module(PACKAGE).LLTokenizer(backend.to_str(), eos_token=sorted(self._ends))


class Kept:
    """Keeps one answer to its grammar: called by the library with the last token of the prompt and those of the answer,
    and with the logits of what may come next, before it is known whether a token that a draft proposed stays.
    """

    def __init__(self, matcher: Any, ends: Collection[int]) -> None:
        self._matcher = matcher
        self._ends = frozenset(ends)
        self._taken: list[int] = []

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """`logits`, endless below but for what the grammar allows."""
        answer: list[int] = tokens.tolist()[1:]
        if not self._ends.isdisjoint(answer):
            return logits  # computed ahead of time, and never used
        self._follow(answer)
        return self._masked(logits)

    def _follow(self, answer: list[int]) -> None:
        most = min(len(answer), len(self._taken))
        same = next((place for place in range(most) if answer[place] != self._taken[place]), most)
        if same < len(self._taken):
            self._matcher.rollback(len(self._taken) - same)
        if not self._matcher.consume_tokens(answer[same:]):
            raise RuntimeError(f"the answer left its grammar: {self._matcher.get_error()}")
        self._taken = answer

    def _masked(self, logits: Any) -> Any:
        core: Any = import_module("mlx.core")
        numpy: Any = import_module("numpy")
        size = logits.shape[-1]
        bits = numpy.unpackbits(numpy.frombuffer(self._matcher.compute_bitmask(), numpy.uint8), bitorder="little")
        allowed = numpy.zeros(size, numpy.bool_)
        allowed[: min(size, len(bits))] = bits[:size]
        return core.where(core.array(allowed), logits, -float("inf"))
