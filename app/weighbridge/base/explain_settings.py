"""What the error codes about settings of a load say: see `explain`."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

SETTINGS: Mapping[str, tuple[str, str]] = {
    "engine.no_command": (
        mark("There is no program of {engine} that would load the model so."),
        mark("Take away what only its library knows."),
    ),
    "setting.all_layers": (mark("The model has no more layers than that; all of them are there."), ""),
    "setting.attribute": (
        mark("The engine's library has no attribute {name} that could be {value}."),
        mark("Take the attribute away, or give it a value of the kind that it has."),
    ),
    "setting.capped_to_batch": (mark("No more tokens are computed at a time than are handed over."), ""),
    "setting.capped_to_context": (mark("A prompt can be no longer than the context."), ""),
    "setting.capped_to_training": (
        mark("The model was trained for no more tokens than that."),
        mark("Set a scale for its positions to go further, or share the context among more answers."),
    ),
    "setting.choice": (
        mark("{name} cannot be {value}."),
        mark("It is one of: {known}."),
    ),
    "setting.device_card": (mark("Nothing was asked for, and a card with memory of its own is the fastest."), ""),
    "setting.device_full": (
        mark("No graphics device has room for the model: it is computed on the processor."),
        mark("Set another device to try one all the same, or a shorter context."),
    ),
    "setting.device_only": (mark("This build of the engine sees no graphics device that it can use."), ""),
    "setting.device_shared": (
        mark("Nothing was asked for, and the model has room in the memory that the graphics part may take."),
        "",
    ),
    "setting.kind.choice": (mark("{name} cannot be {value}."), mark("It is one word out of a list.")),
    "setting.kind.file": (mark("{name} cannot be {value}."), mark("Name a file.")),
    "setting.kind.files": (mark("{name} cannot be {value}."), mark("Name one file or more.")),
    "setting.kind.json": (mark("{name} cannot be {value}."), mark("Give a JSON object.")),
    "setting.kind.lines": (mark("{name} cannot be {value}."), mark("Give arguments, with spaces between them.")),
    "setting.kind.number": (mark("{name} cannot be {value}."), mark("Give a number.")),
    "setting.kind.numbers": (mark("{name} cannot be {value}."), mark("Give numbers, with commas between them.")),
    "setting.kind.switch": (mark("{name} cannot be {value}."), mark("It is on or off.")),
    "setting.kind.text": (mark("{name} cannot be {value}."), mark("Give a text.")),
    "setting.kind.values": (mark("{name} cannot be {value}."), mark("Give values by name, as a JSON object.")),
    "setting.kind.whole": (mark("{name} cannot be {value}."), mark("Give a whole number.")),
    "setting.needs": (
        mark("{name} cannot be used with {needs} as it is set."),
        mark("Change one of the two."),
    ),
    "setting.no_device": (
        mark("This build of the engine has no device for layers: it computes all of them on the processor."),
        mark("Install a build that can use your card: see Engines."),
    ),
    "setting.no_flash_attention": (mark("Flash attention cannot be used with this model on this device."), ""),
    "setting.no_prompts_with_adapters": (
        mark("Earlier prompts are not kept where adapters are loaded: read with another one, they are not the same."),
        "",
    ),
    "setting.no_window": (mark("This model has no layers that keep only a window."), ""),
    "setting.not_of_engine": (mark("This engine has no such setting."), ""),
    "setting.only_library": (
        mark("This engine is a program, which has no {name}."),
        mark("Take it away; a program takes arguments as they are."),
    ),
    "setting.only_program": (
        mark("This engine is a library, which takes no {name}."),
        mark("Use the settings, or give it attributes by name."),
    ),
    "setting.ours": (
        mark("{name} is not for a load to say: Weighbridge decides who reaches an engine and what it may read."),
        mark("Take it away."),
    ),
    "setting.range": (
        mark("{name} cannot be {value}."),
        mark("It goes from {low} to {high}."),
    ),
    "setting.unknown": (
        mark("There is no setting called {name}."),
        mark("See the list of settings of this engine."),
    ),
    "setting.unused_here": (mark("It is of no use where this model is computed."), ""),
    "setting.whole_batch": (
        mark("A text that is read as a whole is computed in one batch."),
        "",
    ),
}
