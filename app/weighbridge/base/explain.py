"""What each error code says to a person: what happened, with its numbers, and what to do next.

One table for errors of Weighbridge and causes told by engines. Sentences are marked here and translated when shown.
Keep it alphabetical. A code missing here is a fault that a test finds; should one slip through, it is shown as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.words import mark, text


@dataclass(frozen=True)
class Explanation:
    """Words for a fault: `what` happened, and `next_step` (empty where there is nothing to do)."""

    what: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.what} {self.next_step}".strip()


WHAT_AND_NEXT: Mapping[str, tuple[str, str]] = {
    "chat.fault": (
        mark("Something in Weighbridge failed while this answer was being written ({reason})."),
        mark("What had come is kept. Regenerate to have it written anew."),
    ),
    "chat.interrupted": (
        mark("The program ended while this answer was being written."),
        mark("What had come is kept. Regenerate to have it written anew."),
    ),
    "chat.storage": (
        mark("The answer could not be saved ({reason})."),
        mark("It is shown here until the window closes: copy it, then check the free space."),
    ),
    "chat.unknown": (
        mark("That conversation or message is not here any more."),
        "",
    ),
    "database.damaged": (
        mark("The database could not be read, so a new one was made."),
        mark("The old file is kept as {aside}."),
    ),
    "database.newer": (
        mark("The database was written by a later version of Weighbridge ({migration})."),
        mark("Start that version, or move the file away."),
    ),
    "database.unusable": (
        mark("The database {path} could not be opened ({reason})."),
        mark("Check the free space, who may write there, and that no other program holds the file."),
    ),
    "file.empty": (
        mark("The file is empty."),
        mark("Download it again."),
    ),
    "file.lfs_pointer": (
        mark("This is a Git LFS pointer: a note of where the weights are, not the weights."),
        mark('Fetch the real file with "git lfs pull", or download it from the model\'s page.'),
    ),
    "file.not_gguf": (
        mark("This is not a GGUF file; it starts with {starts_with}."),
        mark("Download it again, or remove it."),
    ),
    "file.old_ggml": (
        mark("This file has the old GGML format, from before GGUF."),
        mark("Get the model as GGUF; no present engine reads the old format."),
    ),
    "file.truncated": (
        mark("The file is cut short: it has {size_bytes} bytes and needs at least {needed_bytes}."),
        mark("Download it again."),
    ),
    "file.unreadable": (
        mark("{name} could not be read ({reason})."),
        mark("Check that the file is there and that you may read it."),
    ),
    "file.web_page": (
        mark("This is a web page that was saved under the name of a model."),
        mark("Download the file itself; addresses with /blob/ lead to a page, those with /resolve/ to the file."),
    ),
    "gguf.alignment": (
        mark("The header is damaged: general.alignment is {value}, which is not a power of two up to 1048576."),
        mark("Download the file again."),
    ),
    "gguf.big_endian": (
        mark("This file is for big-endian machines; engines on this one can not read it."),
        mark("Get the little-endian version of the model."),
    ),
    "gguf.count": (
        mark("The header is damaged: it claims {count} entries for {what}."),
        mark("Download the file again."),
    ),
    "gguf.duplicate_key": (
        mark("The header is damaged: the key {key} stands in it twice."),
        mark("Download the file again."),
    ),
    "gguf.duplicate_tensor": (
        mark("The header is damaged: the tensor {tensor} stands in it twice."),
        mark("Download the file again."),
    ),
    "gguf.header_too_long": (
        mark("The header is damaged: it does not end within {limit_bytes} bytes."),
        mark("Download the file again."),
    ),
    "gguf.key": (
        mark("The header is damaged: a key is not a text ({key})."),
        mark("Download the file again."),
    ),
    "gguf.length": (
        mark("The header is damaged: it claims a piece of {length} bytes."),
        mark("Download the file again."),
    ),
    "gguf.nested_array": (
        mark("The header is damaged: {key} is a list of lists."),
        mark("Download the file again."),
    ),
    "gguf.tensor_offset": (
        mark("The header is damaged: the tensor {tensor} starts at {offset}, which is not a multiple of {alignment}."),
        mark("Download the file again."),
    ),
    "gguf.tensor_shape": (
        mark("The header is damaged: the tensor {tensor} has an impossible shape ({shape})."),
        mark("Download the file again."),
    ),
    "gguf.value_type": (
        mark("The header is damaged: {key} has a value of unknown type {type}."),
        mark("Download the file again."),
    ),
    "gguf.version": (
        mark("This file has GGUF version {version}; versions 2 and 3 can be read."),
        mark("Get a newer conversion of the model, or a newer Weighbridge."),
    ),
    "library.skipped": (
        mark("{path} was passed over ({reason})."),
        mark("Check that you may read it, or move models nearer to the top of the folder."),
    ),
    "model.ambiguous": (
        mark("More than one model is meant by {name}: {served}."),
        mark("Use one of these names."),
    ),
    "model.echo": (
        mark("An .echo file must hold a JSON object of up to 64 KiB."),
        mark("Mend the file, or remove it."),
    ),
    "model.none": (
        mark("There is no model {name} here; the library is empty."),
        mark("Put a model into the models folder, or get the starter model."),
    ),
    "model.part_missing": (
        mark("The model has {count} parts and {here} are here; missing: {missing}."),
        mark("Download the missing parts into the same folder."),
    ),
    "model.part_renamed": (
        mark("This file is part {number} of {count} of a model, but its name does not say so."),
        mark("Give the parts their names back (NAME-00001-of-{count:05}.gguf)."),
    ),
    "model.unknown": (
        mark("There is no model {name} here. There is: {served}."),
        mark("Use one of these names, or put the model into the models folder."),
    ),
    "settings.bad_value": (
        mark("The setting {name} is {value}, which it can not be; {default} is used instead."),
        mark("Choose it anew in the window, or mend it in the settings file."),
    ),
    "settings.damaged": (
        mark("The settings file could not be read, so the defaults are used."),
        mark("The old file is kept as {path}."),
    ),
    "settings.unreadable": (
        mark("The settings file {path} could not be opened ({reason}), so the defaults are used."),
        mark("Check who may read it."),
    ),
    "settings.unwritable": (
        mark("The settings could not be saved in {path} ({reason}). They hold until the program ends."),
        mark("Check the free space and who may write there."),
    ),
}


def explain(error: WeighbridgeError) -> Explanation:
    """Words for `error` in the language in use."""
    return explain_code(error.code, error.values)


def explain_code(code: str, values: Mapping[str, object]) -> Explanation:
    """Words for a code and its values."""
    what, next_step = WHAT_AND_NEXT.get(code, (code, ""))
    return Explanation(_fill(what, values), _fill(next_step, values))


def _fill(source: str, values: Mapping[str, object]) -> str:
    if not source:
        return ""
    try:
        return text(source).format(**{name: _shown(value) for name, value in values.items()})
    except (KeyError, IndexError):
        return text(source)


def _shown(value: object) -> object:
    """Lists as a person reads them."""
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
