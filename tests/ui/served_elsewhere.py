"""Models that endpoints serve, for tests of the window."""

from weighbridge.formats.architectures import Kind
from weighbridge.running.endpoints.endpoint import Endpoint, Listed, models_of

BOX = Endpoint("my-box", "My box", "http://192.168.1.20:8000", "/v1")
HERE = Endpoint("ollama", "Ollama", "http://127.0.0.1:11434", "/v1", "ollama")
HOSTED = Endpoint("openrouter", "OpenRouter", "https://openrouter.ai", "/api/v1", key_number=1)


def served(endpoint=BOX, name="qwen3:8b", context=32_768, kind=Kind.CHAT):
    """One model of an endpoint."""
    (made,) = models_of(endpoint, [Listed(name, context, kind)])
    return made


def file(name="qwen3-0.6b", source="own"):
    """A model that is a file here."""
    from pathlib import Path

    from weighbridge.library.model import Model

    path = Path(f"/models/{name}.gguf")
    return Model(name, name, path, (path,), "gguf", "Q8_0", 640 << 20, source=source)
