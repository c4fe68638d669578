"""What each error code says to a person: what happened, with its numbers, and what to do next.

One table for errors of Weighbridge and causes told by engines; those about builds of engines stand in `explain_builds`,
about comparisons in `explain_compare`, about endpoints in `explain_endpoints`, about single engines in
`explain_engines`, about loads that failed in `explain_failures`, about hardware in `explain_hardware`, about what is in
a file in `explain_files`, about the Hub in `explain_hub`, about what is done with models that are here in
`explain_library`, about requests in `explain_requests`, about settings of a load in `explain_settings`, about speed in
`explain_speed`. Sentences are marked here and translated when shown. Keep it alphabetical. A code missing here is a
fault that a test finds; should one slip through, it is shown as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.explain_builds import BUILDS
from weighbridge.base.explain_compare import COMPARE
from weighbridge.base.explain_endpoints import ENDPOINTS
from weighbridge.base.explain_engines import ENGINES
from weighbridge.base.explain_failures import FAILURES
from weighbridge.base.explain_files import FILES
from weighbridge.base.explain_hardware import HARDWARE
from weighbridge.base.explain_hub import HUB
from weighbridge.base.explain_library import LIBRARY
from weighbridge.base.explain_requests import REQUESTS
from weighbridge.base.explain_settings import SETTINGS
from weighbridge.base.explain_speed import SPEED
from weighbridge.base.printable import printable
from weighbridge.base.units import size
from weighbridge.base.words import mark, text


@dataclass(frozen=True)
class Explanation:
    """Words for a fault: `what` happened, and `next_step` (empty where there is nothing to do)."""

    what: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.what} {self.next_step}".strip()


WHAT_AND_NEXT: Mapping[str, tuple[str, str]] = {
    **BUILDS,
    **COMPARE,
    **ENDPOINTS,
    **ENGINES,
    **FAILURES,
    **FILES,
    **HARDWARE,
    **HUB,
    **LIBRARY,
    **REQUESTS,
    **SETTINGS,
    **SPEED,
    "access.host": (
        mark("The request names the host {host}, which is not this machine's own address."),
        mark("Use http://127.0.0.1 and the port's number."),
    ),
    "access.origin": (
        mark("Web pages of {origin} may not use this port."),
        mark("Add the origin, exactly as written here, to the allowed ones."),
    ),
    "body.bad_number": (
        mark("The request holds a number that JSON does not know (NaN, Infinity) or that is too long."),
        mark("Send plain numbers."),
    ),
    "body.not_json": (
        mark("The request is not JSON; it goes wrong in line {line}, column {column}."),
        mark("Mend the body of the request."),
    ),
    "body.not_object": (
        mark("The request is not a JSON object."),
        mark("Send an object: curly braces with fields in them."),
    ),
    "body.not_utf8": (
        mark("The request is not UTF-8; it goes wrong at byte {at_byte}."),
        mark("Send the body in UTF-8."),
    ),
    "body.stopped": (
        mark("The body of the request stopped half way: nothing came for {seconds} seconds."),
        mark("Send the whole body, or a Content-Length that is true."),
    ),
    "body.too_deep": (
        mark("The request is nested more than {limit} levels deep."),
        mark("Send a flatter body."),
    ),
    "body.too_large": (
        mark("The request is larger than {limit_bytes} bytes."),
        mark("Send less at a time."),
    ),
    "body.too_many": (
        mark("The request holds more than {limit} values."),
        mark("Send less at a time."),
    ),
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
    "context.exceeded": (
        mark("The prompt has {prompt_tokens} tokens; the context length is {context}."),
        mark("Shorten the prompt, or load the model with a larger context."),
    ),
    "database.damaged": (
        mark("The database could not be read, so a new one was made."),
        mark("The old file is kept as {aside}."),
    ),
    "database.failed": (
        mark("The database {path} could not be read or written ({reason})."),
        mark("Check the free space. What is on the screen can still be copied."),
    ),
    "database.newer": (
        mark("The database was written by a later version of Weighbridge ({migration})."),
        mark("Start that version, or move the file away."),
    ),
    "database.unusable": (
        mark("The database {path} could not be opened ({reason})."),
        mark("Check the free space, who may write there, and that no other program holds the file."),
    ),
    "disk.full": (
        mark("There is not enough room in {path}: {needed} are needed, {free} are free."),
        mark("Free some space, or choose another models folder."),
    ),
    "download.busy": (
        mark("{name} is being fetched already."),
        mark("Wait for the other one to end, or try again in a minute."),
    ),
    "download.wrong_hash": (
        mark("What came as {name} is not that file: its hash is wrong. It was thrown away."),
        mark("Try again; if it comes back, something on the way changes downloads."),
    ),
    "engine.answered": (
        mark("The engine refused the request: {message}"),
        mark("Change the request, or look at the engine's log."),
    ),
    "engine.bandwidth_failed": (
        mark("{engine} could not measure how fast the memory of the cards is ({reason})."),
        mark("Published figures stand."),
    ),
    "engine.bandwidth_slow": (
        mark("{engine} did not measure how fast the memory of the cards is within {limit_s} seconds."),
        mark("Published figures stand. Try again when nothing else uses the cards."),
    ),
    "engine.build_not_installed": (
        mark("No installed engine uses {device}: the {build} build of {engine} would, and is not installed."),
        mark("Install it: weighbridge engines install {build_id}"),
    ),
    "engine.build_not_used": (
        mark("No engine in use uses {device}; {build} of {engine}, which is here, would."),
        mark("Use it: weighbridge engines use {build_id}"),
    ),
    "engine.cannot_start": (
        mark("The engine's process could not be started."),
        mark("Its log says why; a security program or a full process table may stand in the way."),
    ),
    "engine.devices_failed": (
        mark("{engine} could not tell what it can compute on ({reason})."),
        mark("Its devices are shown as unknown; install the engine anew if it does not run either."),
    ),
    "engine.devices_slow": (
        mark("{engine} did not tell within {limit_s} seconds what it can compute on."),
        mark("Its devices are shown as unknown. A sick driver may hold it; restart the machine if it comes back."),
    ),
    "engine.ended": (
        mark("{engine} ended by itself with status {exit_code}."),
        mark("The last lines of its log are kept below."),
    ),
    "engine.in_process_elsewhere": (
        mark("The build of {engine} in use ({build}) lies in an environment of its own, for another process."),
        mark("Load it in a process of its own, or use the {engine} that is installed beside this program."),
    ),
    "engine.in_process_release": (
        mark("A release of this program cannot take in the library of {engine}."),
        mark("Load it in a process of its own, or install this program as a package of Python."),
    ),
    "engine.no_build": (
        mark("No installed engine can use {device}: the {build} build of {engine} is not installed."),
        mark("Install that build; until then models run on what is left."),
    ),
    "engine.no_token": (
        mark("{engine} loaded the model and could not answer with it: {message}"),
        mark("Look at its log; the model may be of a kind that does not chat, or its chat template may be at fault."),
    ),
    "engine.none_for_format": (
        mark("No engine here runs {format} files ({model})."),
        mark("Get the model in another format, GGUF for example."),
    ),
    "engine.none_installed": (
        mark("No engine is installed, so no model can run yet. {engine} suits this machine."),
        mark("Install it, then start Weighbridge again: {install}"),
    ),
    "engine.not_for_format": (
        mark("{engine} does not run {format} files."),
        mark("Leave the engine out, or name one that does."),
    ),
    "engine.not_in_process": (
        mark("{engine} runs in a process of its own alone."),
        mark("Load it so, or with an engine whose library can be hosted here, such as llama-cpp-python."),
    ),
    "engine.not_installed": (
        mark("{engine} is not installed."),
        mark("Install it: {install}"),
    ),
    "engine.not_loadable": (
        mark("{engine} is installed, but its library could not be loaded ({reason})."),
        mark("Install it anew: {install}"),
    ),
    "engine.not_ours": (
        mark("No engine of this program runs {format} files; {engine} does."),
        mark("Get the model in another format to run it here, GGUF for example."),
    ),
    "engine.option_unknown": (
        mark("This build of {engine} ({place}) has no {option}, which the load asks for."),
        mark("Load without it, or use a newer build."),
    ),
    "engine.silent": (
        mark("The engine closed the connection before its answer was whole."),
        mark("Look at the engine's log, then try again."),
    ),
    "engine.stopped": (
        mark("{model} was stopped."),
        "",
    ),
    "engine.unknown": (
        mark("There is no engine {engine}. There are: {known}."),
        mark("See what there is: weighbridge engines ls"),
    ),
    "index.unreachable": (
        mark("The package index could not be used ({reason})."),
        mark("Check the network connection and the package index that is set for pip or uv."),
    ),
    "internal": (
        mark("Something in Weighbridge failed ({kind})."),
        mark("Its log has the details."),
    ),
    "message.content": (
        mark("{field} is neither text nor a list of parts with text."),
        mark('Send a string, or parts of the kind {{"type": "text", "text": "..."}}.'),
    ),
    "message.part": (
        mark("{field} is of the kind {part}; the model {model} reads text alone."),
        mark("Leave this part out, or choose a model that can read it."),
    ),
    "message.role": (
        mark("{field} is {role}, which is no role."),
        mark("Use one of these: {known}."),
    ),
    "model.ambiguous": (
        mark("More than one model is meant by {name}: {served}."),
        mark("Use one of these names."),
    ),
    "model.echo": (
        mark("An .echo file must hold a JSON object of up to 64 KiB."),
        mark("Mend the file, or remove it."),
    ),
    "model.join_first": (
        mark("This model was cut into {count} pieces that no engine can read by themselves."),
        mark("Join them in their order into one file, {name}, beginning with {first}."),
    ),
    "model.needed": (
        mark("The request names no model and none is loaded. There is: {served}."),
        mark('Name one of these in the field "model".'),
    ),
    "model.no_companion": (
        mark("No file for the role {role} lies beside {model}."),
        mark("Put it into the folder of the model, or weigh the model without it."),
    ),
    "model.no_config": (
        mark("The folder has weights and no {name}, so nothing tells how to run them."),
        mark("Download {name} from the model's page into the same folder."),
    ),
    "model.no_file": (
        mark("There is nothing at {path}."),
        mark("Check the path; a listed model can be named by its id."),
    ),
    "model.none": (
        mark("There is no model {name} here; the library is empty."),
        mark("Put a model into the models folder, or get the starter model."),
    ),
    "model.nothing_here": (
        mark("No model was recognised here."),
        mark("Choose a GGUF file, or a folder with weights and their config.json."),
    ),
    "model.other_branches": (
        mark("There are no weights on this branch."),
        mark("Look at the repository's other branches: there is one for each size."),
    ),
    "model.part_missing": (
        mark("The model has {count} parts and {here} are here; missing: {missing}."),
        mark("Download the missing parts into the same folder."),
    ),
    "model.part_renamed": (
        mark("This file is part {number} of {count} of a model, but its name does not say so."),
        mark("Give the parts their names back (NAME-00001-of-{count:05}.gguf)."),
    ),
    "model.parts_differ": (
        mark("{name} does not belong to the other parts of the model."),
        mark("Download all parts again from the same place."),
    ),
    "model.pickle": (
        mark("{name} is a pickle: loading it would run what its maker put in. It is refused."),
        mark("Get the model as safetensors or GGUF."),
    ),
    "model.several": (
        mark("There are {count} models in {path}."),
        mark("Name one of them: {names}."),
    ),
    "model.unknown": (
        mark("There is no model {name} here. There is: {served}."),
        mark("Use one of these names, or put the model into the models folder."),
    ),
    "options.needs": (
        mark("{one} means nothing without {other}."),
        mark("Give {other} too, or leave {one} out."),
    ),
    "options.not_together": (
        mark("{one} and {other} do not go together."),
        mark("Leave one of them out."),
    ),
    "owner.other": (
        mark("Another Weighbridge works with this data folder."),
        mark("End it first, or set WEIGHBRIDGE_HOME to another folder."),
    ),
    "owner.other_with_port": (
        mark("Another Weighbridge (process {pid}) works with this data folder; its port is open at {url}."),
        mark("Use that port, or end that process first."),
    ),
    "owner.other_without_port": (
        mark("Another Weighbridge (process {pid}) works with this data folder; its port is closed."),
        mark("Open its port on the page Server, or end that process first."),
    ),
    "owner.unwritable": (
        mark("{path} could not be opened ({reason})."),
        mark("Check the free space and who may write there."),
    ),
    "port.bad": (
        mark("There is no port {port}."),
        mark("Choose a number from 1 to 65535, or 0 for any free port."),
    ),
    "port.host": (
        mark("The port opens on this machine alone; {host} is not an address of that kind."),
        mark("Use 127.0.0.1."),
    ),
    "port.not_allowed": (
        mark("Port {port} needs rights that this program does not have."),
        mark("Choose a port from 1024 up."),
    ),
    "port.not_free": (
        mark("Port {port} is not free ({reason})."),
        mark("Choose another one in the settings, or end the program that has it."),
    ),
    "port.stopping": (
        mark("The port is being closed."),
        mark("Open it again, then send the request anew."),
    ),
    "port.taken": (
        mark("Port {port} is in use by {by}."),
        mark("End that program, or choose another port, such as {free}."),
    ),
    "port.taken_unknown": (
        mark("Port {port} is in use by another program."),
        mark("End that program, or choose another port, such as {free}."),
    ),
    "preset.exists": (
        mark("{model} has a preset called {preset} already."),
        mark("Choose another name, or remove that one first."),
    ),
    "preset.name": (
        mark("A preset cannot be called that."),
        mark("Give it a name of 1 to {longest} letters."),
    ),
    "preset.unknown": (
        mark("{model} has no preset called {preset}."),
        mark("There are: {known}."),
    ),
    "queue.full": (
        mark("{waiting} requests are waiting already, which is the limit."),
        mark("Try again in a while."),
    ),
    "request.logprobs": (
        mark("{field} is {value}; it can be 0 to {limit}."),
        "",
    ),
    "request.no_messages": (
        mark("{field} is not a list with at least one message."),
        mark("Send the conversation as a list of messages."),
    ),
    "request.not_flag": (
        mark("{field} is neither true nor false."),
        mark("Send true or false, or leave it out."),
    ),
    "request.not_object": (
        mark("{field} is not an object."),
        mark("Send an object: curly braces with fields in them."),
    ),
    "request.not_text": (
        mark("{field} is not text."),
        mark("Send a string, or leave it out."),
    ),
    "request.token_limit": (
        mark("{field} is {value}; it can be a whole number from 1 up, or -1 for no limit."),
        mark("Send such a number, or leave it out."),
    ),
    "route.method": (
        mark("{path} does not answer {method}."),
        mark("The answer's Allow header names what it does."),
    ),
    "route.unknown": (
        mark("There is nothing at {path}."),
        mark("The port has /v1/models, /v1/chat/completions, /v1/embeddings, /v1/rerank and /health."),
    ),
    "setting.changed_by_engine": (
        mark("The engine uses another value than was asked for."),
        "",
    ),
    "setting.padded": (
        mark("llama.cpp rounds the context length up to a multiple of 256."),
        "",
    ),
    "settings.bad_value": (
        mark("The setting {name} is {value}, which it cannot be; {default} is used instead."),
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
    "sizing.no_engine": (
        mark("No engine here tells its own figure for {format} files."),
        mark("The calculated figure stands."),
    ),
    "sizing.no_sparse_files": (
        mark("The engine could not be asked how much memory the model needs: files in {path} cannot have holes."),
        mark("The calculated figure stands. Move the data folder to another file system to ask the engine."),
    ),
    "sizing.no_table": (
        mark("{engine} did not say how much memory the model needs."),
        mark("The calculated figure stands."),
    ),
    "sizing.not_offered": (
        mark("{engine} cannot say how much memory a model needs before it is loaded."),
        mark("The calculated figure stands."),
    ),
    "sizing.slow": (
        mark("{engine} did not say within {limit_s} seconds how much memory the model needs."),
        mark("The calculated figure stands."),
    ),
    "sizing.unwritable": (
        mark("The engine could not be asked how much memory the model needs: {path} cannot be written to ({reason})."),
        mark("The calculated figure stands. Make room, or mend the rights of the folder."),
    ),
    "starter.unreachable": (
        mark("The starter model could not be fetched: not from the Hub ({hub}), nor from the package index ({index})."),
        mark("Check the network connection, or copy any GGUF file into the models folder."),
    ),
    "stream.interrupted": (
        mark("The answer broke off before its end."),
        mark("What had come is kept. Ask again, or look at the engine's log."),
    ),
    "stream.malformed": (
        mark("The engine sent something that is no part of an answer."),
        mark("Look at the engine's log, then try again."),
    ),
    "stream.too_long": (
        mark("The engine sent more at a time than any answer holds."),
        mark("Look at the engine's log, then try again."),
    ),
    "system": (
        mark("The system refused something that Weighbridge needed ({reason})."),
        mark("Check the free space, and who may read and write there."),
    ),
}

THINGS: Mapping[str, str] = {
    "bandwidth": mark("bandwidth"),
    "count": mark("number of cards"),
    "cpu": mark("processor"),
    "keys": mark("keys"),
    "memory": mark("memory"),
    "name": mark("name"),
    "surroundings": mark("surroundings"),
    "tensors": mark("tensors"),
}
"""Values of `what` that are words; any other is shown as it is."""


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
    shown = {name: _shown(name, value) for name, value in values.items()}
    try:
        return text(source).format(**_sizes(values), **shown)
    except (KeyError, IndexError):
        return text(source)


def _sizes(values: Mapping[str, object]) -> dict[str, str]:
    """Beside "free_bytes", for exact figures, "free": the same in the unit that suits it."""
    found = {name.removesuffix("_bytes"): value for name, value in values.items() if name.endswith("_bytes")}
    return {name: size(value) for name, value in found.items() if name not in values and isinstance(value, int)}


def _shown(name: str, value: object) -> object:
    """Lists, and what an error is about, as a person reads them."""
    if name == "what" and isinstance(value, str):
        return text(THINGS[value]) if value in THINGS else value
    if isinstance(value, (list, tuple)):
        return ", ".join(printable(str(item)) for item in value)
    return printable(" ".join(value.split("\n"))) if isinstance(value, str) else value
