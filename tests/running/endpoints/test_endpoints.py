"""The owner of endpoints: what is kept, what is refused, and that nobody is asked unbidden."""

import json
from contextlib import closing

import pytest
from tests.endpoint_server import EndpointServer, listing

from weighbridge.base.database import Database
from weighbridge.base.errors import NotFound, Refused
from weighbridge.hub.network import NetworkLog
from weighbridge.library.index import Library
from weighbridge.library.model import ENDPOINT, Reach
from weighbridge.running.endpoints.current import Current
from weighbridge.running.endpoints.endpoint import Endpoint, Listed, models_of


def code_of(action, *arguments, **named):
    with pytest.raises((Refused, NotFound)) as caught:
        action(*arguments, **named)
    return caught.value.code


def test_what_is_added_is_there_at_the_next_start(made):
    endpoint = made().add("https://api.groq.com", key="gsk_1")
    number = endpoint.key_number
    assert endpoint == Endpoint("groq", "Groq", "https://api.groq.com", "/openai/v1", "groq", number)
    assert endpoint.keyed
    assert made().all == (endpoint,)
    assert made().get("GROQ") == endpoint


def test_each_has_a_name_of_its_own(made):
    endpoints = made()
    names = [endpoints.add(f"10.0.0.{number}:11434").id for number in (1, 2, 3)]
    assert names == ["ollama", "ollama-2", "ollama-3"]
    assert endpoints.add("box.lan", title="Große \x1b Kiste!").id == "grosse-kiste"


def test_what_is_here_already_is_not_added_again(made):
    endpoints = made()
    endpoints.add("localhost:11434/v1")
    assert code_of(endpoints.add, "http://localhost:11434") == "endpoint.known"
    endpoints.add("localhost:2", title="other")
    assert code_of(endpoints.change, "other", address="http://localhost:11434/v1") == "endpoint.known"
    assert endpoints.change("other", address="http://localhost:2/v1").id == "other"


def test_an_unknown_preset_or_name(made):
    assert code_of(made().add, "localhost:1", preset="nope") == "endpoint.preset"
    assert code_of(made().get, "nope") == "endpoint.unknown"


def test_a_key_does_not_go_over_http_to_the_internet_unless_that_was_agreed_to(made):
    endpoints = made()
    assert code_of(endpoints.add, "http://api.example.com", key="k") == "endpoint.plain_key"
    assert endpoints.all == ()
    endpoints.add("http://api.example.com")
    assert code_of(endpoints.use_key, "api-example-com", "k") == "endpoint.plain_key"
    assert endpoints.use_key("api-example-com", "k", plain_key=True).keyed
    assert endpoints.add("http://10.0.0.1:8000", key="k").unprotected


def test_a_key_is_for_the_server_that_it_was_given_for(made):
    endpoints = made()
    endpoints.add("https://api.example.com", key="k", title="one")
    assert endpoints.change("one", base_path="/v2").keyed
    moved = endpoints.change("one", address="https://other.example.com")
    assert (moved.keyed, moved.id) == (False, "one")
    assert made().attach(model_at(made, "one")).way.key == ""


def model_at(made, name):
    return models_of(made().get(name), [Listed("m")])[0]


def test_another_preset_brings_its_own_base_path_unless_one_was_given(made):
    endpoints = made()
    endpoints.add("localhost:8000", title="one")
    assert endpoints.change("one", preset="ovms").base_path == "/v3"
    endpoints.change("one", base_path="/mine")
    assert endpoints.change("one", preset="vllm").base_path == "/mine"


def test_a_key_shows_nowhere(made, tmp_path, database):
    endpoints = made()
    endpoints.add("https://api.example.com", key="SECRET", title="one")
    attached = endpoints.attach(model_at(made, "one"))
    assert attached.way.key == "SECRET"
    kept = json.dumps([list(row) for row in database.rows("SELECT * FROM endpoints")])
    assert "SECRET" not in f"{kept}{endpoints.all}{attached}"


def test_what_is_forgotten_is_gone_with_its_key(made, tmp_path):
    endpoints = made()
    endpoints.add("https://api.example.com", key="k", title="one")
    model = model_at(made, "one")
    endpoints.remove("one")
    assert (endpoints.all, list((tmp_path / "config").iterdir())) == ((), [])
    assert code_of(endpoints.attach, model) == "endpoint.unknown"


