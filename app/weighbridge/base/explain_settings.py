"""What the error codes about settings of a load say: see `explain`."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

SETTINGS: Mapping[str, tuple[str, str]] = {
    "setting.attribute": (
        mark("The engine's library has no attribute {name} that could be {value}."),
        mark("Take the attribute away, or give it a value of the kind that it has."),
    ),
    "setting.choice": (
        mark("{name} cannot be {value}."),
        mark("It is one of: {known}."),
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
    "setting.only_library": (
        mark("This engine is a program, which has no {name}."),
        mark("Give it arguments instead."),
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
}
