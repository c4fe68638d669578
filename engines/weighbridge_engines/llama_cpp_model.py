"""A model and its one context, over llama-cpp-python's functions. All of it is called by one thread."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from weighbridge_engines.api import Load
from weighbridge_engines.llama_cpp_log import Say
from weighbridge_engines.llama_cpp_parameters import EXPERTS, context_values, filled, model_values

_PIECE_BYTES = 256


class LoadFailed(Exception):
    """The library has not loaded it; why stands in its log."""


class DecodeFailed(Exception):
    """The library could not compute."""


class _Override(ctypes.Structure):
    """llama_model_tensor_buft_override: tensors by a pattern, and the memory to keep them in."""

    _fields_ = (("pattern", ctypes.c_char_p), ("memory", ctypes.c_void_p))


class LlamaModel:
    """A loaded model with its context. `say` is told what the library itself does not print.

    Loading is given up once `stopped()`. Raises LoadFailed, and Unsupported for what this build has no way to do.
    """

    def __init__(self, load: Load, say: Say, stopped: Callable[[], bool]) -> None:
        self.library: Any = import_module("llama_cpp")
        self._numpy: Any = import_module("numpy")
        self._adapters: list[Any] = []
        self._model: Any = None
        self._context: Any = None
        self._batch: Any = None
        self.library.llama_backend_init()
        say("I load_model: loading model")
        try:
            self._load(load, stopped)
            self._open_context(load)
            self._attach(load)
        except BaseException:
            self.close()
            raise
        threads = self.library.llama_n_threads(self._context)
        batch_threads = self.library.llama_n_threads_batch(self._context)
        say(f"I system_info: n_threads = {threads} (n_threads_batch = {batch_threads})")

    def _load(self, load: Load, stopped: Callable[[], bool]) -> None:
        library = self.library
        parameters = filled(library.llama_model_default_params(), model_values(load), library)
        going_on = library.llama_progress_callback(lambda _progress, _data: not stopped())
        parameters.progress_callback = going_on
        if load.split:
            most = max(library.llama_max_devices(), len(load.split))
            shares = (ctypes.c_float * most)(*load.split)
            parameters.tensor_split = shares
        overrides = self._experts(load.cpu_experts or 0)
        if overrides is not None:
            parameters.tensor_buft_overrides = ctypes.cast(overrides, ctypes.c_void_p)
        self._model = library.llama_model_load_from_file(os.fsencode(load.model), parameters)
        if not self._model:
            raise LoadFailed("the model was not loaded")
        self.vocabulary: Any = library.llama_model_get_vocab(self._model)
        self.vocabulary_size: int = library.llama_vocab_n_tokens(self.vocabulary)

    def _experts(self, layers: int) -> Any:
        """The list, with its end, that keeps the experts of the first layers in the system's memory."""
        if not layers:
            return None
        ggml = import_module("llama_cpp._ggml").libggml
        ggml.ggml_backend_cpu_buffer_type.restype = ctypes.c_void_p
        memory = ggml.ggml_backend_cpu_buffer_type()
        rows = [_Override(EXPERTS % layer, memory) for layer in range(layers)]
        return (_Override * (layers + 1))(*rows, _Override(None, None))

    def _open_context(self, load: Load) -> None:
        library = self.library
        parameters = filled(library.llama_context_default_params(), context_values(load), library)
        self._context = library.llama_init_from_model(self._model, parameters)
        if not self._context:
            raise LoadFailed("the context was not made")
        self._memory = library.llama_get_memory(self._context)
        self.context: int = library.llama_n_ctx(self._context)
        self.batch: int = library.llama_n_batch(self._context)
        self._batch = library.llama_batch_init(self.batch, 0, 1)
        columns = {name: getattr(self._batch, name) for name in ("token", "pos", "logits", "n_seq_id")}
        as_array = self._numpy.ctypeslib.as_array
        self._columns = {name: as_array(column, (self.batch,)) for name, column in columns.items()}
        self._columns["n_seq_id"][:] = 1
        for place in range(self.batch):
            self._batch.seq_id[place][0] = 0

    def _attach(self, load: Load) -> None:
        library = self.library
        for path in load.adapters:
            adapter = library.llama_adapter_lora_init(self._model, os.fsencode(path))
            if not adapter:
                raise LoadFailed(f"the adapter was not loaded: {path}")
            self._adapters.append(adapter)
        if self._adapters:
            count = len(self._adapters)
            scales = load.adapter_scales or (1.0,) * count
            adapters = (library.llama_adapter_lora_p_ctypes * count)(*self._adapters)
            library.llama_set_adapters_lora(self._context, adapters, count, (ctypes.c_float * count)(*scales))

    def close(self) -> None:
        """Give everything back."""
        library = self.library
        if self._batch is not None:
            library.llama_batch_free(self._batch)
        if self._context:
            library.llama_free(self._context)
        if self._model:
            library.llama_model_free(self._model)  # its adapters with it
        self._batch = self._context = self._model = None

    @property
    def template(self) -> str | None:
        """The chat template in the file."""
        told = self.library.llama_model_chat_template(self._model, None)
        return told.decode("utf-8", "replace") if told else None

    @property
    def begin(self) -> int | None:
        """The token that begins every text, where the model wants one there."""
        if not self.library.llama_vocab_get_add_bos(self.vocabulary):
            return None
        token: int = self.library.llama_vocab_bos(self.vocabulary)
        return token if token >= 0 else None

    def special(self, name: str) -> str:
        """The text of the token "bos" or "eos"; empty where there is none."""
        token = getattr(self.library, f"llama_vocab_{name}")(self.vocabulary)
        text = self.library.llama_vocab_get_text(self.vocabulary, token) if token >= 0 else b""
        return (text or b"").decode("utf-8", "replace")

    def tokens(self, text: str, begun: bool) -> list[int]:
        """The tokens of `text`, special ones by their names, after the one that begins a text unless it is `begun`."""
        data = text.encode("utf-8", "replace")
        room = len(data) + 2
        while True:
            found = (ctypes.c_int32 * room)()
            count = self.library.llama_tokenize(self.vocabulary, data, len(data), found, room, not begun, True)
            if count >= 0:
                return list(found[:count])
            if -count <= room:
                raise DecodeFailed("the text has too many tokens")
            room = -count

    def piece(self, token: int) -> bytes:
        """The bytes that `token` stands for in an answer; none for a special one."""
        return self._bytes_of(token, special=False)

    def name(self, token: int) -> bytes:
        """The bytes of `token`, special ones by their names."""
        return self._bytes_of(token, special=True)

    def _bytes_of(self, token: int, special: bool) -> bytes:
        room = _PIECE_BYTES
        while True:
            data = ctypes.create_string_buffer(room)
            size: int = self.library.llama_token_to_piece(self.vocabulary, token, data, room, 0, special)
            if size >= 0:
                return data.raw[:size]
            room = -size

    def ends(self, token: int) -> bool:
        """Whether `token` ends an answer."""
        return bool(self.library.llama_vocab_is_eog(self.vocabulary, token))

    def decode(self, tokens: Sequence[int], position: int, outputs: int = 1) -> None:
        """Compute `tokens`, at most `batch` of them, at `position`, and keep the logits of the last `outputs`.

        Raises DecodeFailed; then nothing can be said of what the context holds.
        """
        count, columns = len(tokens), self._columns
        columns["token"][:count] = tokens
        columns["pos"][:count] = range(position, position + count)
        columns["logits"][:count] = 0
        columns["logits"][count - outputs : count] = 1 if outputs else 0
        self._batch.n_tokens = count
        code = self.library.llama_decode(self._context, self._batch)
        if code != 0:
            raise DecodeFailed(f"llama_decode gave {code}")

    def logits(self, outputs: int = 1) -> Any:
        """A view of the last `outputs` rows of logits, valid until the next `decode`."""
        first = self.library.llama_get_logits(self._context)
        return self._numpy.ctypeslib.as_array(first, (outputs, self.vocabulary_size))

    def sample(self, chain: Any) -> int:
        """The token that the library's samplers `chain` choose after the last one computed; they are told of it."""
        token: int = self.library.llama_sampler_sample(chain, self._context, -1)
        return token

    def keep(self, count: int) -> bool:
        """Forget all but the first `count` tokens. False where the context cannot; then it is as it was."""
        library = self.library
        if count:
            window = library.llama_model_n_swa(self._model)
            oldest = library.llama_memory_seq_pos_min(self._memory, 0)
            if window and oldest > max(0, count - window):
                return False  # what the next tokens would look back to is gone
        return bool(library.llama_memory_seq_rm(self._memory, 0, count, -1))

    def forget(self) -> None:
        """Forget all."""
        self.library.llama_memory_clear(self._memory, True)

    def warm(self) -> None:
        """Touch all weights once, so that the first answer is not slower than the others."""
        library = self.library
        token = max(library.llama_vocab_bos(self.vocabulary), 0)
        library.llama_set_warmup(self._context, True)
        try:
            self.decode([token], 0)
        finally:
            library.llama_set_warmup(self._context, False)
            self.forget()
