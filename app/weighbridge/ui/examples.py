"""A first request to the port, to be copied into a terminal or a program. No Qt here."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping

ANY_MODEL = "MODEL"
"""Stands for a model's name where the Library has none."""


def example(kind: str, url: str, model: str | None) -> str:
    """The example of `kind` (of EXAMPLES) for the port at `url` ("http://127.0.0.1:2412"), asking `model`."""
    return EXAMPLES[kind](url, model or ANY_MODEL)


def _curl(url: str, model: str) -> str:
    body = (
        "{\n"
        f'  "model": {json.dumps(model)},\n'
        '  "messages": [{"role": "user", "content": "Hello"}],\n'
        '  "stream": true\n'
        "}"
    )
    lines = (f"curl -N {url}/v1/chat/completions", "-H 'Content-Type: application/json'", f"-d {shlex.quote(body)}")
    return " \\\n  ".join(lines) + "\n"


def _python(url: str, model: str) -> str:
    return f"""from openai import OpenAI

client = OpenAI(
    base_url={json.dumps(url + "/v1")},
    api_key="any",
)
answer = client.chat.completions.create(
    model={json.dumps(model)},
    messages=[{{"role": "user", "content": "Hello"}}],
)
print(answer.choices[0].message.content)
"""


EXAMPLES: Mapping[str, Callable[[str, str], str]] = {"curl": _curl, "Python": _python}
