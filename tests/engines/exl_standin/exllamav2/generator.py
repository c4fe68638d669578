"""Its generator, jobs and samplers."""

from dataclasses import asdict, dataclass

from exl_machine import Asked, Work, heard


class ExLlamaV2DynamicGenerator(Work):
    def __init__(
        self,
        model,
        cache,
        tokenizer,
        max_batch_size=None,
        max_chunk_size=None,
        max_q_size=8,
        draft_model=None,
        draft_cache=None,
        num_draft_tokens=4,
        paged=True,
    ):
        super().__init__(model.config.script, max_batch_size)
        assert max_chunk_size <= model.config.max_input_len, "max_chunk_size must be less than model max_input_len"
        heard("generator", [max_batch_size, max_chunk_size, max_q_size, num_draft_tokens, paged])

    def warmup(self):
        heard("warm", 1)

    def set_loras(self, loras):
        heard("loras", len(loras))


class ExLlamaV2DynamicJob(Asked):
    def __init__(self, input_ids, max_new_tokens, min_new_tokens=0, gen_settings=None, seed=None, stop_conditions=None):
        super().__init__(input_ids, max_new_tokens, stop_conditions)
        told = asdict(gen_settings)
        heard("job", [max_new_tokens, min_new_tokens, seed, list(stop_conditions), told])


class ExLlamaV2Sampler:
    @dataclass
    class Settings:
        token_repetition_penalty: float = 1.025
        token_repetition_range: int = -1
        token_repetition_decay: int = 0
        token_frequency_penalty: float = 0.0
        token_presence_penalty: float = 0.0
        temperature: float = 0.8
        min_temp: float = 0
        max_temp: float = 0.0
        temp_exponent: float = 1.0
        top_k: int = 50
        top_p: float = 0.8
        min_p: float = 0
        typical: float = 0
        temperature_last: bool = False
        token_bias: object = None
        dry_allowed_length: int = 2
        dry_base: float = 1.75
        dry_multiplier: float = 0.0
        dry_range: int = 0
        xtc_probability: float = 0.0
        xtc_threshold: float = 0.1
