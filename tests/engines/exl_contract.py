"""Asks the real packages, in a process of their own Python: what their callables take, and how far they go on a machine
without a card. Only what is compiled is replaced. Prints one line of JSON.

`python exl_contract.py exllamav3 FOLDER`: FOLDER is empty, and gets a small model.
"""

import importlib
import inspect
import json
import os
import shutil
import sys
import traceback
import types
from itertools import pairwise
from pathlib import Path
from unittest.mock import MagicMock

import torch

os.environ["EXL3_FUSED_SAMPLER"] = "0"  # the samplers that PyTorch computes, not the compiled one

V2 = {
    "exllamav2": [
        "ExLlamaV2Config.__init__", "ExLlamaV2Config.arch_compat_overrides", "ExLlamaV2.__init__", "ExLlamaV2.load",
        "ExLlamaV2.load_autosplit", "ExLlamaV2.load_tp", "ExLlamaV2.unload", "ExLlamaV2Cache.__init__",
        "ExLlamaV2Cache.all_tensors", "ExLlamaV2Cache_Q4.__init__", "ExLlamaV2Cache_Q6.__init__",
        "ExLlamaV2Cache_Q8.__init__", "ExLlamaV2Cache_TP.__init__", "ExLlamaV2Tokenizer.__init__",
        "ExLlamaV2Tokenizer.encode", "ExLlamaV2Tokenizer.get_id_to_piece_list", "ExLlamaV2Lora.__init__",
    ],
    "exllamav2.generator": [
        "ExLlamaV2DynamicGenerator.__init__", "ExLlamaV2DynamicGenerator.enqueue", "ExLlamaV2DynamicGenerator.cancel",
        "ExLlamaV2DynamicGenerator.iterate", "ExLlamaV2DynamicGenerator.warmup", "ExLlamaV2DynamicGenerator.set_loras",
        "ExLlamaV2DynamicJob.__init__", "ExLlamaV2Sampler.Settings.__init__",
    ],
}  # fmt: skip
V3 = {
    "exllamav3": [
        "Config.from_directory", "Model.from_config", "Model.load", "Model.warmup", "Model.unload", "Cache.__init__",
        "Tokenizer.from_config", "Tokenizer.encode", "Tokenizer.get_id_to_piece_list", "Generator.__init__",
        "Generator.enqueue", "Generator.cancel", "Generator.iterate", "Generator.close", "Job.__init__",
        "LLGuidanceFilter.__init__", "CustomSampler.__init__",
    ],
    "exllamav3.model.lora": ["LoRA.__init__"],
}  # fmt: skip
STEPS = (
    "SS_LogitBias", "SS_RepP", "SS_PresFreqP", "SS_DRY", "SS_MinP", "SS_TopK", "SS_TopP", "SS_XTC", "SS_Temperature",
    "SS_AdaptiveP",
)  # fmt: skip
"""Samplers of exllamav3 that are given values."""


def without_the_compiled(package):
    """Import `package` with a mock in the place of what would be compiled."""
    made = types.ModuleType(f"{package}.ext")
    ext = MagicMock(name="ext")
    for name in (f"{package}_ext", "ext_c", "make_group_map", "make_q_matrix", "make_q_matrix_split"):
        setattr(made, name, ext)
    made.none_tensor = torch.empty((1, 1), device="meta")
    sys.modules[f"{package}.ext"] = made
    return importlib.import_module(package)


def parameters(module, dotted):
    """The names that a callable takes, in order; of `Model.load` those of the generator behind it."""
    found = importlib.import_module(module)
    for part in dotted.split("."):
        found = getattr(found, "load_gen", getattr(found, part)) if dotted == "Model.load" else getattr(found, part)
    return [name for name in inspect.signature(found).parameters if name not in ("self", "args", "kwargs")]


FAR = 300
"""Tokens of an answer after which exllamav3 has gone on in another round, as another job."""


