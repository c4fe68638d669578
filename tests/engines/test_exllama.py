"""What the ExLlama engines take and tell, without any library."""

import json
import threading
from types import SimpleNamespace

import pytest

from weighbridge_engines.api import HOST, Cause, Load, Request, RequestRefused, Unsupported
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.controls import Home, asked
from weighbridge_engines.exl_batch import CARD_FAILED, Batch
from weighbridge_engines.exl_controls import (
    CONTROLS_V2,
    CONTROLS_V3,
    PAGE,
    SAMPLERS_V2,
    cache_kinds,
    checked_v2,
    checked_v3,
    pages_of,
)
from weighbridge_engines.exl_failures import diagnose
from weighbridge_engines.exl_folder import adapter_files, chat_folder, model_folder
from weighbridge_engines.exl_log import report
from weighbridge_engines.exl_parts import batch_of, draft_folder, more_than_cards
from weighbridge_engines.exl_session import ExlSession, Reading
from weighbridge_engines.exl_v2_model import SHORTEST_DRY, _chances, _penalties
from weighbridge_engines.library_sampling import chosen

MODEL = Load("/models/a")


# What a load may ask for


@pytest.mark.parametrize(
    ("context", "slots", "trained", "cells"),
    [
        (1000, 1, 2048, 1024),
        (1024, 4, 2048, 1024),
        (None, 1, 131072, 8192),
        (None, 2, 2000, 3840),
        (None, 1, None, 8192),
        (None, 1, 100, 256),
    ],
)
def test_a_cache_is_whole_pages(context, slots, trained, cells):
    found = pages_of(Load("/m", context=context, slots=slots), trained)
    assert found == cells
    assert found % PAGE == 0


@pytest.mark.parametrize(
    ("keys", "values", "kinds"),
    [
        (None, None, ("f16", "f16")),
        ("q8_0", None, ("q8", "q8")),
        (None, "q4", ("q4", "q4")),
        ("q6", "q4_0", ("q6", "q4")),
    ],
)
def test_a_type_that_is_not_asked_for_is_as_the_other(keys, values, kinds):
    assert cache_kinds(Load("/m", key_type=keys, value_type=values)) == kinds


@pytest.mark.parametrize(
    ("check", "values", "name", "needs"),
    [
        (checked_v2, {"key_type": "q8", "value_type": "q4"}, "value_type", "key_type"),
        (checked_v3, {"key_type": "f16", "value_type": "q4"}, "value_type", "key_type"),
        (checked_v2, {"split": (0.0, 0.0)}, "split", "split"),
        (checked_v3, {"split": (8.0,), "extra": {"reserve_gib": (1.0,)}}, "split", "reserve_gib"),
        (checked_v2, {"split_mode": "tensor", "extra": {"reserve_gib": (1.0,)}}, "reserve_gib", "split_mode"),
        (checked_v3, {"split_mode": "tensor", "cpu_experts": 2}, "cpu_experts", "split_mode"),
        (checked_v3, {"adapter_scales": (1.0,)}, "adapter_scales", "adapters"),
        (checked_v2, {"slots": 4, "context": 512}, "slots", "context"),
        (checked_v2, {"slots": 64, "batch": 256}, "slots", "batch"),
        (checked_v2, {"extra": {"draft_tokens": 2}}, "draft_tokens", "draft"),
        (checked_v3, {"extra": {"draft_tokens": 2}}, "draft_tokens", "draft"),
        (checked_v3, {"draft_kind": "dflash"}, "draft_kind", "draft"),
    ],
)
def test_what_does_not_go_together_is_refused(check, values, name, needs):
    with pytest.raises(Unsupported) as refusal:
        check(Load("/m", **values))
    cause = refusal.value.cause
    assert (cause.code, cause.values["name"], cause.values["needs"]) == ("setting.needs", name, needs)


