"""How `transformers serve` is held to a request: how tokens are chosen, and how long an answer may be.

Pure. Standard library only: it is imported by the server's own Python. A `config` is a `GenerationConfig`.
"""

from __future__ import annotations

from asyncio import QueueEmpty
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

SAMPLERS = ("temperature", "top_k", "top_p", "min_p", "typical_p")
"""What a request may say of the choice among tokens, by the names that both have for it."""

_LIMITS = ("max_completion_tokens", "max_tokens")
"""Two names for one thing, of which the first holds."""

TAKEN = frozenset(
    {*SAMPLERS, *_LIMITS, "repeat_penalty", "frequency_penalty", "presence_penalty", "seed", "logit_bias"}
)
"""Fields that are seen to here, and kept from the server: it takes no notice of some, or takes them for others."""

BANNED = -1e9
"""For a token that must not come: a bias that no logit makes up for."""

AT_ONCE = 4
"""The cache of answers that are computed together has room for so many whole contexts: by itself the server would take
most of the memory for it.
"""

EVERY_TOKEN = 1 << 30
"""More than any list of tokens has."""

_BATCHED: Mapping[str, Any] = {"temperature": 1.0, "top_k": EVERY_TOKEN, "top_p": 1.0}
_NOT_BATCHED = ("min_p", "typical_p", "repeat_penalty", "frequency_penalty", "presence_penalty", "seed", "logit_bias")


class NotInBatch(Exception):
    """Of a request, what cannot be followed where answers are computed together."""


class TooLong(Exception):
    """A prompt that leaves no room in the context. Both in tokens."""

    def __init__(self, prompt_tokens: int, context: int) -> None:
        super().__init__(prompt_tokens, context)
        self.prompt_tokens = prompt_tokens
        self.context = context


def choose(config: Any, asked: Mapping[str, Any]) -> None:
    """Have tokens chosen as `asked`: the model's own settings hold for what it leaves open, but whoever asks for a
    sampler has tokens sampled, also of a model whose settings do not.
    """
    told = {name: asked[name] for name in SAMPLERS if asked.get(name) is not None}
    if _is_greedy(told):
        config.do_sample = False
        told = dict.fromkeys(SAMPLERS)
    elif told:
        config.do_sample = True
    for name, value in told.items():
        setattr(config, name, value)
    if asked.get("repeat_penalty") is not None:
        config.repetition_penalty = float(asked["repeat_penalty"])
    if biases := dict(_pairs(asked.get("logit_bias"))):
        config.sequence_bias = biases


def choose_in_batch(config: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The same where answers are computed together: what holds for this one alone, with the model's own settings where
    it leaves something open. Raises NotInBatch for what such answers cannot have.
    """
    named = next((name for name in _NOT_BATCHED if asked.get(name) not in (None, _OFF.get(name))), None)
    if named is not None:
        raise NotInBatch(named)
    choose(config, asked)
    if not config.do_sample:
        return {**_BATCHED, "top_k": 1}
    told = {name: getattr(config, name, None) for name in _BATCHED}
    return {name: type(usual)(told[name] or usual) for name, usual in _BATCHED.items()}


def bound_batch(batch: Any, context: int | None) -> int | None:
    """Have the cache of a `batch`, a `ContinuousBatchingConfig`, hold AT_ONCE times `context`, unless it is told a
    share of the memory. How many tokens that are; None where it is not bounded.
    """
    if context is None or batch.num_blocks is not None or batch.max_memory_percent is not None:
        return None
    batch.num_blocks = AT_ONCE * -(-context // batch.page_size)
    return int(batch.num_blocks * batch.page_size)


def open_to_all(config: Any) -> None:
    """Have a batch sampled in each way that a request may choose: it is made once, with what `config` has."""
    config.do_sample, config.temperature, config.top_k, config.top_p = True, 0.5, 1, 0.5


_OFF: Mapping[str, float] = {
    "min_p": 0, "typical_p": 1, "repeat_penalty": 1, "frequency_penalty": 0, "presence_penalty": 0, "seed": -1,
}  # fmt: skip
"""The values at which one does nothing."""


def _is_greedy(told: Mapping[str, Any]) -> bool:
    """Whether only the likeliest token is left to choose."""
    return (
        told.get("temperature", 1) <= 0
        or told.get("top_k") == 1
        or told.get("top_p", 1) <= 0
        or told.get("min_p", 0) >= 1
    )


def _pairs(biases: Any) -> Sequence[tuple[tuple[int], float]]:
    """By token, or in pairs; False bans a token."""
    pairs = biases.items() if isinstance(biases, Mapping) else biases or ()
    return [((int(token),), BANNED if bias is False else float(bias)) for token, bias in pairs]


def limit(config: Any, asked: Mapping[str, Any], prompt_tokens: int, context: int | None) -> None:
    """Bound the answer by what is `asked`, and by the room that the prompt leaves in the `context` (None: no bound).

    Raises TooLong where it leaves none.
    """
    if context is not None and prompt_tokens >= context:
        raise TooLong(prompt_tokens, context)
    told = next((asked[name] for name in _LIMITS if asked.get(name) is not None), None)
    bounds = [told if told is not None and told >= 0 else None, None if context is None else context - prompt_tokens]
    most = min((bound for bound in bounds if bound is not None), default=None)
    if most is not None:
        config.max_new_tokens, config.max_length = most, None


class Cut:
    """Stands for the queue of an answer, without its stop text: it ends there, and `streamer` is told to.

    `pieces` (a `pieces.Pieces`) knows the stop texts. What is no plain text goes through as it is; None is the end.
    """

    def __init__(self, queue: Any, pieces: Any, streamer: Any) -> None:
        self._queue, self._pieces, self._streamer = queue, pieces, streamer
        self._told_end = False

    async def get(self) -> Any:
        """The next item."""
        return self._end() if self._pieces.stopped else self._cut(await self._queue.get())

    def get_nowait(self) -> Any:
        """The next item. Raises QueueEmpty where there is none."""
        if self._told_end:
            raise QueueEmpty
        return self._end() if self._pieces.stopped else self._cut(self._queue.get_nowait())

    def _end(self) -> None:
        self._told_end = True
        self._streamer.cancel()

    def _cut(self, item: Any) -> Any:
        if type(item) is str:
            return self._pieces.feed(item.encode("utf-8", "replace"))
        if item is None and (rest := self._pieces.rest()):
            self._queue.put_nowait(None)
            return rest
        return item


class Penalties:
    """A logits processor: what came often in the answer becomes less likely, as OpenAI's two penalties have it."""

    def __init__(self, prompt_tokens: int, frequency: float, presence: float) -> None:
        self._prompt_tokens = prompt_tokens
        self._frequency = frequency
        self._presence = presence

    def __call__(self, tokens: Any, scores: Any) -> Any:
        """`scores` of the next token after `tokens`, both with a row for each answer; they are changed."""
        for row, written in enumerate(tokens[:, self._prompt_tokens :].tolist()):
            for token, count in Counter(written).items():
                scores[row, token] -= self._frequency * count + self._presence
        return scores


def stops(asked: Mapping[str, Any]) -> list[str]:
    """The texts at which the answer ends."""
    told = asked.get("stop") or []
    return [told] if isinstance(told, str) else list(told)


def penalties(asked: Mapping[str, Any], prompt_tokens: int) -> list[Penalties]:
    """The penalties that are `asked` for."""
    frequency, presence = (float(asked.get(name) or 0) for name in ("frequency_penalty", "presence_penalty"))
    return [Penalties(prompt_tokens, frequency, presence)] if frequency or presence else []
