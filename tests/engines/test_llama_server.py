import pytest

from weighbridge_engines.api import Load
from weighbridge_engines.llama_server import devices, diagnose, parameters, report, values, version


def test_values_are_set_and_not_left_to_the_wheel():
    chosen = values(Load(model="/m.gguf", alias="m", context=2000, threads=3, batch=64), 2500, "secret")
    assert chosen["model.path"] == "/m.gguf"
    assert (chosen["n_ctx"], chosen["n_batch"], chosen["n_ubatch"]) == (2000, 64, 64)
    assert (chosen["n_parallel"], chosen["kv_unified"]) == (1, False)
    assert (chosen["cpuparams.n_threads"], chosen["cpuparams_batch.n_threads"]) == (3, 3)
    assert (chosen["hostnames"], chosen["port"], chosen["api_keys"]) == (["127.0.0.1"], 2500, ["secret"])
    assert (chosen["fit_params"], chosen["ui"], chosen["offline"]) == (False, False, True)
    assert chosen["cors_origins"] != "*"


def test_what_is_left_open_is_left_to_the_engine():
    chosen = values(Load(model="m"), 1, "k")
    assert chosen["n_ctx"] == 0
    assert "cpuparams.n_threads" not in chosen
    assert "model_alias" not in chosen


def test_the_wheel_knows_every_value():
    params = parameters(Load(model="/m.gguf", alias="m", context=2000, threads=3, batch=64, slots=2), 2500, "secret")
    assert (params.model.path, params.n_ctx, params.n_batch, params.n_parallel) == ("/m.gguf", 2000, 64, 2)
    assert (params.kv_unified, params.cpuparams.n_threads, params.cpuparams_batch.n_threads) == (True, 3, 3)
    assert (params.fit_params, params.ui, params.offline, params.cache_ram_mib) == (False, False, True, 512)
    assert set(params.model_alias) == {"m"}


def test_the_build_tells_its_devices_and_version():
    kinds = {device.kind for device in devices()}
    assert "cpu" in kinds
    assert version()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("I load_tensors: offloaded 29/37 layers to GPU", {"gpu_layers": 29, "stage": "weights"}),
        ("I llama_memory_recurrent:  CUDA0 RS buffer size =   149.62 MiB", {"state_bytes": int(149.62 * (1 << 20))}),
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
        ("srv start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 1", "engine.port_taken"),
    ],
)
def test_diagnosis_by_the_engines_own_words(line, code):
    cause = diagnose(["first", line, "exiting due to model loading error"], 1)
    assert cause is not None
    assert cause.code == code
    assert cause.values["line"] == line


def test_the_unknown_architecture_is_named():
    cause = diagnose(["unknown model architecture: 'brandnew9'"], 1)
    assert cause is not None
    assert cause.values["architecture"] == "brandnew9"
