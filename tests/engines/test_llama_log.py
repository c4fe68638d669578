from pathlib import Path

import pytest

from weighbridge_engines.api import Row
from weighbridge_engines.llama_failures import diagnose
from weighbridge_engines.llama_log import device_of, report, row

TABLES = Path(__file__).parents[1] / "data" / "llama_tables"
MIB = 1 << 20


def rows(name):
    lines = (TABLES / name).read_text().splitlines()
    return [found for line in lines if (found := row(line)) is not None]


def test_the_table_of_a_processor_alone():
    assert rows("cpu.log") == [
        Row("Host", True, 5389 * MIB, 224 * MIB, 73 * MIB),
        Row("CPU_REPACK", True, 6100 * MIB, 0, 0),
    ]


def test_the_table_of_two_cards_with_experts_on_the_processor():
    assert rows("two_gpus.log") == [
        Row("RPC0", False, 4624 * MIB, 592 * MIB, 92 * MIB),
        Row("RPC1", False, 3853 * MIB, 176 * MIB, 84 * MIB),
        Row("Host", True, 7942 * MIB, 0, 84 * MIB),
    ]


def test_a_row_adds_up():
    assert rows("two_gpus.log")[0].total_bytes == 5308 * MIB


@pytest.mark.parametrize(
    "line",
    [
        "",
        "0.1 I common_memory_breakdown_print: | memory breakdown [MiB] | total   free    self   model   context |",
        "0.1 I common_memory_breakdown_print: |   - Host |  118 =    92 +      11                |",
        "0.1 I common_memory_breakdown_print: |   - Host |  118 =    92 +      11 +      -15                |",
        "0.1 I common_memory_breakdown_print: |   - Host |  1 =    99999999999999999999 +      11 +      15        |",
        "0.1 I llama_model_loader: - kv 1: name str = common_memory_breakdown_print: |   - Host |  1 = 1 + 1 + 1  |",
        "0.1 I common_memory_breakdown_print: |   - Host |  118 =    nan +      11 +      15                |",
    ],
)
def test_what_is_no_row(line):
    assert row(line) is None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("I load_tensors: offloaded 29/37 layers to GPU", {"gpu_layers": 29, "layers": 37, "stage": "weights"}),
        (
            "I cmn  common_param: system_info: n_threads = 2 (n_threads_batch = 3) / 4",
            {"threads": 2, "batch_threads": 3},
        ),
        ("I print_info: n_ctx_train           = 8192", {"trained_context": 8192}),
        ("I llama_context: freq_base             = 200000.0", {"rope_base": 200000.0}),
        ("I llama_context: freq_scale            = 0.25", {"rope_scale": 4.0}),
        (
            "I srv    load_model: initializing, n_slots = 2, n_ctx_slot = 768, kv_unified = 'true'",
            {"slot_context": 768},
        ),
        ("I srv    load_model: prompt cache is enabled, size limit: 33 MiB", {"prompt_cache_mib": 33}),
        ("I srv    load_model: prompt cache is disabled - use `--cache-ram N` to enable it", {"prompt_cache_mib": 0}),
        (
            "I srv    load_model: context checkpoints enabled, max = 4, min spacing = 8192",
            {"checkpoints": 4, "checkpoint_step": 8192},
        ),
        ("I srv    load_model: context checkpoints disabled", {"checkpoints": 0}),
        (
            "I load_tensors: loading model tensors, this can take a while... (load_mode = mmap+mlock)",
            {"mapped": True, "locked": True, "stage": "weights"},
        ),
        (
            "\ttop_k = 3, top_p = 0.950, min_p = 0.050, typical_p = 1.000, top_n_sigma = -1.000, temp = 0.100",
            {"top_k": 3, "top_p": 0.95, "min_p": 0.05, "typical_p": 1.0, "temperature": 0.1},
        ),
        (
            "\tmirostat = 2, mirostat_lr = 0.100, mirostat_ent = 5.000, adaptive_target = -1.000, adaptive_decay = 0.9",
            {"mirostat": 2, "mirostat_eta": 0.1, "mirostat_tau": 5.0, "adaptive_target": -1.0, "adaptive_decay": 0.9},
        ),
        (
            "I llama_memory_recurrent:  CUDA0 RS buffer size =   149.62 MiB",
            {"state_bytes": int(149.62 * (1 << 20)), "device": "CUDA0"},
        ),
        ("I load_hparams: model size:         812.25 MiB", {"projector_bytes": int(812.25 * (1 << 20))}),
        ("Flash Attention not supported, set to disabled", {"flash_attention": False}),
        ("I slot print_timing: id 0 | n_ctx = 5", {}),
    ],
)
def test_report(line, told):
    assert report(line) == told


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("error loading model: unknown model architecture: 'brandnew9'", "engine.unknown_architecture"),
        ("tensor 'x' data is not within the file bounds, model is corrupted or incomplete", "engine.bad_model_file"),
        ("gguf_init_from_file_impl: invalid magic characters: '<!do', expected 'GGUF'", "engine.bad_model_file"),
        ("gguf_init_from_file: failed to open GGUF file 'm.gguf' (No such file or directory)", "engine.no_model_file"),
        (
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 999.00 MiB: cudaMalloc failed",
            "engine.out_of_memory",
        ),
        ("terminate called after throwing an instance of 'std::bad_alloc'", "engine.out_of_memory"),
        (
            "ImportError: libgomp.so.1: cannot open shared object file: No such file or directory",
            "engine.missing_library",
        ),
        ("UnicodeEncodeError: 'utf-8' codec can't encode '\\udcff': surrogates not allowed", "engine.file_name"),
        (
            "0.00.154.573 E llama_init_from_model: quantized V cache requires flash_attn to be enabled",
            "engine.cache_needs_flash",
        ),
        (
            "0.00.154.731 E llama_init_from_model: failed to initialize the context: failed to allocate buffer",
            "engine.out_of_memory",
        ),
        ("srv start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 1", "engine.port_taken"),
    ],
)
def test_diagnosis_by_the_engines_own_words(line, code):
    cause = diagnose(["first", line, "exiting due to model loading error"], 1)
    assert cause is not None
    assert cause.code == code
    assert cause.values["line"] == line


def test_the_reason_of_a_refusal_is_named():
    cause = diagnose(["0.1 E llama_init_from_model: failed to initialize the context: n_seq_max must be <= 256"], 1)
    assert cause is not None
    assert cause.values["reason"] == "n_seq_max must be <= 256"


def test_the_unknown_architecture_is_named():
    cause = diagnose(["unknown model architecture: 'brandnew9'"], 1)
    assert cause is not None
    assert cause.values["architecture"] == "brandnew9"


@pytest.mark.parametrize(
    ("memory", "device"),
    [
        ("CPU", "Host"),
        ("CPU_Mapped", "Host"),
        ("CPU_REPACK", "Host"),
        ("CUDA_Host", "Host"),
        ("AMX", "Host"),
        ("CUDA1", "CUDA1"),
        ("MTL0_Mapped", "MTL0"),
        ("RPC0[127.0.0.1:18801]", "RPC0[127.0.0.1:18801]"),
        ("RPC0[127.0.0.1:18802]", "RPC0[127.0.0.1:18802]"),
    ],
)
def test_the_device_of_a_buffer(memory, device):
    assert device_of(memory) == device
