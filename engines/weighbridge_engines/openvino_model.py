"""A model that OpenVINO GenAI has loaded: its tokens, its text, and answers in the making. For one thread."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from weighbridge_engines.api import ContextExceeded, Load
from weighbridge_engines.openvino_device import CPU
from weighbridge_engines.openvino_library import imported
from weighbridge_engines.openvino_settings import (
    DEFAULT_CONTEXT,
    block_of,
    device_of,
    properties,
    scheduling,
    threads_of,
)
from weighbridge_engines.session_log import tell

_WEIGHTS = (".bin", ".gguf")
_ONE_TOKEN = {"max_new_tokens": 1}
_LEAST_PART = 256
"""Characters of a text that are counted at a time, at least."""


class CacheFull(Exception):
    """The library has given an answer up, for its KV cache has no room left."""


class OpenVinoModel:
    """Over the library's pipeline that batches requests, for it can be asked for one step at a time.

    A step that fails leaves that pipeline unable to go on: it is `broken` until `renew`.
    """

    def __init__(self, load: Load) -> None:
        self._library: Any = imported("openvino_genai")
        self._load = load
        self._requests = 0
        self.broken = False
        self._loaded = False
        self.context = load.context or DEFAULT_CONTEXT
        self._scheduling = scheduling(load, self.context, weights_bytes(Path(load.model)))
        self.batch: int = self._scheduling["max_num_batched_tokens"]
        self._open()
        self._loaded = True
        self._tell()

    def _open(self) -> None:
        library, load = self._library, self._load
        self._enter("reading")
        if Path(load.model).suffix == ".gguf":
            sys.stderr.write("openvino: the GGUF file is made into OpenVINO's own form, at each load anew\n")
        self._enter("weights")
        scheduler = library.SchedulerConfig()
        for name, value in self._scheduling.items():
            setattr(scheduler, name, value)
        self._pipeline = library.ContinuousBatchingPipeline(load.model, scheduler, device_of(load), properties(load))
        self._tokenizer: Any = self._pipeline.get_tokenizer()
        usual = self._pipeline.get_config()
        self.ends = frozenset({*usual.stop_token_ids, usual.eos_token_id})
        self._enter("warming")
        self._pipeline.generate([self._encoded("a")], [library.GenerationConfig(**_ONE_TOKEN)])
        self.broken = False

    def _enter(self, stage: str) -> None:
        """Tell the stage of the load; what is loaded anew later is no load."""
        if not self._loaded:
            tell(stage=stage)

    def _tell(self) -> None:
        """On a processor nothing of the cache: it has its room from the start, and takes it as it is filled."""
        tell(context=self.context, batch=self.batch, slots=1)
        if (device := device_of(self._load)) == CPU:
            tell(threads=threads_of(self._load))
        else:
            tell(unused="threads")
            tell(kv_bytes=self._pipeline.get_metrics().kv_cache_size_in_bytes, device=device)

    def close(self) -> None:
        """Give everything back."""
        self._pipeline = self._tokenizer = None

    @property
    def kept_tokens(self) -> int:
        """How many tokens the KV cache has room for."""
        blocks: int = self._scheduling["num_kv_blocks"]
        return blocks * self.block

    @property
    def block(self) -> int:
        """Tokens of one block of the KV cache."""
        return block_of(self._load)

    @property
    def template(self) -> str | None:
        """The chat template that came with the model."""
        return self._tokenizer.get_original_chat_template() or None

    @property
    def special(self) -> dict[str, str]:
        """Texts of special tokens, by the names that templates know them by."""
        told = {"bos_token": self._tokenizer.get_bos_token(), "eos_token": self._tokenizer.get_eos_token()}
        return {name: text for name, text in told.items() if text}

    @cached_property
    def vocabulary_size(self) -> int:
        """How many tokens there are."""
        return len(self._tokenizer.get_vocab())

    def encoded(self, text: str, begun: bool = False) -> Any:
        """The tokens of `text` as the library's tensor, after what begins a text unless it is `begun`.

        Raises ContextExceeded where they leave no room in the context, or its tokenizer tells no more of them.
        """
        found, most = self._encoded(text, begun), min(self.context, self._most_tokens or self.context)
        if found.shape[1] >= most:
            raise ContextExceeded(self._count(text, found.shape[1]), most)
        return found

    def _encoded(self, text: str, begun: bool = False) -> Any:
        return self._tokenizer.encode(text, add_special_tokens=not begun).input_ids

    @cached_property
    def _most_tokens(self) -> int | None:
        """How many tokens the tokenizer tells of a text, whose rest it cuts off without a word; None where that is no
        fewer than the context.
        """
        counts = {self._encoded(" a" * times).shape[1] for times in (self.context, 2 * self.context)}
        return int(counts.pop()) if len(counts) == 1 else None

    def _count(self, text: str, told: int) -> int:
        """The tokens of `text`, of which the tokenizer `told` so many: in parts, and roughly, where it cut them off."""
        if self._encoded(text + text).shape[1] > told:
            return told
        size = max(_LEAST_PART, self.context // 4)
        return sum(int(self._encoded(text[start : start + size]).shape[1]) for start in range(0, len(text), size))

    def tensor(self, tokens: Sequence[int]) -> Any:
        """`tokens` as the library's tensor."""
        numpy: Any = import_module("numpy")
        return imported("openvino").Tensor(numpy.array([tokens], dtype=numpy.int64))

    def decoded(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`, without special ones."""
        text: str = self._tokenizer.decode(list(tokens))
        return text

    def renew(self) -> None:
        """Load the model anew: nothing is known of earlier prompts then."""
        self._pipeline = self._tokenizer = None
        self.broken = True
        self._open()

    def structured(self, **form: str) -> Any:
        """The form that an answer keeps to: a `json_schema` or a `grammar`. Raises ValueError with the library's words.

        It is tried on one token by a way that recovers, for a step would not.
        """
        config = self._library.StructuredOutputConfig(**form)
        trial = self._library.GenerationConfig(**_ONE_TOKEN, structured_output_config=config)
        try:
            self._pipeline.generate([self._encoded("a")], [trial])
        except RuntimeError as error:
            raise ValueError(last_words(str(error))) from None
        return config

    def answer(self, tokens: Any, fields: Mapping[str, Any]) -> Answering:
        """An answer to `tokens`, with those fields of the library's `GenerationConfig`."""
        self._requests += 1
        usual = self._pipeline.get_config()
        ends = {"eos_token_id": usual.eos_token_id, "stop_token_ids": usual.stop_token_ids}
        config = self._library.GenerationConfig(**ends, **fields)
        return Answering(self, self._pipeline.add_request(self._requests, tokens, config))

    def step(self) -> None:
        """Compute the next tokens of the prompt, or of the answer."""
        try:
            self._pipeline.step()
        except Exception:
            self.broken = True
            raise

    def settle(self) -> None:
        """See that nothing of a cancelled answer is left."""
        while not self.broken and self._pipeline.has_non_finished_requests():
            self.step()


class Answering:
    """One answer in the making; close it."""

    def __init__(self, model: OpenVinoModel, handle: Any) -> None:
        self._model = model
        self._handle = handle
        self._status: Any = imported("openvino_genai").GenerationStatus

    def step(self) -> list[int]:
        """Compute once; the tokens that came of it. Raises CacheFull."""
        return [token for output in self._outputs() for token in output.generated_ids]

    def logprobs(self) -> list[float]:
        """The same for their natural logarithms of probabilities."""
        return [logprob for output in self._outputs() for logprob in output.generated_log_probs]

    def _outputs(self) -> list[Any]:
        self._model.step()
        found: list[Any] = []
        while self._handle.can_read():
            found += self._handle.read().values()
        if self._handle.get_status() == self._status.IGNORED:
            raise CacheFull
        return found

    @property
    def running(self) -> bool:
        """Whether there is more to come."""
        return bool(self._handle.get_status() == self._status.RUNNING)

    @property
    def decode_tps(self) -> float | None:
        """The library's own figure, once the answer is whole."""
        found: float = self._handle.get_perf_metrics().get_throughput().mean
        return found if found > 0 else None

    def close(self) -> None:
        """Give it up, if it is not whole."""
        if self.running:
            self._handle.cancel()
        self._model.settle()


def weights_bytes(path: Path) -> int:
    """The size of the weights that lie at `path`, a file or a folder."""
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.suffix in _WEIGHTS and file.is_file())


def last_words(error: str) -> str:
    """What an error of the library says, without the places in its source."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    return lines[-1].rsplit(".cc:", 1)[-1].split(": ", 1)[-1].rstrip(".")[:300] if lines else ""
