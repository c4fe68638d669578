"""Sentences of advice, by the codes of reasons: one where all its values are known, and another where one is not."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

SENTENCES: Mapping[str, str] = {
    # what is advised
    "hardware": mark("{machine}"),
    "take_engine": mark("{engine}"),
    "get_engine": mark("{engine} (to install)"),
    "attach_engine": mark("{engine} (started elsewhere, attached by its address)"),
    "take_format": mark("{format}"),
    "most_bits": mark("The most bits whose weights fit: {sizes}"),
    "bits_offered": mark("The most bits that fit, of {sizes}"),
    "one_quant": mark("{sizes}"),
    "take_model": mark("{model}, {size_bytes}, which is here"),
    "set_context": mark("Context of {context} for each of {users}: {total} in all"),
    "set_cache": mark("KV cache in {type}"),
    "set_slots": mark("{users} slots"),
    "slots_by_itself": mark("{users} at once: nothing to set"),
    "layers_all": mark("All layers on {device}"),
    "layers_some": mark("{layers} of {all} layers on cards"),
    "layers_experts": mark("All layers on cards, but the experts of {experts} in system memory"),
    "split_tensor": mark("Tensor parallel over {cards} cards"),
    "split_layers": mark("Layers in turn over {cards} cards (pipeline parallel)"),
    "split_fleet": mark("Tensor parallel within a machine ({cards} cards), pipeline parallel between machines"),
    "split_fleet_one": mark("Pipeline parallel between machines, each with its one card"),
    "prefix_by_itself": mark("Prefix caching: {engine} does it by itself"),
    "prefix_room": mark("Prompt cache of {mib} MiB"),
    "prefix_one": mark("Prefix caching: {engine} keeps the last conversation at most"),
    "batch_small": mark("Batch of {batch} tokens"),
    "batch_own": mark("Batch: left to {engine}"),
    "reserved_set": mark("Memory of a card: by what is free when it starts"),
    # the machine
    "bound_by_bandwidth": mark(
        "Writing is bound by memory bandwidth: {gbs} read what fills {bytes} at most {most_tps} times a second, "
        "once for each token."
    ),
    "bound_by_compute": mark(
        "Reading long prompts is bound by computing, writing by bandwidth ({gbs}): the first token waits for the "
        "prompt."
    ),
    "bound_by_both": mark("The prompt is bound by computing, the answer by bandwidth ({gbs}): measure the two apart."),
    "room_partly": mark(
        "What does not fit on cards is read from system memory for each token, which is what takes time."
    ),
    "room_system": mark("The model lies in system memory, whose bandwidth decides."),
    "room_unified": mark("Card and processor share one memory: what programs take is not there for the model."),
    "fleet_elsewhere": mark("A fleet is made of servers with cards: what follows is for those, not for this machine."),
    "only_kind_known": mark(
        "This machine is of another kind, so nothing is said of sizes and speeds. “What if…” describes one with "
        "figures (on the command line, --gpu)."
    ),
    "fleet": mark("Several machines are one address: Dynamo, SGLang or vLLM run them, and Weighbridge asks there."),
    "memory_unknown": mark("How much memory it has is not known, so nothing is said of sizes."),
    "bandwidth_unknown": mark("Its memory's bandwidth is not known, so nothing is said of speed."),
    "capability_of_card_unknown": mark("Its compute capability is not known; some engines and formats depend on it."),
    # why an engine
    "on_processor": mark("Where there is no card, GGUF runs anywhere."),
    "on_intel": mark("Intel makes OpenVINO for its own processors and cards."),
    "on_apple": mark("MLX is made for Apple's chips; on large models try llama.cpp too."),
    "on_one_nvidia": mark("One NVIDIA card for one user: ExLlamaV3, at the bits a weight that one chooses."),
    "on_several_nvidia": mark("Several NVIDIA cards for one user, large models with experts too: ExLlamaV3."),
    "on_nvidia_server": mark("NVIDIA cards of a server: vLLM or SGLang."),
    "on_blackwell_server": mark("B200 and GB200: TensorRT-LLM, SGLang and vLLM differ; benchmark them on your load."),
    "on_amd_card": mark("A Radeon card: llama.cpp by ROCm or Vulkan."),
    "on_amd_server": mark("AMD Instinct: vLLM or SGLang on ROCm."),
    "for_many_users": mark("Many users of standard formats: vLLM pages its cache and batches continuously."),
    "for_shared": mark(
        "Shared beginnings, agents, JSON by a schema, long contexts or experts: SGLang keeps a tree of prefixes."
    ),
    "for_fixed": mark("One model for weeks on NVIDIA: TensorRT-LLM repays the time to tune it."),
    "for_fleet": mark("A fleet: Dynamo routes by KV cache over vLLM, SGLang or TensorRT-LLM."),
    "for_samplers": mark("DRY, XTC or Mirostat for many: Aphrodite has vLLM's throughput with them."),
    "for_compress": mark("Compress and serve, or images: LMDeploy."),
    "for_adapters": mark("Many adapters over one model: {engine} takes one for each request."),
    "for_checking": mark("transformers is the reference: what it answers is the model's own."),
    "for_application": mark("Inside a program: MLC for browsers and phones, ONNX Runtime GenAI for native ones."),
    "for_simple": mark("Little to set up and few streams: Ollama, until more come."),
    "for_in_parts": mark("What cards do not hold whole: llama.cpp keeps the rest, or the experts, in system memory."),
    "for_portable": mark("A GGUF is one file that llama.cpp runs on any machine."),
    "for_least_memory": mark("The least memory: small caches, and nothing taken ahead."),
    "beside_dynamo": mark("{engine} for several machines: it routes by KV cache and scales with the load."),
    "beside_exllamav3": mark("{engine} has the smallest caches and takes nothing ahead."),
    "beside_llama_server": mark("{engine} for GGUF, which runs anywhere, also in part on cards."),
    "beside_lmdeploy": mark("{engine} also runs on Windows, and compresses models itself."),
    "beside_mlx": mark("{engine} takes memory as the conversation grows."),
    "beside_onnx_genai": mark("{engine} inside an application."),
    "beside_openvino": mark("{engine} on Intel's processors."),
    "beside_sglang": mark("{engine} where prompts have much in common."),
    "beside_tabbyapi": mark("{engine} has these samplers for EXL3."),
    "beside_tensorrt_llm": mark("{engine} where it is NVIDIA for long, and tuning is worth its time."),
    "beside_vllm": mark("{engine} for several users of standard formats."),
    "capability_enough": mark("Compute capability {capability} is enough ({least} is needed)."),
    "kernel": mark("Compute capability {capability} computes in {format} itself (from {least} on)."),
    "batches": mark("It batches continuously, so that {users} at once share each read of the weights."),
    "is_here": mark("It is installed: version {version}."),
    "is_attached": mark("It is attached as {title}: its models stand in the Library."),
    "writes": mark("It writes {speed}."),
    "bits": mark("{bits} bits a weight ({quant})."),
    # what stands against one
    "one_at_a_time": mark("It answers one at a time, and {users} are wanted."),
    "leaves_cards": mark("It does not use {device}: it would run on the processor."),
    "made_for": mark("It is made for {maker}'s processors."),
    "no_build": mark(
        "None of its builds is for {device} with the driver that is there. A copy of your own can be added on Engines."
    ),
    "build_blind": mark("The build that is installed cannot use {device}."),
    "capability_unknown": mark("It needs compute capability {least}; that of the card is not known."),
    "capability_low": mark("{engine} needs compute capability {least}, and {device} has {capability}."),
    "no_kernel": mark(
        "{device} (compute capability {capability}) does not compute in {format} itself; that takes {least}."
    ),
    "archived": mark("Its makers have archived it: it gets no repairs."),
    "agpl": mark("It is under the AGPL: Weighbridge starts it where you have it, and does not install it."),
    "not_on_system": mark("{engine} does not run on {system}."),
    "needs_cards": mark("{engine} needs a card of {vendors}."),
    "format_needs": mark("{format} needs compute capability {least}, and {device} has {capability}."),
    "lacks": mark("{engine} has no {need}."),
    "does_not_fit": mark("With {engine} it does not fit: {short_bytes} short."),
    # formats and bits
    "format_of_engine": mark("{engine} has kernels for {format}."),
    "no_fp8": mark("FP8 needs compute capability {least}; here it is {capability}."),
    "not_portable": mark("{format} is for few engines: a file of it is no use to the others."),
    "room": mark("{room_bytes} of {device} are there for weights and conversation, a margin kept."),
    "bits_cost": mark(
        "8 bits are near lossless, 4 a small loss; below that it falls quickly. {least} bits are the least here."
    ),
    "none_fits": mark("{model}, which is here, does not fit with that: {short_bytes} short."),
    # settings
    "context_takes": mark("{total} of conversation take {kv_bytes}, beside {model_bytes} of model."),
    "context_counts": mark("The conversation, not the model, often fills the memory: it comes on top of the weights."),
    "context_longest": mark("The longest that fits whole: {longest}."),
    "context_trained": mark("The model was trained for {trained}."),
    "cache_long": mark("At {total} in all the cache is likely to be what fills the memory."),
    "cache_fits": mark("With f16 it does not fit whole."),
    "cache_smaller": mark("{type} takes {share} % of f16, at hardly any loss."),
    "slots_share": mark("{engine} answers {users} at a time, and they share the context."),
    "layers_why": mark("A card reads {fast_gbs}, system memory {system_gbs}."),
    "split_tensor_why": mark("Such a link is fast enough for what cards tell each other at each layer."),
    "split_layers_why": mark("Without a fast link, tensor parallel waits at each layer: try layers in turn first."),
    "split_fleet_why": mark("Between machines only what passes from layer to layer should travel."),
    "link_not_known": mark("What joins the cards is not known: on a fast link tensor parallel is better."),
    "fleet_start": mark("Dynamo: one frontend, and a worker on each machine"),
    "fleet_attach": mark("The frontend is the one address that is added here; workers find it by etcd."),
    "link_unknown": mark(
        "What joins the cards is not known. NV# in its table is NVLink: then tensor parallel is better."
    ),
    "prefix_start": mark("Prompts that begin alike are read once."),
    "prefix_agents": mark("Agents come back to the same beginnings: what was read is found in a tree."),
    "batch_stop": mark("A processor reads so much in half a second, and Stop is heard between batches."),
    "batch_cards": mark("Long prompts are read in whole batches on a card."),
    "reserved_why": mark(
        "{engine} takes {share} % of a card ({bytes}) unless told otherwise; it is told what is free."
    ),
    # what to look out for
    "room_without_card": mark("There is no card: the model lies in system memory, whatever question 2 says."),
    "room_is_one": mark("Card and processor share one memory here, whatever question 2 says."),
    "room_is_two": mark("These cards have memory of their own: question 2 tells whether the model fits in there."),
    "link_of_one": mark("There is one card, so nothing joins it to another, whatever question 9 says."),
    "link_of_several": mark("Several cards are joined by something, PCIe at least: say by what in question 9."),
    "by_memory_alone": mark(
        "Memory says whether it fits, bandwidth how fast: a dense model that fills {bytes} writes at most {most_tps} "
        "tok/s at {gbs}. One with experts reads less for each token."
    ),
    "cache_ignored": mark("Count the KV cache: {total} of conversation take {kv_bytes}."),
    "tensor_on_weak_link": mark("Tensor parallel on a weak link ({link}) can be slower than one card."),
    "numbers_of_others": mark("Benchmarks of NVIDIA's cards say nothing of AMD's: measure here."),
    "local_as_public": mark("{engine} is for one desk: as a server for many it queues them."),
    "address_counts": mark("What is attached sees your prompts: for privacy it has to run on a machine of yours."),
    "openai_gaps": mark(
        "OpenAI-compatible servers differ in logprobs, logit_bias, n, and tools with a schema: test what you send."
    ),
    "experts_count": mark("Experts: all parameters count for memory, the active ones for speed."),
    "architecture_ignored": mark(
        "Not every engine of a format runs a {kind} model: look whether it knows the architecture."
    ),
    "measured_alone": mark("Measure with {users} at once: what one request gets says nothing of all together."),
    "charts_without_load": mark(
        "A chart without lengths and concurrency says nothing: compare {engine} on your own prompts."
    ),
    "unverified": mark("Nobody has run the build {build} for Weighbridge yet: it is probed before it is used."),
}
"""Where all values are known, or none is needed."""

UNKNOWN: Mapping[str, str] = {
    "split_tensor": mark("Tensor parallel over all cards"),
    "split_layers": mark("Layers in turn over all cards (pipeline parallel)"),
    "split_fleet": mark("Tensor parallel within a machine, pipeline parallel between machines"),
    "set_context": mark("Context of {context}"),
    "layers_all": mark("All layers on cards"),
    "prefix_room": mark("Prompt cache in system memory"),
    "bound_by_bandwidth": mark("Writing is bound by memory bandwidth: each token reads all active weights once."),
    "bound_by_compute": mark("Reading long prompts is bound by computing, writing by bandwidth."),
    "bound_by_both": mark("The prompt is bound by computing, the answer by bandwidth: measure the two apart."),
    "is_here": mark("It is installed."),
    "writes": mark("How fast it writes is not known."),
    "bits": mark("How many bits a weight has is not known."),
    "leaves_cards": mark("It does not use the card: it would run on the processor."),
    "no_build": mark("None of its builds is for such a card. A copy of your own can be added on Engines."),
    "capability_unknown": mark("It needs compute capability {least}; that of the card is not known."),
    "no_fp8": mark("FP8 needs compute capability {least}; that of the card is not known."),
    "room": mark("How much room there is for weights and conversation is not known."),
    "context_takes": mark("What {total} of conversation take is not known."),
    "context_longest": mark("No context fits whole."),
    "layers_why": mark("A card's memory is many times as fast as the system's."),
    "reserved_why": mark("{engine} takes {share} % of a card unless told otherwise; it is told what is free."),
    "cache_ignored": mark("Count the KV cache: {total} of conversation may take more than the model."),
}
"""Where one is not."""
