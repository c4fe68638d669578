"""The chat page with a model that an endpoint serves: how far it goes is in sight, and nothing is said of loads."""

from dataclasses import replace

import pytest
from tests.engines.made_vision import png
from tests.ui.fakes import running

from weighbridge.base.errors import EngineFailed
from weighbridge.chat.conversation import Attached
from weighbridge.running.endpoints import table
from weighbridge.running.endpoints.endpoint import Listed, Reached
from weighbridge.running.state import Setting, State
from weighbridge.ui.chat import switcher
from weighbridge.ui.chat.figures import answer_line
from weighbridge.ui.chat.page import reading_of
from weighbridge.ui.commands import model_entries

SERVED, HERE = "qwen3:8b@my-box", "Qwen3-0.6B-Q8_0"


@pytest.fixture
def served(full):
    """The services with an endpoint in the network, and one on this computer."""
    owner = full.endpoints.endpoints
    owner.add("http://192.168.1.20:8000", title="My box")
    owner.add("http://127.0.0.1:8080", title="Near", preset="llama_server")
    for name in ("my-box", "near"):
        table.write_reached(owner._database, name, Reached(1.0, None, (Listed("qwen3:8b", 32_768),)))
    owner._read()
    full.library.relist()
    return full


@pytest.fixture
def page(served, make_page):
    made = make_page()
    made._chosen.choose(SERVED)
    return made


def become(full, state=State.READY, model_id=SERVED):
    told = (Setting("context", None, 32_768),)
    full.supervisor.become(full.bus, running(model_id, state, engine_id="endpoint", settings=told))


def test_that_it_leaves_is_in_sight_as_long_as_it_is_chosen(page):
    assert page._reach.isVisible()
    assert page._reach.accessibleName() == "Leaves this computer, stays in your network"
    assert "My box answers" in page._reach.toolTip()
    assert page.composer.placeholder == f"Message {SERVED}; it leaves this computer"
    page._chosen.choose("qwen3:8b@near")
    assert not page._reach.isVisible()
    assert page.composer.placeholder == "Message qwen3:8b@near"
    page._chosen.choose(HERE)
    assert not page._reach.isVisible()


def test_nothing_is_said_of_loading_it(page, served):
    assert page._note.text() == "not connected"
    assert page._empty.button.text() == "Connect now"
    assert not page._settings.isVisible()
    assert page.options.elsewhere == "How it is loaded is for My box to say."
    page._options_button.click()
    assert not page.options._loaded.isVisible()
    wanted = []
    served.bus.load_wanted.connect(lambda *asked: wanted.append(asked))
    page._set_load()
    assert wanted == []
    become(served)
    assert page._note.text() == "32,768 context"
    page._chosen.choose(HERE)
    assert page._settings.isVisible()
    assert page.options._elsewhere.isHidden()


def test_what_is_asked_of_loads_here_is_not_asked_of_it_and_is_kept(page, served):
    page.options._context.ask(2048)
    page.send("Hello")
    model_id, load, _ = served.supervisor.leases[-1]
    assert (model_id, load.context) == (SERVED, 4096)
    assert page.options.options.context == 2048


def test_samplers_that_its_server_does_not_understand_are_shut_with_the_reason(page):
    shut = {name for name, field in page.options.samplers.items() if not field.isEnabled()}
    assert shut == {"top_k", "min_p"}
    assert page.options.samplers["top_k"].toolTip() == "My box does not understand it: it is not sent."
    assert page.options.unsent == "Top-k, Min-p: not sent, for My box does not understand these."
    for understands_all in ("qwen3:8b@near", HERE):
        page._chosen.choose(understands_all)
        assert all(field.isEnabled() for field in page.options.samplers.values())
        assert page.options.unsent == ""
        assert page.options.samplers["top_k"].toolTip() == ""


@pytest.mark.parametrize(("sees", "sent"), [(None, True), (True, True), (False, False)])
def test_pictures_go_to_what_may_take_them(page, served, qapp, sees, sent):
    owner = served.endpoints.endpoints
    table.write_reached(owner._database, "my-box", Reached(1.0, None, (Listed("qwen3:8b", 32_768, sees=sees),)))
    owner._read()
    served.library.relist()
    page._show_model()
    assert page.composer.sees is sent
    picture = Attached(png(3, 2), "png", 3, 2)
    page._send("What is it?", (picture,), page._chosen.model, page._asked_load(page._chosen.model))
    assert bool(served.supervisor.leases) is sent
    if sent:
        (message,) = page.dialogue._answering._ask.messages
        assert message["content"][0] == {"type": "image_url", "image_url": {"url": picture.url}}
    else:
        assert page._error.error.code == "picture.not_taken"


