"""A conversation made into tokens: by the chat template in the model's folder, which is a stranger's program and runs
in a process with limits, or by mlx-lm's own code for models that have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Load, Request, TemplateRefused
from weighbridge_engines.mlx_model import MlxModel
from weighbridge_engines.prompts import Prompts


def is_gone_on_with(request: Request) -> bool:
    """Whether the answer goes on with the last turn, which is the assistant's."""
    *before, last = request.messages
    return bool(before) and last["role"] == "assistant" and not last.get("tool_calls")


class Conversation:
    """Of the model in `folder`; `close` ends the process."""

    def __init__(self, load: Load, folder: Path, model: MlxModel) -> None:
        self._model = model
        self._template = load.template or model.tokenizer.chat_template
        self._by_library = self._template is None and bool(model.tokenizer.has_chat_template)
        self._values = load.extra.get("template_values", {})
        self._prompts = Prompts(load, folder)

    def close(self) -> None:
        """End the process."""
        self._prompts.close()

    def tokens(self, request: Request) -> Sequence[int]:
        """The prompt. Raises TemplateRefused where no template takes it, or nothing is left of it.

        A template says itself what begins a text.
        """
        text = self._text_by_library(request) if self._by_library else self._prompts.text(request)
        tokens = self._model.tokens(text, begun=self._template is not None or self._by_library)
        if not tokens:
            raise TemplateRefused("the model's chat template makes nothing of these messages")
        return tokens

    def _text_by_library(self, request: Request) -> str:
        values: dict[str, Any] = {**self._values, **request.template_values}
        try:
            text: str = self._model.tokenizer.apply_chat_template(
                list(request.messages), tokenize=False, add_generation_prompt=not is_gone_on_with(request), **values
            )
        except (
            ArithmeticError,
            AssertionError,
            AttributeError,
            LookupError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:
            raise TemplateRefused(f"the model's chat template takes no such messages: {error}"[:300]) from error
        return text
