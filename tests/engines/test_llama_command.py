"""The command line that means the same as the wheel's parameters."""

import pytest

from weighbridge_engines.api import DRAFT_KINDS, Load, Unsupported
from weighbridge_engines.llama_command import RARE, ROWS, arguments, lacking, options_in
from weighbridge_engines.llama_parameters import values
from weighbridge_engines.llama_program import program, read_listing, version_in

EVERYTHING = Load(
    "/models/a b.gguf",
    alias="a",
    context=8192,
    threads=3,
    slots=2,
    batch=512,
    micro_batch=128,
    unified=False,
    key_type="q8_0",
    value_type="q4_1",
    flash_attention=True,
    whole_window=True,
    gpu_layers=7,
    cpu_experts=1,
    split=(3.0, 1.0),
    mapped=False,
    projector="/p.gguf",
    draft="/d.gguf",
    draft_kind=DRAFT_KINDS[0],
    adapters=("/l,1.gguf", "/l2.gguf"),
)
KNOWN = {option for row in ROWS for way in row.ways for option in way.options}


def said(load, option, known=None):
    """What stands behind an option, None where the option is not there; True where nothing does."""
    told = arguments(values(load, 2500, "secret"), known)
    if option not in told:
        return None
    follows = told[told.index(option) + 1 : told.index(option) + 2]
    return follows[0] if follows and not follows[0].startswith("--") else True


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--model", "/models/a b.gguf"),
        ("--alias", "a"),
        ("--host", "127.0.0.1"),
        ("--port", "2500"),
        ("--ctx-size", "8192"),
        ("--parallel", "2"),
        ("--no-kv-unified", True),
        ("--batch-size", "512"),
        ("--ubatch-size", "128"),
        ("--gpu-layers", "7"),
        ("--tensor-split", "3,1"),
        ("--override-tensor", r"blk\.0\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU"),
        ("--threads", "3"),
        ("--threads-batch", "3"),
        ("--cache-type-k", "q8_0"),
        ("--cache-type-v", "q4_1"),
        ("--flash-attn", "on"),
        ("--swa-full", True),
        ("--load-mode", "none"),
        ("--mmproj", "/p.gguf"),
        ("--spec-draft-model", "/d.gguf"),
        ("--lora", "/l,1.gguf"),
        ("--fit", "off"),
        ("--cache-ram", "0"),
        ("--no-ui", True),
        ("--offline", True),
        ("--no-cors-credentials", True),
    ],
)
def test_every_value_is_said(option, value):
    assert said(EVERYTHING, option) == value


def test_each_adapter_has_an_option_of_its_own():
    told = arguments(values(EVERYTHING, 1, "k"))
    assert told.count("--lora") == 2 and "/l2.gguf" in told


def test_what_is_left_open_is_not_said():
    told = arguments(values(Load("/m.gguf"), 1, "k"))
    for option in (
        "--gpu-layers",
        "--threads",
        "--cache-type-k",
        "--flash-attn",
        "--load-mode",
        "--lora",
        "--swa-full",
    ):
        assert option not in told


def test_the_key_is_on_no_command_line():
    assert not [word for word in arguments(values(EVERYTHING, 1, "secret")) if "secret" in word]


def test_every_parameter_has_a_row_and_an_unknown_one_is_an_error():
    names = set(values(EVERYTHING, 1, "k")) - {"api_keys"}
    assert names | {"warmup"} == {row.name for row in ROWS} - set(RARE)  # which a trial alone sets
    with pytest.raises(KeyError):
        arguments({"n_new": 1})


@pytest.mark.parametrize("kind", DRAFT_KINDS)
def test_the_kind_of_a_draft_is_said_as_the_program_calls_it(kind):
    told = arguments({"speculative.types": [f"COMMON_SPECULATIVE_TYPE_DRAFT_{kind.upper()}"]})
    assert told == ["--spec-type", f"draft-{kind.replace('_', '-')}"]


@pytest.mark.parametrize(
    ("without", "option", "instead"),
    [
        ("--load-mode", "--no-mmap", True),
        ("--spec-draft-model", "--model-draft", "/d.gguf"),
        ("--no-ui", "--no-webui", True),
    ],
)
def test_an_older_program_is_told_in_its_own_words(without, option, instead):
    older = KNOWN - {without}
    assert said(EVERYTHING, without, older) is None
    assert said(EVERYTHING, option, older) == instead