def answered(model, ext, requests):
    """What our own reading makes of the answers of the real generator, whose model says "Hi" and ends, whatever it is
    asked: text, tokens, how much of the prompt is read, and the reason of the end, of each piece of each answer. Then
    how long an answer in many rounds is, and how many jobs are left once nobody reads one any more.
    """
    from weighbridge_engines.api import Request
    from weighbridge_engines.exl_batch import Batch

    ext.partial_strings_match.side_effect = _match
    ext.count_match.return_value = ext.count_match_tensor.return_value = 0
    torch.empty, torch.zeros = _unpinned(torch.empty), _unpinned(torch.zeros)
    torch.cuda.synchronize = lambda *_: None
    model.close = lambda: None
    batch = Batch(lambda: model)
    told = [_pieces(model, batch, request) for request in requests]
    Says.tokens = [39]
    long = _pieces(model, batch, Request([], sampling={"temperature": 0}, max_tokens=600))
    results = batch.results(model.job(model.tokens("Hello"), Request([], sampling={"temperature": 0}), 900))
    stages = []
    for result in results:
        stages += [] if result is None else [result["stage"]]
        if stages.count("streaming") == FAR:
            break
    results.close()
    for _ in range(500):
        if not model.generator.num_remaining_jobs():
            break
        batch._thread.join(0.01)
    left = model.generator.num_remaining_jobs()
    batch.close()
    rounds = [sum(piece[1] for piece in long), len("".join(piece[0] for piece in long)), long[-1][3]]
    return {"answers": told, "long": rounds, "reads": sum(piece[2] is not None for piece in long), "left_at_work": left}


def _pieces(model, batch, request):
    from weighbridge_engines.exl_session import Reading

    Says.step = -1
    tokens = model.tokens("<begin>Hello")
    reading = Reading(tokens.shape[-1])
    results = batch.results(model.job(tokens, request, min(request.max_tokens or 9, model.room(6))))
    pieces = [piece for result in results if result is not None for piece in reading.feed(result)]
    return [[piece.text, piece.tokens, piece.prompt_done, piece.finish] for piece in pieces]


def _chances(model, tokens):
    """What the generator draws for an answer, by seeds."""
    from weighbridge_engines.api import Request

    asked = [{"seed": seed} for seed in (3, 3, 4)]
    return [model.job(tokens, Request([], sampling=one), 5).rng.random() for one in asked]


class Says:
    """The tokens of what the model says, the last of which ends an answer, in the alphabet of the tokenizer."""

    tokens: tuple = (39, 72, 257)
    step = -1

    @classmethod
    def logits(cls, width):
        cls.step = (cls.step + 1) % len(cls.tokens)
        made = torch.zeros((1, 1, width))
        made[:, :, cls.tokens[cls.step]] = 10.0
        return made


def _unpinned(make):
    """Memory that a card may read must be told to its driver; here is none."""

    def made(*shape, pin_memory=False, **more):
        return make(*shape, **more)

    return made


def _match(text, ends, texts):
    """The compiled search for stop texts: where one stands, -2 where one may begin at the end, -1 for none."""
    whole = bytes(text).decode("utf-32-le")
    places = ends.view("int32").tolist()
    stops = [bytes(texts[a:b]).decode("utf-32-le") for a, b in pairwise(places)]
    if found := [place for place in (whole.find(stop) for stop in stops) if place >= 0]:
        return min(found)
    return -2 if any(whole.endswith(stop[:size]) for stop in stops for size in range(1, len(stop))) else -1