@pytest.mark.parametrize(
    ("check", "values", "code"),
    [
        (checked_v2, {"key_type": "q3"}, "setting.choice"),
        (checked_v3, {"key_type": "q9"}, "setting.choice"),
        (checked_v3, {"projector": "/p"}, "setting.unknown"),
        (checked_v2, {"task": "embedding"}, "setting.choice"),
        (checked_v2, {"sampling": {"mirostat": 2}}, "setting.unknown"),
        (checked_v2, {"sampling": {"json_schema": "{}"}}, "setting.unknown"),
        (checked_v2, {"context": 100}, "setting.range"),
        (checked_v2, {"draft": "/d", "extra": {"draft_tokens": 9}}, "setting.range"),
        (checked_v3, {"split_mode": "row"}, "setting.choice"),
    ],
)
def test_what_an_engine_has_not_is_refused(check, values, code):
    with pytest.raises(Unsupported) as refusal:
        check(Load("/m", **values))
    assert refusal.value.cause.code == code


def test_what_goes_together_is_taken():
    checked_v2(MODEL)
    checked_v3(MODEL)
    checked_v3(Load("/m", draft_kind="mtp", extra={"draft_tokens": 2}, cpu_experts=4, whole_window=True))
    checked_v2(Load("/m", draft="/d", split=(10.0, 0.0), flash_attention=False, sampling={"typical_p": 0.9}))


@pytest.mark.parametrize("controls", [CONTROLS_V2, CONTROLS_V3])
def test_each_setting_stands_once_and_takes_its_default(controls):
    assert len({one.name for one in controls}) == len(controls)
    assert [one.name for one in controls if one.default is not None and one.fault(one.default)] == []
    assert asked(MODEL, [one for one in controls if one.home is not Home.FIELD]) == {}


# How tokens are chosen by exllamav2


def test_a_temperature_of_nothing_takes_the_likeliest():
    told = _chances(chosen({"temperature": 0, "xtc_probability": 0.5}, SAMPLERS_V2))
    assert (told["temperature"], told["top_k"], told["top_p"], told["xtc_probability"]) == (1.0, 1, 0.0, 0.0)


def test_a_temperature_that_moves_has_its_two_ends():
    told = _chances(chosen({"temperature": 0.5, "dynatemp_range": 0.75, "typical_p": 0.9}, SAMPLERS_V2))
    assert (told["min_temp"], told["max_temp"], told["typical"]) == (0.0, 1.25, 0.9)
    told = _chances(chosen({}, SAMPLERS_V2))
    assert (told["min_temp"], told["max_temp"], told["typical"], told["temperature"]) == (0.0, 0.0, 0.0, 0.8)


def test_penalties_that_look_at_nothing_are_none():
    told = _penalties(chosen({"repeat_penalty": 1.3, "repeat_last_n": 0, "presence_penalty": 1}, SAMPLERS_V2))
    assert told["token_repetition_penalty"] == 1.0
    assert told["token_presence_penalty"] == 0.0
    told = _penalties(chosen({"repeat_penalty": 1.3, "dry_multiplier": 0.8}, SAMPLERS_V2))
    assert (told["token_repetition_penalty"], told["token_repetition_range"]) == (1.3, 64)
    assert (told["dry_multiplier"], told["dry_range"]) == (0.8, 64)


def test_a_window_that_is_too_short_for_dry_is_refused():
    with pytest.raises(RequestRefused) as refusal:
        _penalties(chosen({"dry_multiplier": 0.8, "dry_penalty_last_n": SHORTEST_DRY - 1}, SAMPLERS_V2))
    assert refusal.value.field == "dry_penalty_last_n"


