"""Pictures of every page: `python -m tests.screenshots OUT [--model FILE]`.

Each page light and dark, at the smallest window and at 1440 x 900, with a scanned library of made files, the empty
Library, and the chat while the echo engine answers. With a real model, also while it loads, loaded, while it answers,
and with the port open. With `--machine NAME`, the Library alone, on a recorded machine whose cards llama.cpp uses, or
with `--unused` does not, over models with real headers; and then for another machine. With `--engines`, the page
Engines alone, on a recorded machine whose card nothing uses. QT_SCALE_FACTOR=2 and
LC_ALL=es_ES.UTF-8 do what they say. What is cut off or lies on something else is told, a line each.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import httpx2
from tests.camera import PAGES, PATIENCE_S, SCHEMES, SIZES, Camera, machine_of, put_headers, unmoved

if TYPE_CHECKING:
    from weighbridge.base.task import Task
    from weighbridge.ui.engines.page import EnginesPage
    from weighbridge.ui.pages.library import LibraryPage
    from weighbridge.ui.services import Services

SHOWN = ("qwen3-30b-a3b", "qwen3.5-27b", "llama-3.3-70b", "gemma-3-12b")
"""Chosen one after the other: experts in RAM, layers in RAM, too large, windows."""
TEXT = """## How deep a hull may sit

A **load line** marks how deep a hull may sit in the *water*. Each letter is a limit for one kind of water:

| Mark | Water | Draught |
|---|---|--:|
| TF | Tropical fresh | deepest |
| S | Summer sea | reference |

```python
def draught(mark: str, salt: float = 1.025) -> float:
    return MARKS[mark] * salt  # the sea carries more
```