def small_model(folder):
    """Two layers of a llama with random weights, a tokenizer of bytes, as they stand in a folder of Hugging Face."""
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: place for place, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<begin>", "<end>"])
    tokenizer.enable_truncation(4)  # as a training may leave it
    tokenizer.enable_padding(length=9)
    tokenizer.save(str(folder / "tokenizer.json"))
    told = {"bos_token": "<begin>", "eos_token": "<end>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(told))
    wide, inner, words = 128, 256, 258
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": wide, "intermediate_size": inner,
        "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 64,
        "vocab_size": words, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "max_position_embeddings": 2048,
        "hidden_act": "silu", "bos_token_id": 256, "eos_token_id": 257, "tie_word_embeddings": False,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    tensors = {
        "model.embed_tokens.weight": (words, wide), "lm_head.weight": (words, wide), "model.norm.weight": (wide,)
    }  # fmt: skip
    for layer in range(2):
        lead = f"model.layers.{layer}"
        tensors |= {f"{lead}.self_attn.{name}_proj.weight": (wide, wide) for name in "qkvo"}
        tensors |= {f"{lead}.mlp.{name}_proj.weight": (inner, wide) for name in ("gate", "up")}
        tensors[f"{lead}.mlp.down_proj.weight"] = (wide, inner)
        tensors |= {f"{lead}.{name}_layernorm.weight": (wide,) for name in ("input", "post_attention")}
    save_file({name: torch.randn(shape).half() for name, shape in tensors.items()}, str(folder / "model.safetensors"))


def chats():
    """To the end; to a limit; to a stop text; with a stop text that begins and does not come."""
    from weighbridge_engines.api import Request

    greedy = {"temperature": 0}
    told = {"max_tokens": 1}, {"stop": ("i",)}, {"stop": ("iX",)}
    return [Request([], sampling=greedy), *(Request([], sampling=greedy, **more) for more in told)]


def _queued(generator, jobs):
    """How jobs are numbered that wait, how much of them is in the cache, and how many wait on once they are left."""
    serials = [generator.enqueue(job) for job in jobs]
    waiting = generator.num_remaining_jobs()
    for job in jobs:
        generator.cancel(job)
    return {
        "serials": serials,
        "waiting": waiting,
        "left": generator.num_remaining_jobs(),
        "numbers": [job.serial_number for job in jobs],
        "cached": [[job.cached_pages, job.cached_tokens] for job in jobs],
    }


def _refusal(model, tokens, request):
    """Why it is refused; None where it is not."""
    from weighbridge_engines.api import RequestRefused

    try:
        model.job(tokens, request, 5)
    except RequestRefused as refusal:
        return refusal.reason
    return None


def of_v3(folder):
    """As far as our own code goes without a card: configuration, tokens, cache, generator, jobs of it, samplers."""
    from weighbridge_engines.api import Load, Request
    from weighbridge_engines.exl_v3_loading import V3Parts, _cache, _generator
    from weighbridge_engines.exl_v3_model import V3Model

    importlib.import_module("weighbridge_engines.exl_v3_model").ROUND = 64
    library = importlib.import_module("exllamav3")
    load = Load(str(folder), context=1000, slots=2, key_type="q6", value_type="q4", batch=512)
    config = library.Config.from_directory(str(folder))
    parts = V3Parts(library, config, 1024, 512)
    parts.model = library.Model.from_config(config, swa_full=False)
    parts.tokenizer = library.Tokenizer.from_config(config)
    parts.cache = _cache(parts, parts.model, load)
    parts.generator = _generator(parts, load)
    model = V3Model.__new__(V3Model)
    model._parts, model._shared, model.generator, model.context = parts, True, parts.generator, 1024
    tokens = model.tokens("<begin>Hello")
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    jobs = [
        model.job(tokens, Request([], stop=("x",), schema=schema, logprobs=2), 5),
        model.job(tokens, Request([], sampling={"temperature": 0, "seed": 3}, ignore_eos=True), 5),
        model.job(tokens, Request([], sampling={"xtc_probability": 0.5, "repeat_penalty": 1.1}, logit_bias={3: 2}), 5),
        model.job(tokens, Request([], sampling={"adaptive_target": 0.5, "dry_multiplier": 0.8}), 5),
    ]
    queued = _queued(parts.generator, jobs)
    beyond = {
        "not": {"schema": {"not": {"type": "string"}}},
        "unique": {"schema": {"type": "array", "uniqueItems": True}},
        "circle": {"schema": {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}},
        "token": {"logit_bias": {99999: 1}},
    }
    refused = {name: _refusal(model, tokens, Request([], **one)) for name, one in beyond.items()}
    parts.cache.initialized = True
    parts.model.prefill = lambda *_, **__: None
    parts.model.forward = lambda input_ids, params: Says.logits(288)
    parts.model.prefetch_tokens = lambda ids: None
    parts.generator._upload_arena = lambda *_: None
    ext = sys.modules["exllamav3.ext"].exllamav3_ext
    answers = answered(model, ext, chats())
    return {
        **answers,
        "tokens": tokens.tolist(),
        "ends": config.eos_token_id_list,
        "context": config.max_position_embeddings,
        "cache": [layer.get_tensors() for layer in parts.cache.layers.values()] and parts.cache.max_num_tokens,
        **queued,
        "chances": _chances(model, tokens),
        "steps": [[type(step).__name__ for step in job.sampler.steps] for job in jobs],
        "refused": refused,
        "chosen": _chosen(jobs[2].sampler),
        "positional": {name: len(inspect.signature(getattr(library, name).__init__).parameters) for name in STEPS},
    }


def _chosen(sampler):
    """Take the steps of a sampler but for the last, which is compiled: each must follow from the one before."""
    custom = importlib.import_module("exllamav3.generator.sampler.custom")
    logits = torch.randn(1, 258)
    state = custom.SamplingState(rand_u32=1, dim=258, bsz=1, in_logits=logits, past_ids=None, tokenizer=None)
    for step in [one for one in sampler.steps[:-1] if type(one).__name__ not in ("SS_RepP",)]:
        step.run(state)
    return str(state.state)


def _forward_chunk(*_, preprocess_only=False, **__):
    return None if preprocess_only else {"logits": Says.logits(288)}


def _unknown(config_of, library, folder):
    """The architectures whose folders are refused, with the first words of why."""
    told = json.loads((folder / "config.json").read_text())
    unknown = {}
    for architecture in ("NewForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Gemma2ForCausalLM"):
        other = folder / architecture
        other.mkdir()
        (other / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
        (other / "config.json").write_text(json.dumps({**told, "architectures": [architecture]}))
        try:
            config_of(library, other)
        except ValueError as error:
            unknown[architecture] = str(error).split(" in ")[0]
    return unknown


def of_v2(folder):
    """The same for exllamav2."""
    from weighbridge_engines.api import Load, Request
    from weighbridge_engines.exl_v2_loading import (
        V2Parts,
        _config,
        _generator,
        _is_paged,
        _lazy_cache,
        _size,
        _tokenizer,
    )
    from weighbridge_engines.exl_v2_model import V2Model

    library, generation = (importlib.import_module(name) for name in ("exllamav2", "exllamav2.generator"))
    load = Load(str(folder), context=1000, key_type="q6", value_type="q6", batch=512)
    config = _config(library, folder)
    trained, paged = config.max_seq_len, _is_paged(config, load)
    parts = V2Parts(library, config, 1024, 512, generation=generation)
    _size(parts, config)
    parts.model = library.ExLlamaV2(config)
    parts.tokenizer = _tokenizer(parts)
    parts.cache = _lazy_cache(parts, parts.model, load)
    parts.generator = _generator(parts)
    model = V2Model.__new__(V2Model)
    model._parts, model.generator, model.context = parts, parts.generator, 1024
    tokens = model.tokens("<begin>Hello")
    jobs = [
        model.job(tokens, Request([], stop=("x",), logit_bias={3: 2}), 5),
        model.job(tokens, Request([], sampling={"temperature": 0, "seed": 3}, ignore_eos=True), 5),
    ]
    queued = _queued(parts.generator, jobs)
    unknown = _unknown(_config, library, folder)
    refused = _refusal(model, tokens, Request([], logit_bias={99999: 1}))
    parts.model.forward_chunk = _forward_chunk
    ext = sys.modules["exllamav2.ext"].exllamav2_ext
    ext.sample_basic.side_effect = lambda *values: values[9].copy_(values[0].argmax(-1))
    return {
        **answered(model, ext, chats()),
        "tokens": tokens.tolist(),
        "ends": model._ends(),
        "context": trained,
        "cache": parts.cache.max_seq_len,
        **queued,
        "chances": _chances(model, tokens),
        "paged": paged,
        "bias": [len(jobs[0].gen_settings.token_bias), float(jobs[0].gen_settings.token_bias[3])],
        "unknown": unknown,
        "refused": refused,
    }


FAULTS = {
    "cut": lambda place: place.write_bytes(place.read_bytes()[:40]),
    "short": lambda place: place.write_bytes(place.read_bytes()[:-4000]),
    "empty": lambda place: place.write_bytes(b""),
    "no weights": Path.unlink,
}
"""What may be wrong with a file of weights."""


def faults(package, folder):
    """The codes of what our reading makes of the words of the real package for folders that are damaged."""
    from weighbridge_engines.exl_failures import diagnose

    library = importlib.import_module(package)
    made = {name: _copied(folder, name) for name in (*FAULTS, "architecture", "no tokenizer", "no JSON")}
    for name, harm in FAULTS.items():
        harm(made[name] / "model.safetensors")
    told = json.loads((folder / "config.json").read_text())
    (made["architecture"] / "config.json").write_text(json.dumps({**told, "architectures": ["NewForCausalLM"]}))
    (made["no tokenizer"] / "tokenizer.json").unlink()
    (made["no JSON"] / "config.json").write_text("{")
    found = {}
    for name, place in made.items():
        try:
            _opened(library, place)
            found[name] = None
        except Exception:
            cause = diagnose(traceback.format_exc().splitlines(), 1)
            found[name] = cause and cause.code
    return found


def _copied(folder, name):
    place = folder / name
    place.mkdir()
    for file in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(folder / file, place)
    return place


def _opened(library, place):
    from weighbridge_engines.exl_folder import chat_folder
    from weighbridge_engines.exl_v2_loading import _config

    if library.__name__ == "exllamav3":
        library.Tokenizer.from_config(library.Config.from_directory(str(chat_folder(place))))
    else:
        library.ExLlamaV2Tokenizer(_config(library, chat_folder(place)))


def main(package, folder):
    place = Path(folder)
    small_model(place)
    without_the_compiled(package)
    names = V3 if package == "exllamav3" else V2
    told = {"takes": {one: parameters(module, one) for module, listed in names.items() for one in listed}}
    told["faults"] = faults(package, place)
    told |= of_v3(place) if package == "exllamav3" else of_v2(place)
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