# The log


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[3/57] /usr/local/cuda/bin/nvcc --generate-dependencies", {"stage": "kernels", "done": 3, "total": 57}),
        ("exl: modules = 12 of 33 (36 %)", {"stage": "weights", "done": 12, "total": 33}),
        ("exl: warm_up = 1 of 20 (5 %)", {"stage": "warming", "done": 1, "total": 20}),
        ("exl: context = 8192", {"context": 8192}),
        ("exl: flash_attention = False", {"flash_attention": False}),
        ("exl: draft = /models/a draft", {"draft": "/models/a draft"}),
        ("exl: memory = cuda:1 weights 10 cache 4", {"weights_bytes": 10, "kv_bytes": 4, "device": "cuda:1"}),
        ("exl: nothing = 1", {}),
        ("[3/57]", {}),
        ("a library's own words", {}),
    ],
)
def test_lines_of_a_load(line, told):
    assert report(line) == told


@pytest.mark.parametrize(
    ("line", "code", "values"),
    [
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 130.00 MiB. GPU 0 has a total capacity of"
            " 23.69 GiB of which 27.50 MiB is free. Including non-PyTorch memory, this process has 23.6 GiB in use.",
            "engine.out_of_memory",
            {"device": "cuda:0", "needed_bytes": 130 << 20, "free_bytes": 27 * (1 << 20) + (1 << 19)},
        ),
        (
            "torch.OutOfMemoryError: autosplit: cuda:1 has 310 MiB of physical headroom left, below the largest"
            " transient measured on it (612 MiB) plus the 256 MiB margin (EXL3_AUTOSPLIT_MARGIN_MB)",
            "engine.out_of_memory",
            {"device": "cuda:1", "needed_bytes": 612 << 20, "free_bytes": 310 << 20},
        ),
        (
            "autosplit: cuda:0 has no headroom left for the largest transient measured on it (90 MiB)",
            "engine.out_of_memory",
            {"device": "cuda:0", "needed_bytes": 90 << 20},
        ),
        ("torch.AcceleratorError: CUDA error: out of memory", "engine.out_of_memory", {}),
        ("RuntimeError: Insufficient VRAM for model and cache", "engine.out_of_memory", {}),
        ("RuntimeError: Insufficient VRAM in split for model and cache", "engine.out_of_memory", {}),
        ("AssertionError: Insufficient space in device allocation", "engine.out_of_memory", {}),
        ("MemoryError", "engine.out_of_memory", {"device": HOST}),
        ("OSError: CUDA_HOME environment variable is not set. Please set it", "exl.no_toolkit", {}),
        (
            "RuntimeError: The detected CUDA version (13.0) mismatches the version that was used to compile"
            " PyTorch (12.8)",
            "exl.other_toolkit",
            {"has": "13.0", "needs": "12.8"},
        ),
        ("RuntimeError: Found no NVIDIA driver on your system. Please", "exl.no_driver", {}),
        ("The NVIDIA driver on your system is too old (found version 11040)", "exl.old_driver", {"has": "11.4"}),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'c++'", "exl.no_compiler", {"compiler": "c++"}),
        ("nvcc error   : 'cicc' died due to signal 9 (Kill signal)", "engine.out_of_memory", {"device": HOST}),
        ("/bin/sh: 1: /usr/local/cuda/bin/nvcc: not found", "exl.no_toolkit", {}),
        ("KeyError: 'architectures'", "engine.other_layout", {"reason": "KeyError: 'architectures'"}),
        ("AssertionError: 'factor' missing from 'rope_scaling' config", "engine.other_layout",
         {"reason": "'factor' missing from 'rope_scaling' config"}),
        ("ValueError: No tensors found for model.layers.0.self_attn.q_proj matching supported quantization format.",
         "engine.other_layout", {"reason": "No tensors found for model.layers.0.self_attn.q_proj"}),
        ("/bin/sh: 1: g++: not found", "exl.no_compiler", {"compiler": "g++"}),
        ("ImportError: /x/exllamav2_ext.so: undefined symbol: _ZN3c104cuda9X", "exl.other_torch",
         {"symbol": "_ZN3c104cuda9X"}),
        ("AssertionError: Unknown architecture XForCausalLM in /m/config.json", "engine.unknown_architecture",
         {"architecture": "XForCausalLM"}),
        ("AssertionError: LlamaForCausalLM does not define a 'mtp' component model", "exl.no_head",
         {"architecture": "LlamaForCausalLM"}),
        ("NotImplementedError: Tensor-parallel is not currently implemented for Gemma3", "exl.no_tensor_split",
         {"architecture": "Gemma3"}),
        ("ValueError: Required tensor model.norm not found in any *.safetensors file in /m", "engine.other_layout",
         {"reason": "Required tensor model.norm not found"}),
        ("FileNotFoundError: No such file or directory: /m/a b/config.json", "engine.no_model_file",
         {"path": "/m/a b/config.json"}),
        ("FileNotFoundError: No such file or directory: /a/adapter_config.json", "engine.no_adapter_file",
         {"path": "/a/adapter_config.json"}),
        ("torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device",
         "engine.card_not_built_for", {}),
        ("RuntimeError: Device 0 (AMD Instinct MI210, gfx90a) executes 64-wide wavefronts. exllamav3 on ROCm",
         "engine.card_not_built_for", {"card": "AMD Instinct MI210"}),
        ("torch.AcceleratorError: CUDA error: device-side assert triggered", "engine.card_failed",
         {"reason": "device-side assert triggered"}),
    ],
)  # fmt: skip
def test_why_it_ended(line, code, values):
    cause = diagnose(["exl: stage = weights", line], 1)
    assert cause.code == code
    assert {name: cause.values[name] for name in values} == values


