"""What the figures of an answer say in words. No Qt here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.base.units import number, seconds, speed, tokens
from weighbridge.base.words import text
from weighbridge.chat.answering import News, Phase
from weighbridge.chat.conversation import Message, MessageState
from weighbridge.chat.meter import Reading


def answer_line(message: Message) -> str:
    """The dim line under an answer that is over: how it ended, and its figures."""
    figures = message.figures
    parts = [_ending(message)]
    if figures.get("decode_tps") is not None:
        parts.append(counted_mark(figures.get("source")) + speed(figures["decode_tps"]))
    if figures.get("output_tokens"):
        parts.append(tokens(figures["output_tokens"]))
    if figures.get("ttft_ms") is not None:
        parts.append(text("first token {time}", time=seconds(figures["ttft_ms"])))
    return " · ".join(part for part in parts if part)


def wait_line(news: News) -> str:
    """What an answer without text waits for."""
    if news.phase is Phase.WAITING:
        return text("Waiting for the model")
    if news.phase is not Phase.READING:
        return ""
    if news.reading is None or news.reading.prompt_progress is None:
        return text("Reading the prompt")
    done, total = news.reading.prompt_progress
    return text("Reading the prompt: {done} of {total} tokens", done=number(done), total=number(total))


def thought_line(figures: Mapping[str, Any], thinking: bool) -> str:
    """The fold's title."""
    if thinking:
        return text("Thinking")
    if figures.get("thought_ms") is None:
        return text("Thought")
    return text("Thought for {time}", time=seconds(figures["thought_ms"]))


def counted_mark(source: object) -> str:
    """ "~" before a speed that was counted here, out of pieces of text; "" before one that the engine told."""
    return "~" if source == "counted" else ""


def source_in_words(reading: Reading) -> str:
    """Where the figures come from."""
    if reading.source == "engine":
        return text("Told by the engine; the speed is over the last second.")
    return text("Counted here from the pieces that came; the engine told no figures of its own.")


def prompt_in_words(reading: Reading | None) -> str:
    """How fast the prompt was read, or how far it is."""
    if reading is None:
        return "–"
    if reading.ttft_ms is None and reading.prompt_progress is not None:
        done, total = reading.prompt_progress
        return text("{done} of {total}", done=number(done), total=number(total))
    return "–" if reading.prompt_tps is None else f"{number(reading.prompt_tps)}\u202ftok/s"


def of_in_words(used: int | None, context: int | None) -> str:
    """Tokens of the context: "912 of 4,096"."""
    if used is None or context is None:
        return "–" if used is None else number(used)
    return text("{done} of {total}", done=number(used), total=number(context))


def left_in_words(used: int | None, context: int | None) -> str:
    """ "3,184 left"; empty where it is not known."""
    if used is None or context is None:
        return ""
    return text("{count} left", count=number(max(0, context - used)))


def _ending(message: Message) -> str:
    if message.state is MessageState.STOPPED:
        return text("Stopped")
    if message.state is MessageState.INTERRUPTED:
        return text("Interrupted")
    return text("Ended at the token limit") if message.figures.get("finish") == "length" else ""
