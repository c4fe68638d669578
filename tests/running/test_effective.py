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
        Setting("whole_window", True, False, "setting.changed_by_engine"),
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
