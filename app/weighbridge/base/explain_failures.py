"""What each code about a load that failed says to a person, as in `explain`. Keep it alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

FAILURES: Mapping[str, tuple[str, str]] = {
    "engine.adapter_mismatch": (
        mark("The adapter does not belong to this model: {reason}."),
        mark("Load without the adapter, or with the model that it was made for."),
    ),
    "engine.assertion": (
        mark("{engine} stopped itself: what must hold did not ({reason})."),
        mark("This is a fault of the engine, or of the file. Another build of it may do better."),
    ),
    "engine.bad_model_file": (
        mark("{engine} cannot read the model file: it is damaged or incomplete."),
        mark("Verify the file or download it again. The engine's log has its own words."),
    ),
    "engine.bad_option": (
        mark("This build of {engine} does not take the option {option}."),
        mark("Load without it, or use another build."),
    ),
    "engine.cache_needs_flash": (
        mark("A KV cache of a smaller type needs flash attention, which the load turns off."),
        mark("Leave flash attention to the engine, or keep the cache in f16."),
    ),
    "engine.cache_type_size": (
        mark("The KV cache cannot be of the type {kind}: blocks of {block} do not divide heads of {head}."),
        mark("Choose q8_0, or f16."),
    ),
    "engine.cache_type_unknown": (
        mark("This build of {engine} does not know the type {type} of the KV cache."),
        mark("Choose q8_0, or f16."),
    ),
    "engine.cannot_map": (
        mark("The model file cannot be mapped into memory where it lies."),
        mark("Load it without mapping: it is then read into memory whole."),
    ),
    "engine.card_failed": (
        mark("The card failed while {engine} was using it: {reason}"),
        mark("Restart the machine if it comes back; a newer driver or fewer layers on the card may help."),
    ),
    "engine.card_memory_refused": (
        mark("{engine} asked for {needed} more of the memory of {device} and did not get it."),
        mark("Choose a smaller context length or fewer layers on the card, or close what holds its memory."),
    ),
    "engine.card_not_built_for": (
        mark("This build of {engine} was not made for the card that is here."),
        mark("Use another build for it, or the processor."),
    ),
    "engine.crashed": (
        mark("{engine} crashed ({signal})."),
        mark(
            "The last lines of its log are kept below. A smaller context length or fewer threads may avoid it;"
            " the same load will most likely crash again."
        ),
    ),
    "engine.draft_mismatch": (
        mark("The draft model does not go with this model: their vocabularies differ."),
        mark("Load without the draft model, or with one of the same family."),
    ),
    "engine.driver": (
        mark("The driver of the card does not go with this build of {engine} ({reason})."),
        mark("Update the driver, or use a build for an older one."),
    ),
    "engine.file_changed": (
        mark("{engine} ended because the model file changed while it was in use ({signal})."),
        mark("Load the model again."),
    ),
    "engine.file_denied": (
        mark("{engine} may not read {path}."),
        mark("Give yourself the right to read the file, or move it into a folder of yours."),
    ),
    "engine.file_name": (
        mark("{engine} cannot open a file whose name, or whose folder's name, it cannot spell."),
        mark("Give file and folder a name of plain letters, then scan the library again."),
    ),
    "engine.file_other_order": (
        mark("The model file was made for machines with another order of bytes."),
        mark("Get the model from another place."),
    ),
    "engine.file_too_new": (
        mark("The model file is GGUF version {version}; this build of {engine} reads up to {most}."),
        mark("A newer build of the engine reads it."),
    ),
    "engine.file_too_old": (
        mark("The model file is of a form that llama.cpp gave up in 2023."),
        mark("Get the model in a newer file."),
    ),
    "engine.illegal_instruction": (
        mark("{engine} used an instruction that this processor does not have ({signal}). It has: {extensions}."),
        mark("This build needs a newer processor; use another engine build."),
    ),
    "engine.instruction_missing": (
        mark("This build of {engine} uses {missing}, which this processor does not have or may not use."),
        mark("Use another build of the engine. The processor has: {extensions}."),
    ),
    "engine.is_projector": (
        mark("This file is a projector: the part of a model that reads images, not a model."),
        mark("Load the model that it belongs to, and choose the projector beside it."),
    ),
    "engine.killed": (
        mark("{engine} was ended by the system ({signal}), most often because memory ran out."),
        mark("Choose a smaller context length, a smaller quantisation, or close other programs."),
    ),
    "engine.load_refused": (
        mark("{engine} does not load the model with these settings: {reason}."),
        mark("Change the setting that it names."),
    ),
    "engine.memory_refused": (
        mark("{engine} asked for {needed} more of the system's memory and did not get it."),
        mark("Choose a smaller context length, a smaller quantisation, or close what holds it."),
    ),
    "engine.missing_driver": (
        mark("This build of {engine} needs the driver of a card, which is not installed ({library} is missing)."),
        mark("Install the driver, or use a build without it."),
    ),
    "engine.missing_library": (
        mark("{engine} needs the system library {library}, which is not installed."),
        mark("Install the package that holds it (on Debian, libgomp1 holds libgomp.so.1), then load the model again."),
    ),
    "engine.no_adapter_file": (
        mark("The adapter {path} is not there any more."),
        mark("Load without it, or choose another."),
    ),
    "engine.no_backend": (
        mark("This build of {engine} is incomplete: it found nothing to compute with."),
        mark("Install it anew, or use another build."),
    ),
    "engine.no_draft_file": (
        mark("The draft model {path} is not there any more."),
        mark("Load without it, or choose another."),
    ),
    "engine.no_model_file": (
        mark("The model file is not there any more."),
        mark("Scan the library again."),
    ),
    "engine.no_projector_file": (
        mark("The projector {path} is not there any more."),
        mark("Load without it, or choose another."),
    ),
    "engine.no_such_device": (
        mark("This build of {engine} has no device {device}."),
        mark("Leave the devices to the engine."),
    ),
    "engine.old_system": (
        mark("This build of {engine} needs a newer system: {needs} is missing."),
        mark("Use an older build, or update the system."),
    ),
    "engine.other_layout": (
        mark("{engine} expects other contents in a file of this kind ({reason})."),
        mark("It was made for another version of the engine: use a newer build, or get it from another place."),
    ),
    "engine.out_of_memory": (
        mark("{engine} could not get the memory it needs."),
        mark("Choose a smaller context length, a smaller quantisation, or close other programs. Its own words: {line}"),
    ),
    "engine.port_taken": (
        mark("Another program took the port that {engine} was to use."),
        mark("Load the model again."),
    ),
    "engine.projector_mismatch": (
        mark(
            "The projector does not belong to this model: it gives {projector_width} values for each piece of an image,"
            " the model takes {text_width}."
        ),
        mark("Choose the projector of this model, or load without one."),
    ),
    "engine.projector_refused": (
        mark("{engine} cannot use {path} as a projector."),
        mark("Choose the projector of this model, or load without one."),
    ),
    "engine.template": (
        mark("The chat template cannot be used: {reason}"),
        mark("Use another template, or get the model from another place."),
    ),
    "engine.type_removed": (
        mark("The weights are of the type {type}, which llama.cpp gave up."),
        mark("Get the model as {instead}: it is as fast now."),
    ),
    "engine.type_unknown": (
        mark("The weights are of a type that this build of {engine} does not know (number {type_number})."),
        mark("A newer build of the engine may know it; some types exist only in other programs."),
    ),
    "engine.unknown_architecture": (
        mark("{engine} does not know the architecture {architecture}."),
        mark("A newer build of the engine may know it."),
    ),
    "engine.unknown_tokenizer": (
        mark("{engine} does not know the tokenizer {tokenizer}."),
        mark("A newer build of the engine may know it."),
    ),
    "engine.wrong_part": (
        mark("The parts of the model do not go together: {reason}."),
        mark("Fetch all parts again from the same place, and load the first."),
    ),
    "folder.full": (
        mark("Only {free} are free where {path} lies."),
        mark("Make room before the next download."),
    ),
    "folder.unusable": (
        mark("The folder {path} cannot be used ({reason})."),
        mark("Check who may read and write there, and whether its drive is there."),
    ),
    "load.does_not_fit": (
        mark(
            "{model} needs {needed} of the system's memory as it would be loaded; {free} are free, {missing} too few."
        ),
        mark("Choose what to change."),
    ),
    "load.does_not_fit_card": (
        mark("{model} needs {needed} on {device} as it would be loaded; {free} are free, {missing} too few."),
        mark("Choose what to change."),
    ),
}