def test_a_card_that_failed_is_why_though_memory_had_run_out_before():
    log = ["torch.OutOfMemoryError: CUDA out of memory.", "AcceleratorError: CUDA error: unspecified launch failure"]
    assert [diagnose(log, code).code for code in (CARD_FAILED, 1)] == ["engine.card_failed", "engine.out_of_memory"]
    assert diagnose(["exl: problem = of a library"], 1) is None


def test_a_build_that_fails_is_told_by_the_compilers_words():
    log = [
        "[4/57] nvcc -c attn.cu",
        '/x/attn.cu(12): error: identifier "foo" is undefined',
        "ninja: build stopped: subcommand failed.",
        "RuntimeError: Error building extension 'exllamav3_ext'",
    ]
    cause = diagnose(log, 1)
    assert (cause.code, cause.values["reason"]) == (
        "exl.not_compiled", '/x/attn.cu(12): error: identifier "foo" is undefined'
    )  # fmt: skip
    assert diagnose(log[-1:], 1).values["reason"] == "exllamav3_ext"


def test_words_in_the_source_that_a_traceback_shows_are_nobodys_cause():
    log = [
        "Traceback (most recent call last):",
        '  File "/x/model.py", line 1, in load',
        '    raise RuntimeError("Insufficient VRAM for model and cache")',
        "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "KeyError: 'x'",
    ]
    assert diagnose(log, 1) is None


# What a load looks at first


@pytest.mark.parametrize(("batch", "context", "found"), [(None, 512, 512), (None, 8192, 2048), (600, 8192, 512)])
def test_no_more_of_a_prompt_is_computed_at_a_time_than_a_cache_holds(batch, context, found):
    assert batch_of(Load("/m", batch=batch), context) == found


@pytest.mark.parametrize(
    ("values", "name"), [({"split": (8.0, 4.0)}, "split"), ({"extra": {"reserve_gib": (1.0, 1.0)}}, "reserve_gib")]
)
def test_numbers_for_cards_that_are_not_here_are_refused(values, name):
    told = Cause("exl.fewer_cards", {"name": name, "told": 2, "cards": 1})
    assert more_than_cards(Load("/m", **values), 1) == told
    assert more_than_cards(Load("/m", **values), 2) is None


