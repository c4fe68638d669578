import pytest

from weighbridge.base.explain import WHAT_AND_NEXT
from weighbridge.running.effective import Told, settings
from weighbridge.running.state import Setting
from weighbridge_engines.api import Load
from weighbridge_engines.llama_server import report

LOG = """\
0.00.002.639 I cmn  common_param: system_info: n_threads = 1 (n_threads_batch = 1) / 2 | CPU : SSE3 = 1 |
0.00.004.458 I srv    load_model: loading model 'm.gguf'
0.00.147.188 I load_tensors:   CPU_Mapped model buffer size =    92.10 MiB
0.00.149.800 I llama_context: n_seq_max             = 1
0.00.149.800 I llama_context: n_ctx                 = 2048
0.00.149.800 I llama_context: n_ctx_seq             = 2048
0.00.163.871 I llama_context: n_batch               = 256
0.00.149.830 I llama_context:        CPU  output buffer size =     0.19 MiB
0.00.149.928 I llama_kv_cache:        CPU KV buffer size =    40.00 MiB
0.00.149.929 I llama_kv_cache:      CUDA0 KV buffer size =     5.00 MiB
0.00.302.288 I resolve_fused_ops: Flash Attention enabled
0.00.252.102 I sched_reserve:        CPU compute buffer size =     9.32 MiB
0.00.350.891 I cmn  common_init_: warming up the model with an empty run - please wait ...
"""


def told():
    now = Told()
    for line in LOG.splitlines():
        now = now.with_line(report(line))
    return now


def test_buffers_of_several_devices_are_summed():
    assert told().buffers["kv_bytes"] == 45 << 20
    assert told().buffers["weights_bytes"] == int(92.10 * (1 << 20))


def test_buffers_are_kept_by_device():
    assert told().held["CUDA0"] == {"kv_bytes": 5 << 20}
    assert told().held["Host"]["kv_bytes"] == 40 << 20
    assert told().held["Host"]["output_bytes"] == int(0.19 * (1 << 20))


def test_stage_is_the_last_one_told():
    assert told().stage == "warming"


def test_steps_are_those_of_the_stage_that_was_told_last():
    told = Told().with_line({"stage": "weights", "done": 12, "total": 57})
    assert (told.stage, told.steps) == ("weights", (12, 57))
    assert told.with_line({"context": 4096}).steps == (12, 57)
    assert told.with_line({"stage": "warming"}).steps is None
    assert "done" not in told.values
    assert "total" not in told.values


@pytest.mark.parametrize(
    "steps", [{"done": 5, "total": 4}, {"done": -1, "total": 4}, {"done": 0, "total": 0}, {"done": 3}, {"total": 3}]
)
def test_steps_that_make_no_sense_are_not_told(steps):
    told = Told().with_line({"stage": "weights", **steps})
    assert (told.stage, told.steps) == ("weights", None)


def test_effective_values_stand_beside_the_requested():
    rows = settings(Load(model="m", context=2000, threads=1, batch=256), told())
    assert rows == (
        Setting("context", 2000, 2048, "setting.padded"),
        Setting("threads", 1, 1),
        Setting("slots", 1, 1),
        Setting("batch", 256, 256),
        Setting("flash_attention", None, True),
    )


def test_another_context_than_rounding_gives_is_the_engines_own_change():
    rows = settings(Load(model="m", context=9000), Told(values={"context": 4096}))
    assert rows[0] == Setting("context", 9000, 4096, "setting.changed_by_engine")


def test_what_is_left_to_the_engine_as_a_rule_is_shown_where_it_was_asked_for():
    now = Told()
    for line in (
        "0.00.230.644 I llama_context: n_ubatch              = 128",
        "0.00.230.646 I llama_context: kv_unified            = false",
        "0.00.146.783 I load_tensors: loading model tensors, this can take a while... (load_mode = none)",
        "0.00.249.906 I llama_kv_cache: size =   34.45 MiB (  2048 cells,  30 layers,  1/1 seqs), "
        "K (q8_0):   11.95 MiB, V (f16):   22.50 MiB",
        "0.00.197.292 W srv    load_model: swa_full is not supported by this model, it will be disabled",
        "0.00.175.615 I llama_context: flash_attn            = disabled",
    ):
        now = now.with_line(report(line))
    load = Load(
        "m", micro_batch=128, key_type="q8_0", value_type="q8_0", whole_window=True, mapped=False, cpu_experts=3
    )
    assert settings(load, now)[1:] == (
        Setting("flash_attention", None, False),
        Setting("micro_batch", 128, 128),
        Setting("key_type", "q8_0", "q8_0"),
        Setting("value_type", "q8_0", "f16", "setting.changed_by_engine"),
        Setting("whole_window", True, False, "setting.no_window"),
        Setting("cpu_experts", 3, None),
        Setting("mapped", False, False),
    )


