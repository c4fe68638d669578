"""What each code about what is in a file says to a person, as in `explain`. Keep it alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

FILES: Mapping[str, tuple[str, str]] = {
    "file.empty": (
        mark("The file is empty."),
        mark("Download it again."),
    ),
    "file.lfs_pointer": (
        mark("This is a Git LFS pointer: a note of where the weights are, not the weights."),
        mark('Fetch the real file with "git lfs pull", or download it from the model\'s page.'),
    ),
    "file.name_twin": (
        mark("Files whose names differ only in the case of their letters are refused: {names}."),
        mark("On many systems one would overwrite the other; their maker must rename them."),
    ),
    "file.not_gguf": (
        mark("This is not a GGUF file; it starts with {starts_with}."),
        mark("Download it again, or remove it."),
    ),
    "file.not_regular": (
        mark("{name} is a pipe or a device, not a file."),
        mark("Remove it, or put the model in its place."),
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
    "file.unsafe_name": (
        mark("{name} is refused: a file of that name is not safe to write here."),
        mark("Its maker must rename it."),
    ),
    "file.unwritable": (
        mark("{path} could not be written ({reason})."),
        mark("Check who may write there, or choose another models folder."),
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
        mark("This file is for big-endian machines; engines on this one cannot read it."),
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
    "gguf.removed_type": (
        mark("The file has the type {type}, which llama.cpp does not read any more."),
        mark("Get a Q4_0 file instead: it is rearranged while it is loaded."),
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
    "json.damaged": (
        mark("{name} could not be read as JSON ({reason})."),
        mark("Download it again."),
    ),
    "safetensors.count": (
        mark("The header is damaged: it claims {count} tensors."),
        mark("Download the file again."),
    ),
    "safetensors.none": (
        mark("{name} is not a safetensors file."),
        mark("Download it again, or remove it."),
    ),
    "safetensors.overlap": (
        mark("The header is damaged: the tensor {tensor} lies upon another one."),
        mark("Download the file again."),
    ),
    "safetensors.tensor": (
        mark("The header is damaged: what it says of the tensor {tensor} cannot be."),
        mark("Download the file again."),
    ),
}