def model_with(place, vocabulary):
    text = json.dumps({"model": {"vocab": vocabulary}})
    folder = folder_with(place, config__json="{}", tokenizer__json=text)
    (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    return folder


def test_a_draft_with_other_tokens_by_the_same_numbers_is_refused(tmp_path, capsys):
    model = model_with(tmp_path / "model", {"a": 0, "b": 1})
    same, other = model_with(tmp_path / "same", [["a", -1.5], ["b", -2]]), model_with(tmp_path / "other", {"b": 0})
    assert draft_folder(Load("/m", draft=str(same)), model) == same
    causes = {str(other): Cause("engine.draft_mismatch"), "/gone": Cause("engine.no_draft_file", {"path": "/gone"})}
    for draft, cause in causes.items():
        with pytest.raises(Unsupported) as refusal:
            draft_folder(Load("/m", draft=draft), model)
        assert refusal.value.cause == cause == diagnose(capsys.readouterr().err.splitlines(), 1)
    (other / "tokenizer.json").write_text("{")
    assert draft_folder(Load("/m", draft=str(other)), model) == other


# Folders


def folder_with(place, **files):
    place.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (place / name.replace("__", ".")).write_text(text)
    return place


def test_a_folder_must_be_whole(tmp_path):
    header = json.dumps({"__metadata__": {}, "a": {"data_offsets": [0, 8]}}).encode()
    folder = folder_with(tmp_path / "m", config__json="{}", tokenizer__json="{}")
    with pytest.raises(FileNotFoundError, match=r"No \.safetensors files"):
        model_folder(str(folder))
    weights = folder / "model.safetensors"
    weights.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    assert model_folder(str(folder)) == model_folder(str(weights)) == chat_folder(str(folder)) == folder
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(ValueError, match="past end of file"):
        model_folder(str(folder))
    for spoilt in (b"", (99).to_bytes(8, "little"), (2).to_bytes(8, "little") + b"[]"):
        weights.write_bytes(spoilt)
        with pytest.raises(ValueError, match="safetensors header"):
            model_folder(str(folder))


def test_weights_that_may_hold_a_program_are_no_adapter(tmp_path):
    folder = folder_with(tmp_path / "a", adapter_config__json="{}", adapter_model__bin="")
    with pytest.raises(FileNotFoundError, match=r"adapter_model\.safetensors"):
        adapter_files(str(folder))


# What is asked of a session


class Asked:
    """A model that makes a token of each character, and keeps what it is asked."""

    context = 100

    def __init__(self):
        self.texts, self.stops = [], []

    def tokens(self, text):
        self.texts.append(text)
        return SimpleNamespace(shape=(1, len(text)))

    def room(self, tokens):
        return self.context - tokens

    def job(self, tokens, request, most):
        self.stops.append(request.stop)
        raise KeyError("asked")


def test_halves_of_characters_are_read_as_question_marks_and_are_no_ends():
    asked = Asked()
    texts = iter(["a\ud800b", ""])
    session = ExlSession(SimpleNamespace(loaded=asked), SimpleNamespace(text=lambda request: next(texts)))
    with pytest.raises(KeyError):
        next(session.stream(Request([], stop=("\ud800", "\0", "é"))))
    assert (asked.texts, asked.stops) == (["a?b"], [("\0", "é")])
    with pytest.raises(RequestRefused, match="makes nothing of these messages"):
        next(session.stream(Request([])))


# Answers side by side


class Job:
    serial_number = None
    cached_pages = cached_tokens = 0


class Generator:
    """Ends each job at its first step, or fails as it is told."""

    def __init__(self, error=None):
        self.active_jobs, self.pending_jobs, self.error, self.cancelled = [], [], error, []

    def enqueue(self, job):
        if isinstance(job, Exception):
            raise job
        job.serial_number = len(self.active_jobs)
        self.active_jobs.append(job)
        return job.serial_number

    def num_remaining_jobs(self):
        return len(self.active_jobs)

    def cancel(self, job):
        self.cancelled.append(job)
        self.active_jobs.remove(job)

    def iterate(self):
        if isinstance(self.error, BaseException):
            raise self.error
        done, self.active_jobs = self.active_jobs, []
        stage = "streaming" if self.error is None else "error"
        told = {"stage": stage, "eos": True, "error": KeyError("of this job")}
        return [{"job": job, "serial": job.serial_number, **told} for job in done]


class Loaded:
    def __init__(self, generator):
        self.generator, self.closed, self.thread = generator, False, threading.current_thread()

    def close(self):
        self.closed = threading.current_thread() is self.thread


@pytest.fixture
def batch():
    made = []

    def open_it(generator, end=lambda code: None):
        made.append(Batch(lambda: Loaded(generator), end))
        return made[-1]

    yield open_it
    for one in made:
        one.close()
        assert one.loaded.closed


def test_a_load_that_fails_is_told_to_whoever_opens():
    def fail():
        raise KeyError("no")

    with pytest.raises(KeyError):
        Batch(fail)


def test_a_job_that_cannot_begin_hurts_no_other(batch):
    one = batch(Generator())
    with pytest.raises(AssertionError, match="pages"):
        list(one.results(AssertionError("Job requires 9 pages")))
    (result,) = [each for each in one.results(Job()) if each is not None]
    assert result["eos"]


def test_an_error_of_one_job_is_told_to_its_reader(batch):
    one = batch(Generator(error="of the job"))
    with pytest.raises(KeyError):
        list(one.results(Job()))


def test_a_card_that_can_do_nothing_more_ends_the_process(batch, capfd):
    codes = []
    one = batch(Generator(error=RuntimeError("CUDA error: unspecified launch failure")), codes.append)
    with pytest.raises(RuntimeError):
        list(one.results(Job()))
    assert codes == [CARD_FAILED]
    assert "unspecified launch failure" in capfd.readouterr().err


@pytest.mark.parametrize("words", ["out of memory", "CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"])
def test_a_card_that_is_full_ends_an_answer_alone(words, batch):
    one = batch(Generator(error=RuntimeError(f"CUDA error: {words}")), lambda code: pytest.fail("ended"))
    with pytest.raises(RuntimeError, match="CUDA error"):
        list(one.results(Job()))
    assert diagnose([f"RuntimeError: CUDA error: {words}"], 1).code == "engine.out_of_memory"


def test_a_job_that_the_generator_has_lost_is_not_waited_for(batch):
    class Losing(Generator):
        def iterate(self):
            self.active_jobs.clear()
            return []

    with pytest.raises(RuntimeError, match="lost a job"):
        list(batch(Losing()).results(Job()))


def test_closing_leaves_whoever_still_reads_with_an_error():
    class Endless(Generator):
        def iterate(self):
            return []

    one = Batch(lambda: Loaded(Endless()))
    results = one.results(Job())
    assert next(results) is None
    one.close()
    with pytest.raises(RuntimeError, match="closed"):
        list(results)


def test_speeds_are_unknown_where_no_time_is_told():
    told = {"new_tokens": 1, "prompt_tokens": 5, "cached_tokens": 5, "time_prefill": 0.0, "time_generate": 0.0}
    result = {"job": Job(), "stage": "streaming", "eos": True, "eos_reason": "max_new_tokens", **told}
    *_, last = Reading(5).feed(result)
    assert (last.prompt_tps, last.decode_tps, last.finish, last.tokens) == (None, None, "length", 1)


@pytest.mark.parametrize("engine_id", ["exllamav2", "exllamav3"])
def test_what_an_engine_says_that_it_can(engine_id):
    engine = catalogue()[engine_id]
    assert "parallel" in engine.capabilities
    assert ("json_schema" in engine.capabilities) is (engine_id == "exllamav3")
    with pytest.raises(Unsupported):
        engine.open(Load("/m", projector="/p"))
