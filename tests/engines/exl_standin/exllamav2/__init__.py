"""In the place of exllamav2: its surface, as far as it is used, with no computing behind it."""

from types import SimpleNamespace

import torch
from exl_machine import Words, heard, raise_for, script_of
from torch.utils.cpp_extension import load

load(name="exllamav2_ext", sources=["a.cu", "b.cpp"], verbose=False)


class ExLlamaV2Config:
    def __init__(self, model_dir=None):
        told, self.script = script_of(model_dir)
        self.architecture = told["architectures"][0]
        known = self.architecture in ("LlamaForCausalLM", "MistralForCausalLM")
        self.arch = SimpleNamespace(arch_string=self.architecture if known else "LlamaForCausalLM")
        self.max_seq_len = told.get("max_position_embeddings", 2048)
        self.vocab_size = 200
        self.no_flash_attn = False
        self.generation_config = {"eos_token_id": [0, 7]}

    def arch_compat_overrides(self, quiet=False, warn_only=False):
        pass


class ExLlamaV2:
    def __init__(self, config):
        self.config = config

    def load_autosplit(self, cache, reserve_vram=None, callback=None):
        heard("load_autosplit", [reserve_vram])
        self.config.max_input_len = min(self.config.max_input_len, self.config.max_seq_len)
        self._read(callback)

    def load(self, gpu_split=None, callback=None):
        heard("load", [gpu_split])
        self._read(callback)

    def load_tp(self, gpu_split=None, callback=None, expect_cache_tokens=0, expect_cache_base=None):
        heard("load_tp", [gpu_split, expect_cache_tokens, expect_cache_base.__name__])
        self._read(callback)

    def _read(self, callback):
        for done in range(self.config.script["modules"] + 1):
            callback(done, self.config.script["modules"])
            if done == 1:
                raise_for(self.config.script["load"])
        torch.cuda.models += 1

    def unload(self):
        heard("unloaded", 1)


class _Cache:
    def __init__(self, model, max_seq_len=-1, lazy=False):
        config = model.config
        heard("cache", [type(self).__name__, max_seq_len, lazy, config.max_seq_len, config.max_input_len])

    def all_tensors(self):
        return [SimpleNamespace(device=SimpleNamespace(type="cuda", index=0), nbytes=1 << 30)]


class ExLlamaV2Cache(_Cache):
    pass


class ExLlamaV2Cache_Q4(_Cache):  # noqa: N801 - its name there
    pass


class ExLlamaV2Cache_Q6(_Cache):  # noqa: N801
    pass


class ExLlamaV2Cache_Q8(_Cache):  # noqa: N801
    pass


class ExLlamaV2Cache_TP(_Cache):  # noqa: N801
    def __init__(self, model, base=ExLlamaV2Cache, max_seq_len=-1):
        super().__init__(model, max_seq_len)


class ExLlamaV2Tokenizer(Words):
    def __init__(self, config):
        super().__init__(config.script)
        self.tokenizer_model = SimpleNamespace(hf_tokenizer=self)

    def no_truncation(self):
        heard("whole", "not cut")

    def no_padding(self):
        heard("whole", "not filled up")

    def encode(self, text, add_bos=False, encode_special_tokens=False):
        heard("encode", [text, add_bos, encode_special_tokens])
        return self.numbers(text)


class ExLlamaV2Lora:
    def __init__(self, model, lora_config_path, lora_path, lora_scaling=1.0):
        heard("lora", [lora_path, lora_scaling])
