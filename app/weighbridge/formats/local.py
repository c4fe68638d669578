"""Looking into the small files of a folder on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.formats.plain_json import CONFIG_LIMIT_BYTES, json_object
from weighbridge.formats.safetensors import SafetensorsHeader, read_safetensors
from weighbridge.formats.source import FileSource

LIST_LIMIT_BYTES, LIST_VALUES = 32 << 20, 2_000_000
"""For files that list every tensor, or every token."""

_LISTS = (".index.json", "tokenizer_config.json")


def local_json(path: Path) -> Mapping[str, Any] | None:
    """The object in a JSON file; None where there is no such file. Raises BadFile for one that cannot be read."""
    if not path.exists():
        return None
    is_list = path.name.endswith(_LISTS)
    limit = LIST_LIMIT_BYTES if is_list else CONFIG_LIMIT_BYTES
    with FileSource(path) as source:
        content = source.read(0, limit + 1)
    if len(content) > limit:
        raise BadFile("json.damaged", name=path.name, reason=f"> {limit}")
    return json_object(content, path.name, LIST_VALUES) if is_list else json_object(content, path.name)


def local_tensors(path: Path) -> SafetensorsHeader:
    """The header of a safetensors file. Raises BadFile."""
    with FileSource(path) as source:
        return read_safetensors(source, path.name)


def has_chat_template(folder: Path) -> bool:
    """Whether the tokenizer's files in `folder` tell how a conversation is put together."""
    if any((folder / name).is_file() for name in ("chat_template.jinja", "chat_template.json")):
        return True
    try:
        return bool((local_json(folder / "tokenizer_config.json") or {}).get("chat_template"))
    except BadFile:
        return False