def test_what_an_older_program_cannot_shut_is_left_out():
    older = KNOWN - {"--cors-origins", "--no-cors-credentials", "--offline", "--no-ui", "--no-webui", "--cache-ram"}
    assert lacking(older) == ()
    assert "--offline" not in arguments(values(EVERYTHING, 1, "k"), older)


def test_what_a_program_cannot_do_is_refused_where_it_is_asked_for():
    older = KNOWN - {"--mmproj"}
    assert lacking(older) == ()
    with pytest.raises(Unsupported) as refusal:
        arguments(values(EVERYTHING, 1, "k"), older)
    assert (refusal.value.cause.code, refusal.value.cause.values) == ("engine.option_unknown", {"option": "--mmproj"})
    assert arguments(values(Load("/m.gguf"), 1, "k"), older)


def test_a_program_without_what_every_load_needs_is_too_old():
    assert lacking(KNOWN - {"--fit", "--load-mode", "--no-mmap"}) == ("--load-mode", "--fit")
    assert lacking(KNOWN) == ()


def test_options_are_read_out_of_a_help_text():
    text = (
        "----- common params -----\n\n"
        "-kvu,  --kv-unified, -no-kvu, --no-kv-unified\n"
        "                                        use one buffer, see --other\n"
        "-c,    --ctx-size N                     size of the prompt context (default: 0, 0 = loaded\n"
        "--fit-target MiB0,MiB1                  target\n"
    )
    found = options_in(text)
    assert {"-kvu", "--kv-unified", "-no-kvu", "--no-kv-unified", "-c", "--ctx-size", "--fit-target"} <= found
    assert "--other" not in found and "--fit" not in found


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("version: 6000 (abc1234)\nbuilt with cc\n", "b6000"),
        ("load_backend: loaded\nversion: 0.1.0 (build 10434, commit 7e4c0a9)\n", "b10434"),
        ("version: 0.1.0-dev (build 1, commit 7e4c0a9)\n", "0.1.0-dev (build 1, commit 7e4c0a9)"),
        ("usage: something else", None),
    ],
)
def test_the_version_of_a_program(text, version):
    assert version_in(text) == version


def test_the_devices_of_a_program():
    text = (
        "ggml_vulkan: Found 1 Vulkan devices:\nAvailable devices:\n"
        "  CUDA0: NVIDIA GeForce RTX 3090 (24124 MiB, 23000 MiB free)\n  RPC0: 127.0.0.1:18701 (0 MiB, 0 MiB free)\n"
    )
    processor, card, remote = read_listing(text)
    assert (processor.id, processor.kind) == ("CPU", "cpu")
    assert (card.id, card.name, card.kind) == ("CUDA0", "NVIDIA GeForce RTX 3090", "gpu")
    assert (card.memory_total_bytes, card.memory_free_bytes) == (24124 << 20, 23000 << 20)
    assert (remote.name, remote.memory_total_bytes, remote.memory_free_bytes) == ("127.0.0.1:18701", None, None)


@pytest.mark.parametrize(("text", "count"), [("Available devices:\n  (none)\n", 1), ("Available devices:\n", 1)])
def test_a_program_without_cards_has_the_processor(text, count):
    assert len(read_listing(text)) == count


def test_what_is_no_list_of_devices():
    assert read_listing("error: unknown argument: --list-devices") is None


def test_a_program_tries_a_load_for_its_table():
    made = program("/nowhere/llama-server", "b1", KNOWN, "id")
    told = made.size_command(EVERYTHING)
    for option, value in (("--fit", "on"), ("--load-mode", "none"), ("--gpu-layers", "7"), ("--verbosity", "5")):
        assert told[told.index(option) + 1] == value
    assert "--no-warmup" in told
    assert not {"--mmproj", "--lora", "--spec-draft-model"} & set(told)


def test_a_program_shares_all_but_its_start():
    made = program("/nowhere/llama-server", "b1", KNOWN, "id")
    assert made.missing().code == "build.no_program"
    assert made.command(Load("/m.gguf"), 7)[:3] == ["/nowhere/llama-server", "--model", "/m.gguf"]
    assert (made.key_variable, made.serve, made.version()) == ("LLAMA_API_KEY", None, "b1")
    assert made.report("llama_context: n_ctx = 4096") == {"context": 4096}
