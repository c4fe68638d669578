"""In the place of exllamav3: its surface, as far as it is used, with no computing behind it."""

import sys
from types import SimpleNamespace

import torch
from exl_machine import Asked, Tensor, Words, Work, heard, raise_for, script_of
from torch.utils.cpp_extension import load

load(name="exllamav3_ext", sources=["a.cu", "b.cu", "c.cpp"], verbose=False)


class Config:
    @staticmethod
    def from_directory(directory, **kwargs):
        made = Config()
        told, made.script = script_of(directory)
        made.directory = directory
        if told["architectures"] != ["LlamaForCausalLM"]:
            raise AssertionError(f"Unknown architecture {told['architectures'][0]} in {directory}/config.json")
        made.vocab_size = 200
        made.max_position_embeddings = told.get("max_position_embeddings", 8192)
        made.eos_token_id_list = [0]
        made.infer_params = SimpleNamespace(moe_cpu_offload=0)
        return made


class Model:
    @staticmethod
    def from_config(config, component="text", **kwargs):
        made = Model()
        made.config, made.caps = config, {}
        heard("model", [component, kwargs, config.infer_params.moe_cpu_offload])
        return made

    def load(
        self,
        reserve_per_device=None,
        use_per_device=None,
        tensor_p=False,
        max_chunk_size=2048,
        callback=None,
        max_batch_size=1,
        draft_model=None,
    ):
        assert max_chunk_size <= self.cells, "Cache too small for batch shape"
        heard("load", [reserve_per_device, use_per_device, tensor_p, max_chunk_size, max_batch_size])
        for done in range(self.config.script["modules"] + 1):
            callback(done, self.config.script["modules"])
            if done == 1:
                raise_for(self.config.script["load"])
        torch.cuda.models += 1

    def warmup(self, cache=None, max_chunk_size=2048, max_batch_size=8, callback=None):
        callback(1, 1)
        fault = self.config.script["warm"]
        if fault:
            sys.stdout.write(f" !! Warmup pass failed (chunk 2048): {fault}\n")
        return ["chunk 2048"] if fault else []

    def unload(self):
        heard("unloaded", 1)


class CacheLayer_fp16:  # noqa: N801 - its name there
    pass


class CacheLayer_quant:  # noqa: N801
    pass


class Cache:
    def __init__(self, model, max_num_tokens, layer_type=None, max_batch_size=16, max_history=0, **kwargs):
        model.cells = max_num_tokens
        heard("cache", [max_num_tokens, layer_type.__name__, max_batch_size, max_history, kwargs])
        tensor = SimpleNamespace(device=SimpleNamespace(type="cuda", index=0), nbytes=1 << 30)
        self.layers = {(0, 0): SimpleNamespace(get_tensors=lambda: [tensor, None])}


class Tokenizer(Words):
    @staticmethod
    def from_config(config):
        return Tokenizer(config.script)

    def encode(self, text, add_bos=False, encode_special_tokens=False):
        heard("encode", [text, add_bos, encode_special_tokens])
        return self.numbers(text)


class Generator(Work):
    def __init__(
        self,
        model,
        cache,
        tokenizer,
        max_batch_size=256,
        max_chunk_size=2048,
        draft_model=None,
        draft_cache=None,
        num_draft_tokens=None,
        cpu_cache_size=0,
        recurrent_cache_size=4 << 30,
    ):
        super().__init__(model.config.script, max_batch_size)
        heard("generator", [max_batch_size, max_chunk_size, num_draft_tokens, cpu_cache_size, recurrent_cache_size])

    def close(self):
        heard("closed", 1)


class Job(Asked):
    def __init__(
        self,
        input_ids,
        max_new_tokens=None,
        min_new_tokens=0,
        sampler=None,
        seed=None,
        stop_conditions=None,
        return_top_tokens=0,
        return_probs=False,
        filters=None,
        max_rq_tokens=None,
    ):
        super().__init__(input_ids, max_new_tokens, stop_conditions)
        self.probs, self.top = return_probs, return_top_tokens
        named = [step.told() for step in sampler.steps]
        heard("job", [max_new_tokens, min_new_tokens, seed, list(stop_conditions), len(filters), max_rq_tokens, named])

    def chances(self, token):
        if not self.probs:
            return {}
        top = {"top_k_tokens": [Rows([[token, 0]])], "top_k_probs": [Rows([[0.5, 0.25]])]} if self.top else {}
        return {"token_probs": Tensor([0.5]), **top}


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def tolist(self):
        return self.rows


class LLGuidanceFilter:
    def __init__(self, tokenizer, eos_after_completed=False, json_schema=None):
        if "not" in json_schema:
            raise ValueError('Invalid grammar: Unimplemented keys: ["not"]')
        heard("schema", json_schema)


class CustomSampler:
    def __init__(self, steps):
        self.steps = steps


class _Step:
    def __init__(self, *values, tokenizer=None):
        self.values = values

    def told(self):
        return [type(self).__name__, *self.values]


def _step(name):
    return type(name, (_Step,), {})


SS_Argmax, SS_Sample, SS_Temperature = _step("SS_Argmax"), _step("SS_Sample"), _step("SS_Temperature")
SS_MinP, SS_TopK, SS_TopP, SS_XTC = _step("SS_MinP"), _step("SS_TopK"), _step("SS_TopP"), _step("SS_XTC")
SS_RepP, SS_PresFreqP, SS_DRY = _step("SS_RepP"), _step("SS_PresFreqP"), _step("SS_DRY")
SS_LogitBias, SS_AdaptiveP = _step("SS_LogitBias"), _step("SS_AdaptiveP")