def test_nobody_is_asked_until_it_is_wanted_and_then_it_is_written_down(made):
    log = NetworkLog()
    with EndpointServer({"/v1/models": listing("a", "b", max_model_len=7)}) as server:
        endpoints = made(log=log)
        endpoint = endpoints.add(server.url, title="box")
        assert (endpoints.models(), endpoints.reached(endpoint.id), made().models()) == ((), None, ())
        assert server.asked == []
        reached = endpoints.reach(endpoint.id)
    assert reached.reachable and reached.ms > 0
    assert server.paths == ["/v1/models"]
    (line,) = log.requests
    assert (line.purpose, line.method, line.status) == ("endpoint", "GET", 200)
    assert line.host == f"127.0.0.1:{server.port}"
    assert [model.id for model in endpoints.models()] == ["a@box", "b@box"]


def test_models_stay_listed_at_the_next_start_and_while_their_server_is_away(made):
    with EndpointServer({"/v1/models": listing("a", max_model_len=7)}) as server:
        endpoints = made()
        endpoints.add(server.url, title="box")
        endpoints.reach("box")
    assert made().reached("box").reachable
    away = endpoints.reach("box")
    assert away.cause.code == "endpoint.refused"
    assert made().reached("box").cause == away.cause
    (model,) = made().models()
    assert (model.id, model.format, model.source, model.size_bytes, model.parts) == ("a@box", ENDPOINT, ENDPOINT, 0, ())
    assert (model.remote.name, model.remote.context, model.remote.reach) == ("a", 7, Reach.HERE)
    assert not model.leaves and not model.path.exists() and not model.path.parent.exists()


def test_a_model_that_is_sent_on_leaves_though_its_server_does_not(made):
    listed = {"data": [{"id": "x@groq", "leaves_computer": True}, {"id": "y"}]}
    with EndpointServer({"/v1/models": listed}) as server:
        endpoints = made()
        endpoints.add(server.url, title="box")
        endpoints.reach("box")
    assert [model.leaves for model in endpoints.models()] == [True, False]
    assert [endpoints.attach(model).way.leaves for model in endpoints.models()] == [True, False]


def test_offline_nothing_leaves_this_computer_but_what_stays_is_asked(made):
    log = NetworkLog()
    endpoints = made(offline=True, log=log)
    endpoints.add("https://api.example.com", title="far")
    assert code_of(endpoints.reach, "far") == "endpoint.offline"
    assert log.requests == ()
    with EndpointServer({"/v1/models": listing("a")}) as server:
        endpoints.add(server.url, title="near")
        assert endpoints.reach("near").reachable


@pytest.fixture
def other(made, tmp_path, database):
    """Those of another process."""
    with closing(Database(tmp_path / "data.sqlite3")) as beside:
        yield made(database=beside)


def test_what_another_process_changes_is_noticed_when_somebody_looks(made, other):
    endpoints, heard = made(), []
    leave = endpoints.subscribe(lambda: heard.append(len(endpoints.all)))
    endpoints.add("localhost:1")
    other.refresh()
    far = other.add("localhost:2", title="far", key="one")
    endpoints.refresh()
    endpoints.refresh()
    (model,) = models_of(far, [Listed("m")])
    assert endpoints.attach(model).way.key == "one"
    other.use_key("far", "two")
    assert endpoints.attach(model).way.key == "two"
    other.remove("far")
    assert code_of(endpoints.attach, model) == "endpoint.unknown"
    leave()
    endpoints.remove(endpoints.all[0].id)
    assert heard == [1, 2, 2, 1]


def test_other_changes_of_the_file_are_none_of_endpoints(made, other):
    endpoints, heard = made(), []
    endpoints.subscribe(lambda: heard.append(1))
    assert other.house == endpoints.house != ""
    with other._database.transaction() as connection:
        connection.execute("INSERT INTO remembered VALUES ('x', '1')")
    endpoints.refresh()
    other._database.close()
    other.refresh()  # what is known stays where the file cannot be read
    assert heard == []


def test_a_library_lists_what_is_there_now(made, other):
    endpoints = made()
    library = Library([], elsewhere=endpoints.models)
    endpoints.subscribe(library.relist)
    current = Current(library, endpoints)
    assert current.models == ()
    with EndpointServer({"/v1/models": listing("a")}) as server:
        other.add(server.url, title="box")
        other.reach("box")
    assert [model.id for model in current.models] == ["a@box"]
    other.remove("box")
    assert code_of(current.resolve, "a@box") == "model.none"
