"""Echo models by engines that are echo too, and whoever measures them."""

import json
from contextlib import nullcontext
from dataclasses import replace

import pytest

from weighbridge.bench.plan import Entry, Plan, with_own_ids
from weighbridge.bench.run import Around, Bench
from weighbridge.bench.workload import Workload
from weighbridge.chat.client import ChatClient
from weighbridge.library.model import Model
from weighbridge.running.choose import Defaults
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.echo import ENGINE


@pytest.fixture
def echo(tmp_path):
    """Makes an entry out of a script."""

    def make(name="parrot", **script):
        path = tmp_path / f"{name}.echo"
        path.write_text(json.dumps({"tps": 0, "prompt_tps": 0, **script}), encoding="utf-8")
        model = Model(id=name, title=name, path=path, parts=(path,), format="echo", quant=None, size_bytes=10)
        load = replace(Supervisor.plain_load(supervising, model), engine="echo")
        return Entry(name, model, load, ENGINE)

    supervising = Supervisor({"echo": ENGINE}, Defaults(cores=2))
    yield make
    supervising.close()


@pytest.fixture
def bench():
    """A bench over some entries; its steps are kept in `told`."""
    supervisor = Supervisor({"echo": ENGINE}, Defaults(cores=2))
    client = ChatClient()

    def make(*entries, attend=lambda model, reading: nullcontext(), **changes):
        told = []
        plan = Plan(with_own_ids(entries), Workload("one two three", 64), **changes)
        made = Bench(supervisor, client, plan, Around(attend, told.append))
        made.told = told
        made.supervisor = supervisor
        return made

    yield make
    supervisor.close()
    client.close()
