"""The programs whose models are found."""

from __future__ import annotations

from weighbridge.base.words import text
from weighbridge.library.model import ADDED, ENDPOINT, OWN
from weighbridge.library.shelves.gpt4all import GPT4ALL
from weighbridge.library.shelves.hf_cache import HF_CACHE
from weighbridge.library.shelves.jan import JAN
from weighbridge.library.shelves.koboldcpp import KOBOLDCPP
from weighbridge.library.shelves.llama_cpp import LLAMA_CPP
from weighbridge.library.shelves.lm_studio import LM_STUDIO
from weighbridge.library.shelves.ollama import OLLAMA
from weighbridge.library.shelves.program import Program
from weighbridge.library.shelves.textgen import TEXTGEN

PROGRAMS: tuple[Program, ...] = (LM_STUDIO, OLLAMA, HF_CACHE, LLAMA_CPP, JAN, GPT4ALL, KOBOLDCPP, TEXTGEN)
"""In the order in which a model that several of them have is said to be theirs."""

SOURCES: tuple[str, ...] = (OWN, ADDED, *(program.id for program in PROGRAMS), ENDPOINT)
"""All that `Model.source` can be."""


def program_of(source: str) -> Program | None:
    """The program whose models have `source`; None for those of no program."""
    return next((program for program in PROGRAMS if program.id == source), None)


def source_in_words(source: str) -> str:
    """Whose models with `source` are, for a person."""
    program = program_of(source)
    if program is not None:
        return program.title
    if source == ENDPOINT:
        return text("an endpoint")
    return text("Weighbridge") if source == OWN else text("your folders")
