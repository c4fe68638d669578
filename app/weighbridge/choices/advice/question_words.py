"""The ten questions in words: what is asked, what each answer is called, and where a prefilled one is from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from weighbridge.base.units import number, size, tokens
from weighbridge.base.words import mark, plural, text
from weighbridge.choices.advice.answers import OPEN
from weighbridge.choices.advice.format_names import format_name

if TYPE_CHECKING:
    from weighbridge.choices.advice.advice import Reason
    from weighbridge.choices.advice.answers import Answers
    from weighbridge.choices.advice.questions import Field, Question

_QUESTIONS: Mapping[str, str] = {
    "hardware": mark("What hardware is there?"),
    "room": mark("Where does the model fit?"),
    "prompt": mark("Which is long, the prompt or the answer?"),
    "load": mark("How long is a conversation, and how many at once?"),
    "sharing": mark("What do prompts have in common?"),
    "kind": mark("What kind of model, and what must it do?"),
    "purpose": mark("What is it for?"),
    "format": mark("Which format?"),
    "link": mark("What joins the cards or machines?"),
    "goal": mark("What matters most?"),
}
_FIELDS: Mapping[str, str] = {
    "hardware": mark("Hardware"),
    "room": mark("Memory"),
    "prompt": mark("Longer part"),
    "context": mark("Context"),
    "users": mark("At once"),
    "sharing": mark("In common"),
    "kind": mark("Model"),
    "needs": mark("Must do"),
    "purpose": mark("Purpose"),
    "format": mark("Format"),
    "link": mark("Link"),
    "goal": mark("Goal"),
}
_ANSWERS: Mapping[str, Mapping[str, str]] = {
    "hardware": {
        "processor": mark("No card: the processor"),
        "intel": mark("Intel Xeon, Core Ultra or Arc"),
        "apple": mark("A Mac with Apple's chip"),
        "one_nvidia": mark("One NVIDIA card"),
        "several_nvidia": mark("Several NVIDIA cards"),
        "nvidia_server": mark("NVIDIA server (A100, H100)"),
        "blackwell_server": mark("NVIDIA B200 or GB200"),
        "amd_card": mark("AMD Radeon"),
        "amd_server": mark("AMD Instinct"),
    },
    "room": {
        "fast": mark("All of it on cards"),
        "partly": mark("In part on cards"),
        "system": mark("In system memory"),
        "unified": mark("In shared (unified) memory"),
        "unknown": mark("Not known yet"),
    },
    "prompt": {
        "short": mark("Short prompt, long answer"),
        "long": mark("Long prompt, short answer"),
        "mixed": mark("Both"),
    },
    "sharing": {
        "none": mark("Nothing"),
        "start": mark("They begin alike"),
        "agents": mark("Agents: a tree of conversations"),
    },
    "kind": {
        "dense": mark("Dense"),
        "moe": mark("Mixture of experts"),
        "multimodal": mark("Multimodal"),
        "hybrid": mark("Hybrid (recurrent layers)"),
        "unknown": mark("Not known yet"),
    },
    "needs": {
        "json_schema": mark("JSON by a schema"),
        "tools": mark("Tools"),
        "vision": mark("Images"),
        "embeddings": mark("Embeddings"),
        "adapters": mark("An adapter for each request"),
        "samplers": mark("DRY, XTC, Mirostat"),
        "compress": mark("Compressing the model first"),
    },
    "purpose": {
        "local": mark("My own use on this machine"),
        "serving": mark("Serving others"),
        "fleet": mark("A fleet of machines"),
        "fixed": mark("One model for weeks"),
        "application": mark("Part of an app or a browser"),
        "checking": mark("Telling engine from model faults"),
    },
    "link": {
        "none": mark("Nothing to join"),
        "pcie": "PCIe",
        "nvlink": mark("NVLink or Infinity Fabric"),
        "ethernet": "Ethernet",
        "rdma": "RDMA",
        "thunderbolt": "Thunderbolt",
        "unknown": mark("Not known"),
    },
    "goal": {
        "latency": mark("The time to an answer"),
        "throughput": mark("Tokens in total"),
        "cost": mark("Cost"),
        "privacy": mark("Privacy"),
        "portability": mark("Portability"),
        "simplicity": mark("Little to set up"),
    },
}


def question_in_words(question: Question) -> str:
    """ "What hardware is there?"."""
    return text(_QUESTIONS[question.id])


def field_in_words(field: Field) -> str:
    """ "Context": what one field of a question is called."""
    return text(_FIELDS[field.name])


def choice_in_words(field: Field, choice: str) -> str:
    """ "NVLink": one of the answers that a field may have."""
    if field.name == "format":
        return text("Any that suits") if choice == OPEN else format_name(choice)
    return name_of_answer(field.name, choice)


def name_of_answer(name: str, choice: str) -> str:
    """One of the answers that the field `name` may have."""
    return text(_ANSWERS[name][choice])


def answer_in_words(field: Field, answers: Answers) -> str:
    """The answer that a field has: "8,192 tokens", "JSON by a schema, Tools"."""
    value = getattr(answers, field.name)
    if field.name == "context":
        return tokens(value)
    if field.name == "users":
        return number(value)
    if field.name == "needs":
        return ", ".join(choice_in_words(field, one) for one in field.choices if one in value) or text(
            "Nothing special"
        )
    return choice_in_words(field, value)


def basis_in_words(reason: Reason) -> str:
    """Where a prefilled answer is from: "2 × RTX 3090, 48.0 GiB"; "" for what is merely usual."""
    return _BASES[reason.code](reason.values)


def _machine(values: Mapping[str, object]) -> str:
    named = str(values["device"] or text("unknown"))
    cards = values["cards"]
    if isinstance(cards, int) and cards > 1:
        named = f"{number(cards)} × {named}"
    memory = values["bytes"]
    return f"{named}, {size(memory if isinstance(memory, int) else None)}"


_BASES: Mapping[str, Callable[[Mapping[str, object]], str]] = {
    "usual": lambda values: "",
    "from_machine": _machine,
    "from_settings": lambda values: text("from the settings"),
    "from_model": lambda values: text("as {model}, which is here", model=values["model"]),
    "one_device": lambda values: text("there is one"),
    "no_card": lambda values: text("there is no card"),
    "one_memory": lambda values: text("card and processor share it"),
    "link_told": lambda values: text("as the driver tells"),
    "link_not_told": lambda values: _not_told(values["cards"]),
}


def _not_told(cards: object) -> str:
    count = cards if isinstance(cards, int) else 0
    return plural("{count} card does not say", "{count} cards do not say", count, count=number(count))
