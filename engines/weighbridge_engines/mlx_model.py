"""A model and its tokenizer, loaded by mlx-lm. All of it is called by one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from weighbridge_engines.api import HOST, Cause, Load, Unsupported
from weighbridge_engines.mlx_controls import COMPUTE_TYPES, CacheForm
from weighbridge_engines.mlx_folder import adapter_folder, trained_context
from weighbridge_engines.mlx_log import Say, tell, tell_weights

_PART_BYTES = 256 << 20
"""Weights are read in parts: a load that nobody wants any more is given up between two."""

_KEPT = 4
"""Tokens at the beginning of a text that are never forgotten where its context is shifted, as in mlx-lm."""

_TOKENIZER = {"trust_remote_code": False, "local_files_only": True}
METAL, CUDA = "Metal", "CUDA0"
"""The ids of devices: MLX computes on Apple's own, or on the first card."""

_PROCESSOR_TYPE = "float32"
"""MLX's kernels for packed weights take seven times as long on a processor where scales are of 16 bits."""


class LoadGivenUp(Exception):
    """Nobody wants the load any more."""


class MlxModel:
    """The model in `folder` as `load` asks for it, its weights read. `say` is told what comes of it.

    Raises LoadGivenUp once `stopped()`, and whatever the library says of a folder that it cannot load.
    """

    def __init__(self, folder: Path, load: Load, say: Say, stopped: Callable[[], bool]) -> None:
        self.core: Any = import_module("mlx.core")
        if self.device == HOST:
            # On a processor MLX would have a compiler make its kernels, which need not be there and takes seconds each
            # time, and would load what was made before from a folder in which anybody may have put it.
            self.core.disable_compile()
        self._utils: Any = import_module("mlx_lm.utils")
        self._tree: Any = import_module("mlx.utils")
        tell(say, "stage", "reading")
        self.network, self.config = self._utils.load_model(folder, lazy=True, trust_remote_code=False)
        if load.adapters:
            self._adapt(load, say)
        self.compute_type = self._compute_type(load.extra.get("compute_type"))
        tell(say, "stage", "weights")
        self.size_bytes = self._read(stopped)
        self.tokenizer: Any = self._utils.load_tokenizer(
            folder, _TOKENIZER, eos_token_ids=self.config.get("eos_token_id")
        )
        self.ends = frozenset(int(token) for token in self.tokenizer.eos_token_ids)

    @property
    def device(self) -> str:
        """Where MLX computes: an id as in `devices()`, or HOST."""
        return device_of(self.core)

    @property
    def trained_context(self) -> int | None:
        """The tokens that it was trained for, where its settings tell."""
        return trained_context(self.config)

    def tell(self, say: Say) -> None:
        """Say what lies where, of what type."""
        layers = len(self.network.layers)
        tell_weights(say, self.device, self.size_bytes)
        tell(say, "compute_type", self.compute_type)
        tell(say, "layers", layers)
        tell(say, "gpu_layers", 0 if self.device == HOST else layers)

    def caches(self, form: CacheForm) -> list[Any]:
        """New, empty caches, one for each layer that has one. Raises Unsupported where they cannot be of that form."""
        module = import_module("mlx_lm.models.cache")
        caches: list[Any] = module.make_prompt_cache(self.network)
        if form.most is not None:
            if not all(type(cache) is module.KVCache for cache in caches):
                raise Unsupported(Cause("engine.no_shift"))
            return [module.RotatingKVCache(max_size=form.most, keep=_KEPT) for _ in caches]
        if form.bits is not None and not any(hasattr(cache, "to_quantized") for cache in caches):
            raise Unsupported(Cause("engine.no_small_cache"))
        return caches

    def tokens(self, text: str, *, begun: bool) -> list[int]:
        """The tokens of `text`, special ones by their names; unless it is `begun`, with what begins every text."""
        whole = text.encode("utf-8", "replace").decode()  # halves of characters would be refused
        told: Sequence[int] = self.tokenizer.encode(whole, add_special_tokens=not begun)
        return list(told)

    def logits(self, tokens: Sequence[int], caches: list[Any]) -> Any:
        """What the model makes of `tokens` after those in `caches`: one row for each, not computed yet."""
        return self.network(self.core.array([list(tokens)]), cache=caches)[0]

    def _adapt(self, load: Load, say: Say) -> None:
        """Put the adapter's weights beside those that it changes, as strong as it is asked for."""
        folder = adapter_folder(load.adapters[0])
        self.network = self._utils.load_adapters(self.network, str(folder))
        self.network.eval()
        tell(say, "adapters", load.adapters[0])
        for scale in load.adapter_scales:
            adapted = [one for one in self.network.modules() if hasattr(one, "lora_a") and hasattr(one, "scale")]
            if not adapted and scale != 1:
                raise Unsupported(Cause("engine.no_strength"))
            for module in adapted:
                module.scale *= scale
            tell(say, "adapter_scales", scale)

    def _compute_type(self, asked: str | None) -> str:
        """The floating type that is computed in, by MLX's name, once parameters are of it."""
        packed = self.config.get("quantization") or {}
        slow = self.device == HOST and bool(packed) and packed.get("mode", "affine") == "affine"
        wanted = asked or (_PROCESSOR_TYPE if slow else None)
        if wanted is not None:
            self._cast(getattr(self.core, wanted))
            return wanted
        names = [self._name(one.dtype) for _, one in self._parameters() if self._is_float(one)]
        return max(sorted(set(names)), key=names.count, default=_PROCESSOR_TYPE)

    def _cast(self, kind: Any) -> None:
        kept = getattr(self.network, "cast_predicate", lambda _path: True)

        def cast(path: str, one: Any) -> Any:
            return one.astype(kind) if self._is_float(one) and kept(path) else one

        self.network.update(self._tree.tree_map_with_path(cast, self.network.parameters()))

    def _is_float(self, one: Any) -> bool:
        return bool(self.core.issubdtype(one.dtype, self.core.floating))

    def _name(self, kind: Any) -> str:
        return next((name for name in COMPUTE_TYPES if getattr(self.core, name) == kind), str(kind))

    def _parameters(self) -> Iterable[tuple[str, Any]]:
        told: Iterable[tuple[str, Any]] = self._tree.tree_flatten(self.network.parameters())
        return told

    def _read(self, stopped: Callable[[], bool]) -> int:
        """Have all weights read. Their size in bytes."""
        total = waiting_bytes = 0
        waiting: list[Any] = []
        for _, one in self._parameters():
            waiting.append(one)
            total += one.nbytes
            waiting_bytes += one.nbytes
            if waiting_bytes >= _PART_BYTES:
                self._evaluate(waiting, stopped)
                waiting, waiting_bytes = [], 0
        self._evaluate(waiting, stopped)
        return total

    def _evaluate(self, waiting: list[Any], stopped: Callable[[], bool]) -> None:
        if stopped():
            raise LoadGivenUp
        self.core.eval(waiting)


def device_of(core: Any) -> str:
    """The device that MLX computes on unless it is told otherwise: "Metal", "CUDA0", or HOST."""
    if core.default_device().type != core.gpu:
        return HOST
    return METAL if core.metal.is_available() else CUDA
