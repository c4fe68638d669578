"""One choice on the Hub looked at closely: the whole header of each of its files, before a weight is fetched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.formats.cursor import HEADER_LIMIT_BYTES
from weighbridge.formats.folder_info import brief_folder_info, with_tensors
from weighbridge.formats.gguf import TEMPLATE_KEY, Header
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.gguf_variants import FORMAT, gguf_label
from weighbridge.formats.head import Head, head_of, require_quotable
from weighbridge.formats.local import LIST_LIMIT_BYTES, LIST_VALUES
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.parts import joined_info
from weighbridge.formats.plain_json import json_object
from weighbridge.formats.safetensors import read_safetensors
from weighbridge.formats.variant import File, Variant
from weighbridge.hub.offers import Offer
from weighbridge.hub.reading import Reading
from weighbridge.hub.remote import RemoteFile

MOST_ASKED = 2_000
"""Requests for one choice: the largest models lie in some hundred files."""

MOST_TOGETHER_BYTES = 2 * HEADER_LIMIT_BYTES
"""Of the headers of all parts of one model."""

SAFETENSORS_FIRST_BYTES = 64 << 10
TEMPLATE_BYTES = 1 << 20
_TEMPLATE_FILES = ("chat_template.jinja", "chat_template.json", "tokenizer_config.json")
_SAFETENSORS = ".safetensors"


@dataclass(frozen=True)
class Whole:
    """All that the headers of one choice say, tensors included, and how it asks to be talked to.

    `heads` are those of a GGUF model, one for each part, for an engine to size it by; without any, `unsizable` may say
    why. `chat_template` is None where there is none, or it is too long.
    """

    info: ModelInfo
    heads: tuple[Head, ...] = ()
    unsizable: BadFile | None = None
    chat_template: str | None = None


def read_whole(reading: Reading, offer: Offer) -> Whole:
    """All that the choice says of itself.

    Raises what is wrong with it (`Offer.problem`), BadFile for what is found damaged now, what the Hub raises, and
    Cancelled.
    """
    if offer.problem is not None:
        raise offer.problem
    if offer.variant.format == FORMAT:
        return _gguf(reading, offer.variant)
    return _folder(reading, offer)


def _gguf(reading: Reading, variant: Variant) -> Whole:
    headers: list[Header] = []
    heads: list[Head] = []
    for file in variant.files:
        source = reading.source(_known(reading, file))
        header, head = head_of(source)
        source.keep()
        headers.append(header)
        heads.append(head)
        if sum(len(each.content) for each in heads) > MOST_TOGETHER_BYTES:
            raise BadFile("gguf.header_too_long", limit_bytes=MOST_TOGETHER_BYTES)
    info = joined_info(headers, [file.name for file in variant.files])
    label, guessed = gguf_label(variant.name, variant.folder.rpartition("/")[2], info, info.bits_per_weight)
    told = replace(info, quant=label, quant_guessed=guessed)
    template = headers[0].metadata.get(TEMPLATE_KEY)
    unsizable = _unsizable(headers)
    return Whole(told, () if unsizable else tuple(heads), unsizable, template if isinstance(template, str) else None)


def _unsizable(headers: list[Header]) -> BadFile | None:
    try:
        for header in headers:
            require_quotable(header)
    except BadFile as error:
        return error
    return None


def _folder(reading: Reading, offer: Offer) -> Whole:
    variant = offer.variant
    info = offer.info or brief_folder_info(variant, {})
    tensors: list[Tensor] = []
    for file in variant.files:
        if file.name.lower().endswith(_SAFETENSORS):
            source = reading.source(_known(reading, file), SAFETENSORS_FIRST_BYTES)
            tensors += read_safetensors(source, file.name).tensors
            source.keep()
    template = _template(reading, variant)
    told = with_tensors(info, tensors) if tensors else info
    return Whole(replace(told, has_chat_template=template is not None), chat_template=template or None)


def _template(reading: Reading, variant: Variant) -> str | None:
    """How a conversation is put together; "" where that is told, but not in a form that can be shown."""
    for name in _TEMPLATE_FILES:
        file = reading.file(f"{variant.name}/{name}" if variant.name else name)
        if file is None or file.size_bytes > LIST_LIMIT_BYTES:
            continue
        content = reading.small(reading.repository.id, reading.repository.commit, file.path, file.size_bytes, "config")
        if name.endswith(".jinja"):
            return content[:TEMPLATE_BYTES].decode("utf-8", "replace")
        told = _object(content, file).get("chat_template")
        if told:
            return told[:TEMPLATE_BYTES] if isinstance(told, str) else ""
    return None


def _object(content: bytes, file: RemoteFile) -> Mapping[str, Any]:
    try:
        return json_object(content, file.path, LIST_VALUES)
    except BadFile:
        return {}


def _known(reading: Reading, file: File) -> RemoteFile:
    known = reading.file(file.path)
    assert known is not None, file.path
    return known
