"""What the error codes about single engines say, and what should be known before one is used: see `explain`."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

ENGINES: Mapping[str, tuple[str, str]] = {
    "engine.bad_settings": (
        mark("{engine} cannot read the settings in the model's folder ({reason})."),
        mark("They are damaged or incomplete: verify the model or download it again."),
    ),
    "engine.no_draft_here": (
        mark("{engine} cannot use a draft with this model: what one of the two has read cannot be taken back."),
        mark("Load without the draft model."),
    ),
    "engine.no_shift": (
        mark("{engine} cannot shift the context of this model: it keeps what it has read in a way of its own."),
        mark("Load without context shift."),
    ),
    "engine.no_small_cache": (
        mark("{engine} cannot keep what this model has read in a smaller type."),
        mark("Leave the types of the KV cache to the engine."),
    ),
    "engine.no_strength": (
        mark("This adapter replaces weights, so it has no strength that could be set."),
        mark("Load it without a strength."),
    ),
    "engine.no_tokenizer": (
        mark("There is no tokenizer in the model's folder that {engine} can read."),
        mark("Get the folder whole: tokenizer.json and tokenizer_config.json belong to it."),
    ),
    "engine.nothing_to_compute_with": (
        mark("MLX is here without anything to compute with: on Linux that is a package of its own."),
        mark('Install it: pip install "mlx-lm[cpu]", or "mlx-lm[cuda13]" for a card by NVIDIA.'),
    ),
    "engine.other_system": (
        mark("{engine} runs on Macs with Apple silicon, and on Linux."),
        mark("Get the model as GGUF to run it here."),
    ),
    "engine.own_code": (
        mark("The model brings a program of its own ({file}), and {engine} was not told to run it."),
        mark("Programs out of a model's folder are never run here. Get the model in another format, GGUF for example."),
    ),
    "engine.piece_too_large": (
        mark("{engine} asked for {needed_bytes} bytes in one piece; this device gives {most_bytes} at most."),
        mark("Choose a smaller batch or a shorter text."),
    ),
    "exl.card_too_old": (
        mark("{engine} cannot use {card}: it has compute capability {has}, and {needs} is the least."),
        mark("Take the model as GGUF: llama.cpp uses older cards."),
    ),
    "exl.cpu_torch": (
        mark("{engine} needs PyTorch for a card, and the one beside it ({torch}) can only use the processor."),
        mark("Install a build of PyTorch for CUDA in its environment, as pytorch.org tells it for your system."),
    ),
    "exl.fewer_cards": (
        mark("{name} has numbers for {told} cards, and {engine} sees {cards} here."),
        mark("Give as many numbers as there are cards, or fewer."),
    ),
    "exl.no_card": (
        mark("PyTorch sees no card that {engine} could use."),
        mark("Look whether the system sees one (nvidia-smi), and whether CUDA_VISIBLE_DEVICES hides it."),
    ),
    "exl.no_compiler": (
        mark("{engine} must be compiled at its first start, and the compiler {compiler} was not found."),
        mark("Install a C++ compiler, or the wheel of {engine} that is compiled already, from its authors' releases."),
    ),
    "exl.no_driver": (
        mark("There is no NVIDIA driver that {engine} could use."),
        mark("Install the driver of the card, then look again."),
    ),
    "exl.no_head": (
        mark("{engine} knows no head that predicts further tokens for {architecture}."),
        mark("Load without it, or with a draft model of its own."),
    ),
    "exl.no_ninja": (
        mark("{engine} must be compiled at its first start, and ninja, which does that, is missing."),
        mark("Install it into the environment of {engine}: pip install ninja"),
    ),
    "exl.no_package": (
        mark("{engine} needs the package {package}, which is missing."),
        mark("Install it into the environment of {engine}: pip install {package}"),
    ),
    "exl.no_tensor_split": (
        mark("{engine} cannot share a model of the architecture {architecture} between cards by parts of each matrix."),
        mark("Let the cards share it by whole layers."),
    ),
    "exl.no_tokenizer": (
        mark("There is no tokenizer.json in the model's folder, and {engine} needs one."),
        mark("Get the file from where the model comes from."),
    ),
    "exl.no_toolkit": (
        mark("{engine} must be compiled at its first start, and the CUDA toolkit was not found."),
        mark(
            "Install the toolkit in the version of PyTorch's CUDA, or the wheel of {engine} that is compiled already,"
            " from its authors' releases."
        ),
    ),
    "exl.not_compiled": (
        mark("{engine} could not be compiled: {reason}"),
        mark("Its log has the compiler's words. Its authors' releases have wheels that are compiled already."),
    ),
    "exl.old_driver": (
        mark("The driver of the card is too old for the PyTorch beside {engine}: it knows CUDA {has}."),
        mark("Install a newer driver, or a PyTorch for an older CUDA."),
    ),
    "exl.other_toolkit": (
        mark("{engine} cannot be compiled: the CUDA toolkit here is {has}, and that of PyTorch {needs}."),
        mark("Install the toolkit in the version of PyTorch's CUDA."),
    ),
    "exl.other_torch": (
        mark("The compiled part of {engine} belongs to another version of PyTorch than the one beside it."),
        mark("Install the wheel of {engine} for this version of PyTorch."),
    ),
    "onnx_genai.no_config": (
        mark("The folder has no {name}: it was not made for {engine}."),
        mark("Get a folder that was, such as those of ONNX Runtime's authors, or the model as GGUF."),
    ),
    "onnx_genai.no_tokenizer": (
        mark("{engine} cannot read the tokenizer in the model's folder."),
        mark("Get the tokenizer's files from where the model comes from."),
    ),
    "onnx_genai.option": (
        mark("{name} in the model's folder asks for {option}, by which it could run a program or write files."),
        mark("It was not loaded. Take the model from somebody whom you trust, without that option."),
    ),
    "onnx_genai.other_build": (
        mark("The model's folder wants {provider}, which this build of {engine} does not have."),
        mark("Install {package}, or set the provider of the load to cpu."),
    ),
    "onnx_genai.path": (
        mark("{name} in the model's folder names a file outside of it: {path}."),
        mark("It was not loaded. Take the model from somebody whom you trust."),
    ),
    "onnx_genai.provider": (
        mark("The model's folder wants {provider}, which {engine} is not used with here."),
        mark("Set the provider of the load to cpu, or take a folder that was made for the processor."),
    ),
    "openvino.architecture": (
        mark("{engine} reads GGUF files of {known} alone; this one is of {architecture}."),
        mark("Load it with llama.cpp, or take the model in OpenVINO's own form."),
    ),
    "openvino.cache_precision": (
        mark("{engine} cannot keep its KV cache as {has} here; it needs {needs}."),
        mark("Leave the precision of the cache to the engine, or choose u8."),
    ),
    "openvino.no_card_runtime": (
        mark("{engine} finds no OpenCL ({library}), by which it computes on cards of Intel."),
        mark("Install Intel's compute runtime for the card, or compute on the processor."),
    ),
    "openvino.no_tokenizer": (
        mark("{engine} finds no tokenizer in the model's folder."),
        mark("Get openvino_tokenizer.xml and openvino_detokenizer.xml from where the model comes from."),
    ),
    "openvino.tensor_type": (
        mark("{engine} cannot read the type {type} of this GGUF file; it knows {known}."),
        mark("Load it with llama.cpp, or take the file in another quantisation."),
    ),
    "openvino.tensor_types": (
        mark("{engine} cannot read a type of this GGUF file; it knows {known}."),
        mark("Load it with llama.cpp, or take the file in another quantisation."),
    ),
    "program.bad_entry": (
        mark("The entry {name} of programs.toml (line {line}) cannot be used: {reason}."),
        mark("Mend it; the other entries are used."),
    ),
    "program.batch_out_of_memory": (
        mark("{engine} ran out of the card's memory while it computed."),
        mark("Choose a smaller share of the memory, a smaller batch, or fewer answers at the same time."),
    ),
    "program.card_not_free": (
        mark("{engine} was to take {needed} of the memory of {device}, and {free} of {whole} was free."),
        mark("Choose a smaller share of the card's memory, or close what holds it."),
    ),
    "program.context_too_long": (
        mark("A context of {context} tokens needs {needed} for its KV cache, and {available} is left for it."),
        mark("Load the model with a context of {offer}, or give {engine} a larger share of the memory."),
    ),
    "program.dtype_needs_card": (
        mark("The card that is here cannot compute with {dtype}: that needs compute capability {least}."),
        mark("Choose float16."),
    ),
    "program.needs_card": (
        mark("{engine} needs a card that it can use ({vendors}), and none was found."),
        mark("Use another engine, or another machine."),
    ),
    "program.needs_newer_card": (
        mark("{engine} needs a card of compute capability {least}; {device} has {has}."),
        mark("Use another engine for it."),
    ),
    "program.no_module": (
        mark("{engine} lacks the Python package {package}."),
        mark("Install it into the engine's environment, or install the engine anew."),
    ),
    "program.no_python": (
        mark("{path} does not tell which Python runs it, and {engine} is started by that."),
        mark("Name the Python of its environment instead, or install {engine} anew."),
    ),
    "program.no_room_for_cache": (
        mark("{engine} loaded the weights, and too little memory was left for the KV cache."),
        mark("Give it a larger share of the card's memory, or choose a smaller quantisation or a shorter context."),
    ),
    "program.no_room_for_context": (
        mark("A context of {context} tokens needs {needed} for its KV cache, and {available} is left for it."),
        mark("Choose a shorter context, or give {engine} a larger share of the memory."),
    ),
    "program.no_tokenizer": (
        mark("{engine} finds no tokenizer beside the model's weights."),
        mark("Fetch all files of the model; a tokenizer.json, or a tokenizer.model, belongs to them."),
    ),
    "program.not_for_system": (
        mark("{engine} does not run on this system ({system}), but on: {systems}."),
        mark("On Windows, many of these run within WSL; attach it as an endpoint then."),
    ),
    "program.not_known_as": (
        mark("It is not known what program {path} is."),
        mark("Say which engine it is of: --as with one of {known}."),
    ),
    "program.note.bfloat16_processor": (
        mark("On the processor its bfloat16 gave wrong answers where float32 did not: float32 is asked for there."),
        "",
    ),
    "program.note.card_reserved": (
        mark("It takes its whole share of the card's memory at the start, whatever it needs later."),
        "",
    ),
    "program.note.cards_alone": (
        mark("Its usual package computes on cards alone: on a processor it needs a build that is made for that."),
        "",
    ),
    "program.note.health_is_no_proof": (
        mark("It can say that it is well and be unable to answer: it counts as ready once it wrote a token."),
        "",
    ),
    "program.note.licence_agpl": (
        mark("Its licence is the AGPL: it is yours to get, and is neither shipped nor installed here."),
        "",
    ),
    "program.note.models_route": (
        mark("Some versions answer the list of models with an error; that says nothing of the model."),
        "",
    ),
    "program.note.next_port": (
        mark("Where its port is taken it moves to the next one in silence: the port that it tells is checked."),
        "",
    ),
    "program.note.open_by_default": (
        mark("By itself it listens to the whole network; it is started for this machine alone."),
        "",
    ),
    "program.note.own_key": (
        mark("It keeps its own key, in a file in its folder; that one is used."),
        "",
    ),
    "program.note.slow_batch": (
        mark("It answers one after the other, unless continuous batching is on."),
        "",
    ),
    "program.other_backend": (
        mark("This part of {engine} does not know the model."),
        mark("Load it with {setting} set to {instead}."),
    ),
    "program.other_version": (
        mark("This version of {engine} is not known here: {reason}"),
        mark("Install another version of it, from 5.23 on."),
    ),
    "program.quantisation_needs_card": (
        mark("The quantisation {method} needs a card of compute capability {least}; the one here has {has}."),
        mark("Choose a file with another quantisation."),
    ),
    "program.quantisation_unknown": (
        mark("{engine} does not know the quantisation {method}."),
        mark("Choose a file with another quantisation, or another engine."),
    ),
    "program.sees_no_card": (
        mark("{engine} sees no card that it can use."),
        mark("Look at the card's driver, or use an engine that computes on the processor."),
    ),
    "program.slow": (
        mark("{engine} was not ready within {limit_s} s."),
        mark("The last lines of its log are kept below."),
    ),
    "program.to_get": (
        mark("{engine} is not installed."),
        mark("Get it with: {get}"),
    ),
}
"""What each code says to a person, as in `explain`. Keep it alphabetical."""
