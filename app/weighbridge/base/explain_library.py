"""What each code about models that are here says to a person, as in `explain`. Keep it alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

LIBRARY: Mapping[str, tuple[str, str]] = {
    "adding.home": (
        mark("{path} is a home folder, or holds one; looking for models in all of it would take long."),
        mark("Add the folder in it that holds the models."),
    ),
    "adding.known": (
        mark("{path} is in the library already."),
        mark("Look again if it does not show."),
    ),
    "adding.many": (
        mark("{count} at once are too many: the first {most} were looked at."),
        mark("Add the folder that they lie in."),
    ),
    "adding.name": (
        mark("{path} cannot be kept in the settings: its name is no text."),
        mark("Rename it, or put it into a folder that is in the library."),
    ),
    "adding.nothing": (
        mark("There is no model in {path}."),
        mark("Add a GGUF file, or a folder with models in it."),
    ),
    "adding.root": (
        mark("{path} is the top of a whole volume; looking for models in all of it would take long."),
        mark("Add the folder in it that holds the models."),
    ),
    "bin.none": (
        mark("{path} could not be moved to the bin ({reason}). Nothing was removed."),
        mark("Remove the file yourself, in your file manager."),
    ),
    "bin.partly": (
        mark("{path} could not be moved to the bin ({reason}); {gone} of {count} files are there already."),
        mark("Put them back out of the bin, or remove the others yourself."),
    ),
    "double.changed": (
        mark("{name} is not what it was when it was compared."),
        mark("Look for doubles again."),
    ),
    "double.linked": (
        mark("{name} is one file with the other already."),
        mark("There is nothing to free."),
    ),
    "double.not_ours": (
        mark("{name} belongs to another program, and is not touched."),
        mark("Only files in Weighbridge's own models folder are replaced by links."),
    ),
    "double.other_volume": (
        mark("{name} and its double are on different volumes; a hard link cannot lead from one to the other."),
        mark("Remove one of the two, if you do not need both."),
    ),
    "double.unlinkable": (
        mark("{name} could not be replaced by a hard link ({reason}). Both files are as they were."),
        mark("Not every file system has hard links; remove one of the two, if you do not need both."),
    ),
    "file.changed": (
        mark("{name} was changed while it was read."),
        mark("Try again once nobody writes to it."),
    ),
    "library.closed": (
        mark("{path}, where {program} keeps models, could not be read ({reason})."),
        mark("Have your account allowed to read that folder, or switch off the models of other programs in Settings."),
    ),
    "library.empty": (
        mark("The library is empty."),
        mark("Put a model into the models folder, or get the starter model."),
    ),
    "library.gone": (
        mark("The model folder or file {path} is not there now."),
        mark("Plug in the drive that holds it, or take it off the list in Settings."),
    ),
    "library.named": (
        mark("{path} of {program} names {named}, which is no GGUF file on this computer."),
        mark("Put the model back in its place, or mend or remove the file that names it."),
    ),
    "library.note": (
        mark("{path}, a note of {program} on one of its models, could not be read ({reason})."),
        mark("Import the model into {program} again, or add its folder to the model folders in Settings."),
    ),
    "library.outside": (
        mark("{path} was passed over: it leads out of the folder of {program}."),
        mark("To use it, add the folder that holds it to the model folders in Settings."),
    ),
    "library.skipped": (
        mark("{path} was passed over ({reason})."),
        mark("Check that you may read it, or move models nearer to the top of the folder."),
    ),
    "model.corrupt": (
        mark("{name} is not what it must be: its sha256 is {found}, and should be {expected}."),
        mark("Remove the model and download it again."),
    ),
    "model.fetched_now": (
        mark("{model} is being downloaded."),
        mark("Cancel its download first."),
    ),
    "model.in_use": (
        mark("{model} is loaded."),
        mark("Stop it first."),
    ),
    "note.too_long": (
        mark("A note has {most} characters at most, and this one has {count}. The one before stays."),
        mark("Shorten it."),
    ),
    "ollama.blob": (
        mark("{name} of Ollama has no weights here: {path} is missing."),
        mark("Fetch it again: ollama pull {name}"),
    ),
    "ollama.digest": (
        mark("{path}, a manifest of Ollama, names a layer in a way that is not safe to follow ({digest})."),
        mark("Remove that model with ollama rm, and take it from a place that you trust."),
    ),
    "ollama.manifest": (
        mark("{path}, a manifest of Ollama, has no list of layers."),
        mark("Fetch that model again with ollama pull."),
    ),
    "ollama.tensors": (
        mark("{name} of Ollama is kept tensor by tensor, as no other program reads it."),
        mark("Get the model as GGUF or MLX to use it here."),
    ),
    "removal.changed": (
        mark("{path} is not the file any more that was to be removed. Nothing was removed."),
        mark("Look again, and decide anew."),
    ),
    "removal.needs_yes": (
        mark("Nothing was removed: there is no terminal to ask on."),
        mark("Give --yes to remove without a question."),
    ),
    "removal.other_path": (
        mark("{path} lies outside of Weighbridge's own folder. The same bytes lie there too: {ours}."),
        mark("Nothing was removed. Give the path that you mean, or the model's name."),
    ),
    "verified.by_download": (
        mark("All bytes are right, by the sha256 that the Hub promised ({count} files)."),
        "",
    ),
    "verified.by_header": (
        mark("No hash is known for {unknown} of {count} files; header and table of tensors are whole."),
        "",
    ),
    "verified.by_name": (
        mark("All bytes are right, by the sha256 in the files' names ({count} files)."),
        "",
    ),
    "verified.nothing": (
        mark("No hash is known for {unknown} of {count} files, and there is nothing else to compare them with."),
        "",
    ),
}
