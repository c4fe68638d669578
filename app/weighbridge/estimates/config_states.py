"""The recurrent states of a model by the keys of its config.json: how many elements a layer keeps for one text.

Source: the layers of mlx-lm and transformers; checked against what mlx-lm allocates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weighbridge.estimates.config_kinds import Kept
from weighbridge.formats.quantisation import Config, whole

States = tuple[int, int]
"""Elements in the model's own type, and elements in 32 bits."""

NONE: States = (0, 0)


def state_elements(config: Config, kept: Kept) -> States | None:
    """What a layer of the kind `kept` keeps beside a cache; None where the config does not tell."""
    rule = _RULES.get(kept)
    if rule is None:
        return NONE
    try:
        return rule(_Numbers(config))
    except KeyError:
        return None


class _Numbers:
    """The whole numbers of a config."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def of(self, *keys: str) -> int:
        """The first of `keys` that is a whole number above 0. Raises KeyError where none is."""
        for key in keys:
            value = whole(self._config.get(key))
            if value:
                return value
        raise KeyError(keys)

    def within(self, key: str) -> _Numbers:
        """Those of the object that `key` holds."""
        inner = self._config.get(key)
        return _Numbers(inner if isinstance(inner, Mapping) else {})

    def has(self, key: str) -> bool:
        """Whether `key` is a whole number above 0."""
        return bool(whole(self._config.get(key)))


def _delta(numbers: _Numbers) -> States:
    keys = numbers.of("linear_num_key_heads") * numbers.of("linear_key_head_dim")
    values = numbers.of("linear_num_value_heads") * numbers.of("linear_value_head_dim")
    steps = numbers.of("linear_conv_kernel_dim") - 1
    return steps * (2 * keys + values), values * numbers.of("linear_key_head_dim")


def _kda(numbers: _Numbers) -> States:
    own = numbers.within("linear_attn_config")
    width = own.of("num_heads") * own.of("head_dim")
    return 3 * (own.of("short_conv_kernel_size") - 1) * width, width * own.of("head_dim")


def _mamba(numbers: _Numbers) -> States:
    """The first Mamba keeps its state in the model's type."""
    if numbers.has("mamba_expand"):
        width = numbers.of("mamba_expand") * numbers.of("hidden_size")
    else:
        width = numbers.of("intermediate_size", "d_inner")
    steps = numbers.of("mamba_d_conv", "conv_kernel") - 1
    return width * (steps + numbers.of("mamba_d_state", "state_size")), 0


def _mamba2(numbers: _Numbers) -> States:
    heads = numbers.of("mamba_n_heads", "mamba_num_heads", "num_heads")
    width = heads * numbers.of("mamba_d_head", "mamba_head_dim", "head_dim")
    state = numbers.of("mamba_d_state", "ssm_state_size", "state_size")
    groups = numbers.of("mamba_n_groups", "n_groups")
    steps = numbers.of("mamba_d_conv", "conv_kernel") - 1
    return steps * (width + 2 * groups * state), width * state


def _conv(numbers: _Numbers) -> States:
    return (numbers.of("conv_L_cache") - 1) * numbers.of("hidden_size"), 0


def _rwkv(numbers: _Numbers) -> States:
    width = numbers.of("hidden_size")
    return width * (numbers.of("head_dim") + 2), 0


def _recurrent(numbers: _Numbers) -> States:
    return numbers.of("lru_width", "hidden_size") * numbers.of("conv1d_width"), 0


_RULES: Mapping[Kept, Callable[[_Numbers], States]] = {
    Kept.DELTA: _delta,
    Kept.KDA: _kda,
    Kept.MAMBA: _mamba,
    Kept.MAMBA2: _mamba2,
    Kept.BOTH: _mamba2,
    Kept.CONV: _conv,
    Kept.RWKV: _rwkv,
    Kept.RECURRENT: _recurrent,
}
