"""Whether flash-attn is here, which its generator needs to share a cache."""

import os

has_flash_attn_with_paged = "STANDIN_NO_FLASH" not in os.environ