def test_what_is_not_told_is_unknown_and_does_not_differ():
    rows = settings(Load(model="m", context=4096), Told())
    assert rows[0] == Setting("context", 4096, None)
    assert not rows[0].differs


BESIDE = """\
0.00.100.000 I llama_context: n_ctx                 = 2048
0.00.326.192 I common_speculative_init_result: loading draft model '/m/it's a draft.gguf'
0.00.400.000 I llama_context: n_ctx                 = 4096
0.00.353.587 I llama_adapter_lora_init: loading lora adapter from '/m/a.gguf' ...
0.00.353.587 I llama_adapter_lora_init: loading lora adapter from '/m/b.gguf' ...
0.00.400.000 I srv    load_model: loaded multimodal model, '/m/mmproj.gguf'
"""


def test_files_beside_the_model_are_told_and_a_drafts_context_is_not_the_models():
    now = Told()
    for line in BESIDE.splitlines():
        now = now.with_line(report(line))
    load = Load(
        "m", context=2048, projector="/m/mmproj.gguf", draft="/m/it's a draft.gguf", adapters=("/m/a.gguf", "/x")
    )
    rows = {row.name: row for row in settings(load, now)}
    assert (rows["context"].effective, rows["context"].differs) == (2048, False)
    assert not rows["projector"].differs
    assert not rows["draft"].differs
    assert rows["adapters"] == Setting(
        "adapters", ("/m/a.gguf", "/x"), ("/m/a.gguf", "/m/b.gguf"), "setting.changed_by_engine"
    )


def test_nothing_beside_the_model_is_no_setting():
    assert not {"projector", "draft", "adapters"} & {row.name for row in settings(Load("m"), Told())}


def of_lines(*lines):
    now = Told()
    for line in lines:
        now = now.with_line(report(line))
    return now


CONTEXT = (
    "I print_info: n_ctx_train           = 8192",
    "I llama_context: n_ctx                 = 16384",
    "I llama_context: n_batch               = 512",
    "I llama_context: n_ubatch              = 512",
    "I srv    load_model: initializing, n_slots = 2, n_ctx_slot = 8192, kv_unified = 'false'",
)


@pytest.mark.parametrize(
    ("load", "lines", "name", "effective", "reason"),
    [
        (Load("m", gpu_layers=9), CONTEXT, "gpu_layers", 0, "setting.no_device"),
        (Load("m", gpu_layers=99), ("I offloaded 31/31 layers to GPU",), "gpu_layers", 31, "setting.all_layers"),
        (Load("m", gpu_layers=9), ("I offloaded 3/31 layers to GPU",), "gpu_layers", 3, "setting.changed_by_engine"),
        (Load("m", context=16384), CONTEXT, "slot_context", 8192, "setting.capped_to_training"),
        (
            Load("m", context=16384),
            ("I print_info: n_ctx_train = 8192", "I llama_context: n_ctx = 8192"),
            "context",
            8192,
            "setting.capped_to_training",
        ),
        (Load("m", micro_batch=2048), CONTEXT, "micro_batch", 512, "setting.capped_to_batch"),
        (
            Load("m", batch=99_999, context=16384),
            ("I llama_context: n_ctx = 16384", "I llama_context: n_batch = 16384"),
            "batch",
            16384,
            "setting.capped_to_context",
        ),
        (
            Load("m", batch=512, context=300),  # the context is padded, the batch is not
            ("I llama_context: n_ctx = 512", "I llama_context: n_batch = 300"),
            "batch",
            300,
            "setting.capped_to_context",
        ),
        (
            Load("m", micro_batch=512, batch=512, context=300),
            ("I llama_context: n_ctx = 512", "I llama_context: n_batch = 300", "I llama_context: n_ubatch = 300"),
            "micro_batch",
            300,
            "setting.capped_to_context",
        ),
        (
            Load("m", context=2000, slots=3, unified=False),  # 3 x 768
            ("I llama_context: n_ctx = 2304",),
            "context",
            2304,
            "setting.padded",
        ),
        (Load("m", batch=2048, task="embedding"), CONTEXT, "batch", 512, "setting.whole_batch"),
        (
            Load("m", flash_attention=True),
            ("I Flash Attention not supported, set to disabled",),
            "flash_attention",
            False,
            "setting.no_flash_attention",
        ),
    ],
)
def test_why_the_engine_does_something_else(load, lines, name, effective, reason):
    row = {each.name: each for each in settings(load, of_lines(*lines))}[name]
    assert (row.effective, row.reason) == (effective, reason)
    assert reason in WHAT_AND_NEXT


