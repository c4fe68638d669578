"""What is loaded beside a model is weighed with it, and named in the load that is made."""

from dataclasses import replace

from weighbridge.choices.offered import HUB
from weighbridge.estimates.estimate import Term
from weighbridge.formats.variant import Role
from weighbridge.running.parts import Parts
from weighbridge.ui.weighing import Weighing

EIGHT = "Qwen3-8B-Q4_K_M"


def projector_bytes(choice):
    return sum(share.terms.get(Term.PROJECTOR) or 0 for share in choice.fit.estimate.shares)


def test_a_chosen_projector_is_in_the_figure_and_in_the_load(full, qtbot, tmp_path):
    full.memories.start()
    qtbot.waitUntil(lambda: full.memories.machine is not None)
    file = tmp_path / "mmproj.gguf"
    file.write_bytes(bytes(1000))
    parts, sources = Parts(full.marks.of), full.weighing._sources

    def load_of(model):
        return parts.named_in(sources.default_load(model), model)

    weighing = Weighing(replace(sources, default_load=load_of, parts=parts), full.background)
    model = next(one for one in full.library.models if one.id == EIGHT)
    weighing.refresh([model], [model])
    alone = weighing.choice(model)
    assert projector_bytes(alone) == 0
    full.marks.choose_part(model, Role.PROJECTOR, file)
    with qtbot.waitSignal(weighing.outdated):
        weighing.choose_parts(model)
    weighing.refresh([model], [model])
    weighed = weighing.choice(model)
    assert projector_bytes(weighed) == 1400
    assert weighed.fit.estimate.total_bytes == alone.fit.estimate.total_bytes + 1400
    assert weighing.load_to_make(model).projector == str(file)
    full.marks.choose_part(model, Role.PROJECTOR, None)
    weighing.choose_parts(model)
    weighing.refresh([model], [model])
    assert weighing.load_to_make(model).projector is None
    weighing.quiet()


def test_what_is_offered_no_more_is_forgotten_and_what_is_here_stays(qtbot, full):
    full.memories.start()
    qtbot.waitUntil(lambda: full.memories.machine is not None)
    here = tuple(full.library.models)
    full.weighing.refresh(here, here)
    offered = [replace(here[0], id=f"hub:o/{name}@main:gguf:x", source=HUB) for name in "ab"]
    full.weighing.refresh(offered, offered)
    full.weighing.refresh(offered[1:], offered[1:])
    qtbot.waitUntil(lambda: full.weighing.choice(offered[0]) is None)
    assert full.weighing.choice(offered[1]) is not None
    assert full.weighing.choice(here[0]) is not None
    full.weighing.refresh(here[1:], here[1:])
    qtbot.waitUntil(lambda: full.weighing.choice(here[0]) is None)
    assert full.weighing.choice(offered[1]) is not None
    full.weighing.quiet()


def test_what_is_in_sight_and_takes_too_long_comes_at_the_next_turns(qtbot, full, monkeypatch):
    full.memories.start()
    qtbot.waitUntil(lambda: full.memories.machine is not None)
    weighing, here = full.weighing, tuple(full.library.models)
    monkeypatch.setattr("weighbridge.ui.weighing.AT_ONCE_S", 0.0)
    told = []
    weighing.weighed.connect(told.extend)
    weighing.refresh((), here[:3])
    assert (weighing.busy, told) == (True, [])
    qtbot.waitUntil(lambda: not weighing.pacing)
    assert told == [model.id for model in here[:3]]
    assert all(weighing.choice(model).speeds is not None for model in here[:3])


def test_who_leaves_while_it_weighs_and_comes_back_finds_the_rest_weighed(qtbot, full):
    full.memories.start()
    qtbot.waitUntil(lambda: full.memories.machine is not None)
    full.memories.stop()
    weighing, here = full.weighing, tuple(full.library.models)
    weighing.refresh(here, ())
    weighing.quiet()
    assert weighing.busy
    weighing.refresh(here, ())
    qtbot.waitUntil(lambda: not weighing.pacing, timeout=5000)
    assert all(weighing.choice(model) is not None for model in here if model.problem is None)
