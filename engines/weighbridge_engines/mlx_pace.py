"""How many tokens of a prompt are computed at a time, where nobody has said so: as many as Stop may wait for. Pure."""

from __future__ import annotations

SHORT_S, LONG_S = 0.2, 0.6
"""A step that took less is doubled, one that took longer is halved: Stop is seen between two steps."""

ON_CARD, ON_PROCESSOR = 256, 1
"""Tokens of the first step. On a processor MLX gains little by more, and takes a second for one of a small model."""

MOST = 2048
"""mlx-lm's own `prefill_step_size`."""


class Pace:
    """The tokens of the next step, `step`. Where `asked` is given it is always that."""

    def __init__(self, asked: int | None, on_card: bool) -> None:
        self.most = asked or MOST
        self.step = asked or (ON_CARD if on_card else ON_PROCESSOR)
        self._fixed = asked is not None

    def took(self, tokens: int, elapsed_s: float) -> None:
        """So long did `tokens` take; fewer than a step tell nothing."""
        if self._fixed or tokens < self.step:
            return
        if elapsed_s < SHORT_S:
            self.step = min(self.step * 2, self.most)
        elif elapsed_s > LONG_S:
            self.step = max(self.step // 2, 1)
