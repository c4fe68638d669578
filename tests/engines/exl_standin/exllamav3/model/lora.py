"""Adapters."""

from exl_machine import heard


class LoRA:
    def __init__(self, model, config_path, weights_path, lora_scaling=1.0):
        heard("lora", [weights_path, lora_scaling])