def test_what_one_request_may_have_is_told_where_it_is_not_all():
    shared = settings(Load("m", context=16384, slots=2, unified=False), of_lines(*CONTEXT))
    assert Setting("slot_context", 8192, 8192) in shared
    alone = of_lines("I llama_context: n_ctx = 512", "I initializing, n_slots = 1, n_ctx_slot = 512, kv_unified")
    assert "slot_context" not in {row.name for row in settings(Load("m", context=512), alone)}


def test_samplers_are_those_of_the_first_answer_as_far_as_they_are_printed():
    now = of_lines("\ttop_k = 3, top_p = 0.333, temp = 0.100", "\ttop_k = 40, top_p = 0.950, temp = 0.800")
    rows = {row.name: row for row in settings(Load("m", sampling={"top_k": 3, "top_p": 1 / 3, "seed": 1}), now)}
    assert rows["top_k"] == Setting("top_k", 3, 3)
    assert rows["top_p"] == Setting("top_p", 1 / 3, 1 / 3)
    assert rows["seed"] == Setting("seed", 1, None)
    assert "temperature" not in rows


def test_what_only_this_engine_knows_stands_beside_what_it_made_of_it():
    now = of_lines("I prompt cache is enabled, size limit: 33 MiB", "I llama_context: freq_scale = 0.5")
    rows = {row.name: row for row in settings(Load("m", prompt_cache_mib=33, extra={"rope_scale": 2}), now)}
    assert rows["prompt_cache_mib"] == Setting("prompt_cache_mib", 33, 33)
    assert rows["rope_scale"] == Setting("rope_scale", 2, 2)


def test_the_server_of_a_draft_is_the_models():
    now = of_lines(
        "I llama_context: n_ctx = 2048",
        "I common_speculative_init_result: creating MTP draft context against the target model 'm'",
        "I llama_context: n_ctx = 4096",
        "I srv    load_model: initializing, n_slots = 1, n_ctx_slot = 2048, kv_unified = 'false'",
    )
    assert (now.values["context"], now.values["slot_context"]) == (2048, 2048)
    assert settings(Load("m", draft_kind="mtp"), now)[0].effective == 2048


def test_what_the_engine_has_no_use_for_is_said_to_be_so():
    load = Load("m", context=512, threads=3, key_type="q8_0")
    rows = {row.name: row for row in settings(load, Told(values={"context": 512}), {"context", "key_type"})}
    assert rows["context"] == Setting("context", 512, 512)
    assert rows["threads"] == Setting("threads", 3, None, "setting.not_of_engine")
    assert rows["threads"].unused
    assert rows["key_type"] == Setting("key_type", "q8_0", None)  # it has that setting and did not tell
    assert not rows["key_type"].unused
    assert rows["slots"].reason is None
    on_card = Told().with_line({"device": "GPU.1", "because": "setting.device_card"}).with_line({"unused": "threads"})
    rows = {row.name: row for row in settings(load, on_card, {"threads", "device"})}
    assert rows["threads"] == Setting("threads", 3, None, "setting.unused_here")


@pytest.mark.parametrize(("because", "reason"), [("setting.device_card", "setting.device_card"), ("setting.x", None)])
def test_what_the_engine_chose_to_compute_on_is_shown_with_its_reason(because, reason):
    told = Told().with_line({"device": "GPU.1", "because": because}).with_line({"kv_bytes": 5, "device": "GPU.1"})
    assert told.held == {"GPU.1": {"kv_bytes": 5}}
    rows = {row.name: row for row in settings(Load("m"), told)}
    assert rows["device"] == Setting("device", None, "GPU.1", reason)
    asked = {row.name: row for row in settings(Load("m", extra={"device": "GPU.1"}), told)}
    assert asked["device"] == Setting("device", "GPU.1", "GPU.1")