def test_the_strip_has_no_memory_for_it(page, answered):
    answered(page)
    assert page.strip.memory.isHidden()
    page._chosen.choose(HERE)
    page.resize(1400, 800)
    assert not page.strip.memory.isHidden()


@pytest.mark.parametrize(("source", "mark"), [("counted", "~"), ("engine", "")])
def test_a_speed_that_was_counted_here_is_marked(page, answered, source, mark):
    item = answered(page)
    message = replace(item.message, figures={"source": source, "decode_tps": 61.4})
    assert answer_line(message) == f"{mark}61.4\u202ftok/s"
    page.strip.show_reading(reading_of(message), None, goes_on=False)
    assert page.strip.speed.shown == f"{mark}61.4"


def test_lists_of_models_say_which_leave(page, served):
    page._switcher._fill()
    said = {action.toolTip(): action.text() for action in page._switcher._menu.actions()}
    assert said[SERVED] == f"{SERVED}\tleaves this computer"
    assert said["qwen3:8b@near"] == "qwen3:8b@near"
    become(served)
    page._switcher._fill()
    said = {action.toolTip(): action.text() for action in page._switcher._menu.actions()}
    assert said[SERVED] == f"{SERVED}\tleaves this computer · Connected"
    hints = {entry.title: entry.hint for entry in model_entries(served)}
    assert hints[f"Chat with {SERVED}"] == "leaves this computer · Connected"


def test_a_menu_holds_what_runs_and_files_before_thousands_that_are_served(page, served, monkeypatch):
    monkeypatch.setattr(switcher, "MOST_ENTRIES", 3)
    wanted = []
    served.bus.switch_wanted.connect(lambda: wanted.append(1))
    models = page._chosen.models
    page._switcher.show_models(models, (), next(one for one in models if one.id == SERVED))
    page._switcher._fill()
    *entries, more = page._switcher._menu.actions()
    files = [one.title for one in models if one.remote is None][:2]
    assert sorted(action.toolTip() for action in entries) == sorted([SERVED, *files])
    assert more.text() == f"Find one of {len(models) - 3} more…"
    more.trigger()
    assert wanted == [1]


def test_for_want_of_a_choice_what_stays_here_is_taken(served, make_page):
    served.settings.change(last_model="gone")
    page = make_page()
    assert page._chosen.model.remote is None
    become(served)
    assert page._chosen.model.id != SERVED
    become(served, model_id="qwen3:8b@near")
    assert page._chosen.model.id == "qwen3:8b@near"


def test_where_all_leaves_one_is_taken_and_that_is_in_sight(served, make_page, monkeypatch):
    served.settings.change(last_model="gone")
    leaving = tuple(model for model in served.library.models if model.leaves)
    monkeypatch.setattr(type(served.library), "models", property(lambda library: leaving))
    page = make_page()
    assert page._chosen.model.id == SERVED
    assert page._reach.isVisible()


def test_why_a_server_cannot_be_reached_is_told_once(page, served, qtbot):
    error = EngineFailed("endpoint.refused", endpoint="My box", address="http://192.168.1.20:8000/v1")
    failed = running(SERVED, State.FAILED, engine_id="endpoint", error=error)
    served.supervisor.become(served.bus, failed)
    assert page._error.isVisible()
    served.supervisor.become(served.bus)
    assert not page._error.isVisible()
    served.supervisor.lends = False
    page.send("Hello")
    served.supervisor.leases[-1][2].set_exception(error)
    served.supervisor.become(served.bus, failed)
    qtbot.waitUntil(lambda: page.dialogue.answer is None)
    assert page.column.items[-1].message.error.code == "endpoint.refused"
    assert not page._error.isVisible()


def test_it_is_not_pinned(page, served):
    become(served)
    page._switcher._fill()
    assert all(not action.text().startswith("Pin") for action in page._switcher._menu.actions())