"""
SAID = {"text": TEXT, "repeat": 50, "tps": 60, "context": 8192}


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", type=Path, help="a real GGUF, loaded and chatted with")
    parser.add_argument("--discover", action="store_true", help="the page Discover alone, against a Hub on loopback")
    parser.add_argument("--downloads", action="store_true", help="the pages Downloads and Network alone")
    parser.add_argument("--engines", action="store_true", help="the page Engines alone, with a card that nothing uses")
    parser.add_argument("--advisor", action="store_true", help="the Advisor alone, on a recorded machine")
    parser.add_argument("--library", action="store_true", help="the Library alone, with models of several programs")
    parser.add_argument("--load", action="store_true", help="the sheet of a load alone, on --machine or with --model")
    parser.add_argument("--forms", action="store_true", help="what is filled in: settings, a token, an endpoint")
    parser.add_argument("--failures", action="store_true", help="each class of a failed load, in Library and chat")
    parser.add_argument("--fonts", type=float, default=1.0, help="how much larger the fonts are")
    parser.add_argument("--machine", help="a recorded machine, of tests/hardware/machines, to show the Library on")
    parser.add_argument("--unused", action="store_true", help="no engine here uses the cards of that machine")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as home:
        os.environ["WEIGHBRIDGE_HOME"] = os.environ["HOME"] = home  # nobody's own models are in a picture
        camera = _Shots(Path(home), arguments.out, arguments.fonts)
        _shoot(camera, arguments)


def _shoot(camera: _Shots, arguments: argparse.Namespace) -> None:
    """What is asked for alone; else all of it."""
    machine = arguments.machine
    alone: dict[str, Callable[[], None]] = {
        "load": lambda: camera.shoot_load(arguments.model) if arguments.model else camera.shoot_load_on(machine),
        "discover": lambda: camera.shoot_discover(machine),
        "downloads": camera.shoot_downloads,
        "engines": lambda: camera.shoot_engines(machine or "rtx3090_desktop"),
        "advisor": lambda: camera.shoot_advisor(machine or "rtx3090_desktop"),
        "forms": camera.shoot_forms,
        "failures": camera.shoot_failures,
        "library": camera.shoot_library,
        "machine": lambda: camera.shoot_on(machine, used=not arguments.unused),
    }
    wanted = next((name for name in alone if getattr(arguments, name)), None)
    alone[wanted]() if wanted else camera.shoot(arguments.model)


class _Shots(Camera):
    def shoot(self, model: Path | None) -> None:
        from tests.ui.made_library import fill

        program = self._program
        program.open()
        self._until(lambda: program.services is not None and program.services.memories.machine is not None)
        self._take("library_empty")
        fill(self._home / "data" / "models")
        (self._home / "data" / "models" / "echo.echo").write_text(json.dumps(SAID), encoding="utf-8")
        if model is not None:
            (self._home / "data" / "models" / model.name).symlink_to(model.resolve())
        program.window.pages["library"].rescan()
        self._until(lambda: program.window.pages["library"].table.chosen is not None)
        program.window.pages["library"].table.choose("Qwen3-8B-Q4_K_M")
        self._take_downloads()
        for page in PAGES[1:]:  # the first one asks the Hub
            if page == "machine":  # the graphs need a past
                program.window.show_page(page)
                self._wait(12_000)
            self._take(page)
        self._take_palette()
        self._take_answering("echo")
        if model is not None:
            self._with_model(model)
        program.close()

    def shoot_library(self) -> None:
        """Models of several programs, a note, a part, one off the list; then panels, a question, and a template."""
        from tests.ui.made_library import fill, fill_programs

        from weighbridge.formats.variant import Role

        fill(self._home / "data" / "models")
        fill_programs(self._home)
        program = self._program
        program.open()
        self._until(lambda: program.services is not None and program.services.memories.machine is not None)
        page, services = program.window.pages["library"], program.services
        program.window.show_page("library")
        self._until(lambda: page.table.chosen is not None and not services.weighing.pacing)
        models = {model.title: model for model in services.library.models}
        chosen = models["Qwen3-8B-Q4_K_M"]
        page.table.choose(chosen.id)
        services.marks.write_note(chosen, "Good at code; slow past 16k.")
        services.marks.used(chosen, time.time())
        page._parts.choose(Role.PROJECTOR, chosen.companion(Role.PROJECTOR).path)
        page.shelf.take_off(models["Broken-7B.Q4_0"])
        self._take("library", "shelves_undo")
        page.question.hide()
        self._take("library", "shelves")
        page.foot.open_panel("folders")
        self._take("library", "shelves_folders")
        page.foot.close_panel()
        page.shelf.remove(chosen)
        self._until(page.question.isVisible)
        self._take("library", "shelves_remove")
        page.question.hide()
        page.table.choose(models["gemma-3-12b-it-Q4_K_M"].id)
        self._until(page.detail.template.isVisible)
        page.detail.template.fold.toggle()
        self._take("library", "shelves_template")
        program.close()

    def shoot_forms(self) -> None:
        """The rest of the settings, signing in, an endpoint to add, and the chat with its options."""
        from PySide6.QtWidgets import QScrollArea

        program = self._program
        models = self._home / "data" / "models"
        models.mkdir(parents=True, exist_ok=True)
        (models / "echo.echo").write_text(json.dumps({**SAID, "repeat": 1}), encoding="utf-8")
        program.open()
        self._until(lambda: program.services is not None and program.services.facts.answered)
        window, bus = program.window, program.services.bus
        window.show_page("settings")
        for area in window.pages["settings"].findChildren(QScrollArea):
            area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
        self._take("settings", "forms_settings")
        bus.sign_in_wanted.emit()
        self._take("network", "forms_sign_in")
        window.show_page("engines")
        self._until(lambda: bool(window.pages["engines"].cards))
        bus.endpoint_wanted.emit("ollama")
        self._take("engines", "forms_endpoint")
        window.show_page("chat")
        chat = window.pages["chat"]
        bus.chat_wanted.emit("echo")
        chat.send("What does a load line tell a harbour master?")
        self._until(lambda: bool(chat.dialogue.path) and chat.dialogue.answer is None)
        chat._toggle_options()
        self._take("chat", "forms_options")
        program.close()

    def shoot_failures(self) -> None:
        """Each class of a failed load, by a fake engine that ends with its words: in the Library, some in the chat."""
        from tests.ui import made_failures
        from tests.ui.made_library import fill

        program, models = self._program, self._home / "data" / "models"
        fill(models)
        named = made_failures.put(models)
        program.open()
        self._until(lambda: program.services is not None and program.services.memories.machine is not None)
        page, supervisor = program.window.pages["library"], program.services.supervisor
        program.window.resize(*SIZES[0])
        program.window.show_page("library")
        self._until(lambda: page.table.chosen is not None and program.services.facts.answered)
        for code, name in named.items():
            model = program.services.library.resolve(name)
            page.table.choose(model.id)
            supervisor.load(model, made_failures.load_of(supervisor.default_load(model)))
            self._until(page.detail.failure.isVisible)
            self._wait(700)
            program.window.grab().save(str(self._out / f"failure_{code}.png"))
        program.services.bus.chat_wanted.emit(program.services.library.resolve(named["engine.draft_mismatch"]).id)
        self._take("chat", "failure_chat")
        program.close()

    def shoot_downloads(self) -> None:
        """The queue and the requests, in made states."""
        self._program.open()
        self._until(lambda: self._program.services is not None)
        self._take_downloads()
        self._take("network")
        self._program.close()

    def shoot_engines(self, recorded: str) -> None:
        """A card that nothing uses, an installation that goes on, one that failed, several builds, and no engine."""
        from tests.ui.engines.made_engines import LINES

        from weighbridge.hardware import again, detect

        machine = machine_of(recorded, used=False)
        with patch.object(detect, "detect", lambda: machine), patch.object(again, "look_again", unmoved):
            self._program.open()
            self._until(lambda: self._program.services is not None and self._program.services.facts.answered)
            self._take_engines(LINES)
            self._program.close()

    def shoot_advisor(self, recorded: str) -> None:
        """What follows from the machine, from answers for many users, and from another machine."""
        from weighbridge.hardware import again, detect

        machine = machine_of(recorded, used=True)
        with patch.object(detect, "detect", lambda: machine), patch.object(again, "look_again", unmoved):
            put_headers(self._home / "data" / "models")
            self._program.open()
            self._until(lambda: self._program.services is not None and self._program.services.facts.answered)
            page = self._program.window.pages["advisor"]
            self._program.window.show_page("advisor")
            self._until(lambda: bool(page.advice.points))
            self._take("advisor")
            page.answer("users", 16)
            page.answer("purpose", "serving")
            self._wait(800)
            self._take("advisor", "advisor_serving")
            page.advice.fold.show_open(True)
            self._wait(200)
            page.advice_area.ensureWidgetVisible(page.advice.fold.line, 0, 0)
            self._take("advisor", "advisor_engines")
            page.forget()
            page.machine.open()
            strip = page.machine.strip
            self._until(lambda: strip.names.count() > 1)
            strip.names.lineEdit().setText("H100 SXM5 80 GB")
            strip.names.lineEdit().editingFinished.emit()
            strip.count.setValue(8)
            self._wait(800)
            self._take("advisor", "advisor_elsewhere")
            self._program.close()

    def _take_engines(self, lines: tuple[str, ...]) -> None:
        from tests.ui.engines.made_engines import CPU, RTX, put_environment

        from weighbridge.base.errors import EngineFailed
        from weighbridge.base.task import Progress, Task
        from weighbridge.ui.engines.installation import Installation

        window, builds = self._program.window, self._program.services.builds
        page = window.pages["engines"]
        window.show_page("engines")
        self._until(lambda: bool(page.rows) and bool(page.banners))
        self._take("engines")
        self._take_all_engines(page)
        going_on = Installation("llama_server-cuda12", Task(), list(lines))
        going_on.task.progress = Progress(212 << 20, None, "package index")
        builds.installation = going_on
        builds.changed.emit()
        page.rows["llama_server-cuda12"].installing.log.fold.toggle()
        page.show_build("llama_server-cuda12")
        self._take("engines_installing", "engines_installing")
        builds.installation = None
        values = {"build": "llama_server-cuda12", "reason": "error: Failed to fetch: connection reset", "log_file": "-"}
        builds.errors = {"llama_server-cuda12": EngineFailed("build.install_failed", lines, **values)}
        builds.changed.emit()
        self._take("engines_failed", "engines_failed")
        builds.errors = {}
        for build_id, title in (("llama_server-cuda12", "CUDA 12"), ("llama_server-vulkan", "Vulkan")):
            put_environment(self._home / "data", build_id, title, (CPU, RTX))
        builds.look()
        self._until(lambda: "llama_server-vulkan" in {one.id for one in builds.known.builds})
        builds.use("llama_server-cuda12")
        self._until(lambda: "llama_server-cuda12" in {one.id for one in builds.known.builds if one.in_use})
        self._take("engines_several", "engines_several")
        page.do("remove", "llama_server-vulkan")
        self._take("engines_remove", "engines_remove")
        self._program.settings.change(offline=True)
        page.question.hide()
        self._take("engines_offline", "engines_offline")

    def _take_all_engines(self, page: EnginesPage) -> None:
        """The whole of what is scrolled there, with all that is folded."""
        for unfolded in (False, True):
            page.sections.fold.show_open(unfolded)
            for card in page.cards.values():
                card.known.show_open(unfolded)
            for scheme in SCHEMES:
                self._program.theme.choose(scheme)
                for width, height in SIZES:
                    self._program.window.resize(width, height)
                    self._wait(200)
                    name = f"engines_all{'_unfolded' if unfolded else ''}_{scheme}_{width}.png"
                    page.sections.grab().save(str(self._out / name))
        page.sections.fold.show_open(False)
        for card in page.cards.values():
            card.known.show_open(False)

    def shoot_discover(self, recorded: str | None) -> None:
        """Before it may ask, what it offers, a model that is open, the choice that is looked at, and what is named."""
        from tests.fake_hub import FakeHub
        from tests.ui.discover.made_hub import fill

        from weighbridge.hardware import again, detect

        machine = machine_of(recorded, used=True) if recorded else None
        with FakeHub() as hub:
            fill(hub)
            self._program.settings.change(hub_endpoint=hub.endpoint)
            if machine is None:
                self._take_discover()
                return
            with patch.object(detect, "detect", lambda: machine), patch.object(again, "look_again", unmoved):
                self._take_discover()

    def _take_discover(self) -> None:
        program = self._program
        program.open()
        self._until(lambda: program.services is not None and program.services.memories.machine is not None)
        page = program.window.pages["discover"]
        program.window.resize(*SIZES[-1])
        program.window.show_page("discover")
        self._take("discover_entry")
        page.entry.button.click()
        self._until(lambda: page.list.rows and all(row.badge for row in page.list.rows))
        self._take("discover_offered")
        program.window.resize(*SIZES[-1])
        page.list.choose("qwen/qwen3-8b")
        page.list.entered.emit()
        self._until(lambda: page.pane.table.chosen is not None and page.pane.table.chosen.recommended)
        self._until(lambda: page.discovery.whole(page.pane.table.chosen.offered) is not None)
        self._wait(1_500)
        self._take("discover_open")
        page.pane.detail.card_fold.toggle()
        self._until(lambda: bool(page.pane.detail.card.raw))
        self._take("discover_card")
        page.pane.detail.card_fold.toggle()
        page.filters.fold()
        page.filters.search.setText("no such model")
        page.filters.look()
        self._until(lambda: not page.list.rows and not page.discovery.is_searching)
        self._take("discover_nothing")
        program.settings.change(offline=True)
        page.filters.search.setText("qwen")
        page.filters.look()
        self._until(page.errors.isVisible)
        self._take("discover_offline")
        program.close()

    def shoot_load(self, file: Path) -> None:
        """A real model, loaded from the sheet with other values than its own, and the sheet over what is loaded."""
        from weighbridge.running.state import State

        program = self._program
        models = self._home / "data" / "models"
        models.mkdir(parents=True, exist_ok=True)
        (models / file.name).symlink_to(file.resolve())
        program.open()
        self._until(lambda: program.services is not None and program.services.memories.machine is not None)
        library = program.window.pages["library"]
        self._until(lambda: library.table.chosen is not None)
        library.loads.set_load()
        sheet = program.window.page
        values = {"context": 2048, "key_type": "q8_0", "value_type": "q8_0", "threads": 2, "slots": 2}
        for name, value in values.items():
            sheet.set_value(name, value)
        self._until(lambda: sheet.reckoned is not None and sheet.reckoned.choice.load == sheet.draft.load)
        self._take("load_changed")
        sheet.load()
        self._until(lambda: any(one.state is State.READY for one in program.services.supervisor.running()))
        self._wait(1_500)
        self._take("load_done")
        library.loads.set_load()
        self._until(lambda: sheet.reckoned is not None)
        sheet.set_value("threads", 3)
        for section in sheet.sections.values():
            section.fold.show_open(True)
        self._wait(500)
        self._take("load_loaded")
        program.close()

    def shoot_load_on(self, recorded: str) -> None:
        """The sheet on a recorded machine: as it opens, with changes, a refused value, a preset, what does not fit."""
        from weighbridge.hardware import again, detect

        machine = machine_of(recorded, used=True)
        with patch.object(detect, "detect", lambda: machine), patch.object(again, "look_again", unmoved):
            program = self._program
            put_headers(self._home / "data" / "models")
            program.open()
            self._until(lambda: program.services is not None and program.services.memories.machine is not None)
            for name, layers in (("gemma-3-12b", 20), ("llama-3.3-70b", 81)):
                self._take_sheet(recorded, name, layers)
            program.close()

    def _take_sheet(self, recorded: str, name: str, layers: int) -> None:
        """As it opens, and with values that are changed and refused."""
        program = self._program
        library = program.window.pages["library"]
        self._until(partial(_listed, library, name))
        library.table.choose(name)
        self._until(partial(_looked_at, program.services, library))
        library.loads.set_load()
        sheet = program.window.page
        self._until(lambda: sheet.reckoned is not None)
        self._take(f"load_{recorded}_{name}")
        changed = {"context": 65_536, "key_type": "q8_0", "value_type": "q8_0", "gpu_layers": layers, "threads": 200}
        for setting, value in changed.items():
            sheet.set_value(setting, value)
        self._until(lambda: sheet.reckoned is not None and sheet.reckoned.choice.load == sheet.draft.load)
        sheet.presets.saved.emit("long texts")
        line = sheet.sections["memory"].lines["slots"].field
        line.setText("999")
        line.editingFinished.emit()
        self._take(f"load_{recorded}_{name}_changed")
        sheet.closed.emit()

    def shoot_on(self, recorded: str, used: bool) -> None:
        """The Library on a recorded machine: what fits, what fits in part, what does not."""
        from weighbridge.hardware import again, detect

        machine = machine_of(recorded, used)
        with patch.object(detect, "detect", lambda: machine), patch.object(again, "look_again", unmoved):
            program = self._program
            put_headers(self._home / "data" / "models")
            program.open()
            self._until(lambda: program.services is not None and program.services.memories.machine is not None)
            page = program.window.pages["library"]
            for name in SHOWN:
                self._until(partial(_listed, page, name))
                page.table.choose(name)
                self._until(partial(_looked_at, program.services, page))
                self._take("library", f"{recorded}{'' if used else '_unused'}_{name}")
            self._take_what_if(page, recorded)
            program.close()

    def _take_what_if(self, page: LibraryPage, recorded: str) -> None:
        """For another machine, the reckoning of a speed unfolded, and then with a speed that is wanted."""
        page.machine.open()
        strip = page.machine.strip
        self._take("library", f"{recorded}_what_if_opened")
        self._until(lambda: strip.names.count() > 1)
        strip.names.lineEdit().setText("RTX 4090")
        strip.names.lineEdit().editingFinished.emit()
        strip.count.setValue(2)
        strip.ram.setValue(64)
        page.table.choose("llama-3.3-70b")
        self._until(partial(_looked_at, self._program.services, page))
        self._take("library", f"{recorded}_what_if")
        page.detail.weighed.speed.toggle()
        self._take("library", f"{recorded}_what_if_why")
        page.detail.weighed.speed.toggle()
        page.detail.weighed.speed.least.setValue(100)
        self._until(lambda: page.detail.weighed.advice.changes.head != "")
        self._take("library", f"{recorded}_what_if_wanted")

    def _take_downloads(self) -> None:
        """The queue while it is empty, with something found, and with a job in each state, one of which has failed;
        requests for the page Network are made up with it. The queue goes first, so that it tells nothing meanwhile.
        """
        from tests import made_downloads

        services, page = self._program.services, self._program.window.pages["downloads"]
        services.network.clear()
        self._program.window.show_page("network")
        self._take("network_empty")
        self._program.window.show_page("downloads")
        self._take("downloads_empty")
        page.finder.offers.show_found(made_downloads.found(), 212 << 30)
        self._take("downloads_found")
        page.finder.offers.close_it()
        services.downloads.show(made_downloads.snapshot())
        made_downloads.ask(services.network)
        services.bus.network_changed.emit()
        self._wait(400)
        page.list.expand(page.list.model().index(0, 0))
        for number, name in ((2, "retrying"), (7, "failed"), (8, "done")):
            page.list.choose(number)
            self._take(f"downloads_{name}")
        page.finder.offers.show_found(made_downloads.found(), 212 << 30)
        self._take("downloads_found_beside")
        page.finder.offers.close_it()

    def _take_palette(self) -> None:
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        window = self._program.window
        for scheme in SCHEMES:
            self._program.theme.choose(scheme)
            window.show_page("library")
            QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
            self._wait(150)
            window.grab().save(str(self._out / f"palette_{scheme}.png"))
            QTest.keyClick(window, Qt.Key.Key_Escape)

    def _with_model(self, file: Path) -> None:
        from weighbridge.running.state import State

        services, window = self._program.services, self._program.window
        library = window.pages["library"]
        window.show_page("library")
        model = next(model for model in services.library.models if model.path.name == file.name)
        library.table.choose(model.id)
        library.loads.load()
        self._until(lambda: any(one.state is State.LOADING for one in services.supervisor.running()))
        self._wait(100)
        window.grab().save(str(self._out / "library_loading.png"))
        self._until(lambda: any(one.state is State.READY for one in services.supervisor.running()))
        self._wait(2_500)
        self._take("library")
        services.port.open()
        self._until(lambda: services.port.url is not None)
        self._take_answering(model.id)
        self._ask_the_port(services, model.id)
        for page in ("chat", "server", "machine"):
            self._take(page)

    def _take_answering(self, model_id: str) -> None:
        """The chat while an answer comes, five seconds after its begin, then stopped."""
        from weighbridge.chat.client import Sampling
        from weighbridge.ui.chat.options import Options

        program = self._program
        page = program.window.pages["chat"]
        program.window.show_page("chat")
        page.new_chat()
        program.bus.chat_wanted.emit(model_id)
        page.options.show_options(Options(sampling=Sampling(temperature=0.0)))
        page.send("Write a very long story about a ship, in many chapters.")
        self._until(lambda: page.strip.speed.tps is not None)
        self._wait(5_000)
        for scheme in SCHEMES:
            program.theme.choose(scheme)
            for width, height in SIZES:
                program.window.resize(width, height)
                self._wait(400)
                program.window.grab().save(str(self._out / f"answering_{model_id}_{scheme}_{width}.png"))
        page.stop()
        self._until(lambda: page.dialogue.answer is None)

    def _ask_the_port(self, services: Services, model_id: str) -> None:
        """Two requests of another program: one that is answered, one that is refused."""
        url = f"{services.port.url}/v1/chat/completions"
        answered: list[int] = []
        for model in (model_id, "gpt-4o"):
            body = {"model": model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 16}
            services.background.run(partial(_post, url, body), answered.append, print)
        self._until(lambda: len(answered) == 2)


def _listed(page: LibraryPage, model_id: str) -> bool:
    table = page.table.model()
    return any(table.index(row, 0).data() == model_id for row in range(table.rowCount()))


def _looked_at(services: Services, page: LibraryPage) -> bool:
    return page.table.chosen is not None and services.weighing.closely(page.table.chosen.model) is not None


def _post(url: str, body: dict[str, object], task: Task) -> int:
    del task
    return httpx2.post(url, json=body, timeout=PATIENCE_S).status_code


if __name__ == "__main__":
    main()
