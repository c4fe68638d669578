"""A small MLX folder with random weights, made where MLX is installed: two layers, and a tokenizer of bytes."""

import json
from importlib import import_module

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ("<|im_start|>", "<|im_end|>")
WORDS = ("harbour", "master", "count", "hello")
CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 128,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 64,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
}


def letters():
    """GPT-2's alphabet: a letter for each byte, in the order of the bytes."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = iter(range(256, 512))
    return [chr(byte) if byte in seen else chr(next(hidden)) for byte in range(256)]


def tokenizer():
    tokens = letters()
    merges = []
    for word in WORDS:
        for size in range(2, len(word) + 1):
            if word[:size] not in tokens:
                merges.append([word[: size - 1], word[size - 1]])
                tokens.append(word[:size])
    added = [
        {"id": len(tokens) + place, "content": name, "special": True, "single_word": False, "lstrip": False,
         "rstrip": False, "normalized": False}
        for place, name in enumerate(SPECIAL)
    ]  # fmt: skip
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": {token: place for place, token in enumerate(tokens)}, "merges": merges,
        },
    }  # fmt: skip


def make(folder, seed=1, bits=4, changes=(), template=CHATML):
    """The folder, filled. `changes` are of its config; without `bits` its weights are bfloat16."""
    mx, nn, utils = (import_module(name) for name in ("mlx.core", "mlx.nn", "mlx.utils"))
    words = tokenizer()
    size = len(words["model"]["vocab"]) + len(SPECIAL)
    end = size - 1
    config = CONFIG | {"vocab_size": size, "eos_token_id": end} | dict(changes)
    model_class, args_class = import_module("mlx_lm.utils")._get_classes(config)
    mx.random.seed(seed)
    model = model_class(args_class.from_dict(config))
    model.update(utils.tree_map(lambda one: (one * 3).astype(mx.bfloat16), model.parameters()))
    if bits is not None:
        nn.quantize(model, group_size=64, bits=bits)
        config["quantization"] = {"group_size": 64, "bits": bits}
    folder.mkdir(parents=True, exist_ok=True)
    weights = dict(utils.tree_flatten(model.parameters()))
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": SPECIAL[0], "eos_token": SPECIAL[1]}
    for name, value in (("config", config), ("tokenizer", words), ("tokenizer_config", settings)):
        (folder / f"{name}.json").write_text(json.dumps(value))
    if template:
        (folder / "chat_template.jinja").write_text(template)
    return folder
