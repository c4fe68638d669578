from weighbridge.chat.adapters import with_adapters
from weighbridge_engines.api import Load

BODY = {"messages": []}


def test_each_request_says_which_adapters_act():
    load = Load("m", adapters=("/a", "/b"))
    assert with_adapters(BODY, load)["lora"] == [{"id": 0, "scale": 1.0}, {"id": 1, "scale": 1.0}]
    load = Load("m", adapters=("/a", "/b"), adapter_scales=(0.0, 0.5))
    assert with_adapters(BODY, load)["lora"] == [{"id": 0, "scale": 0.0}, {"id": 1, "scale": 0.5}]


def test_what_the_request_says_stays():
    load = Load("m", adapters=("/a",))
    assert with_adapters({"lora": []}, load) == {"lora": []}


def test_without_adapters_nothing_is_said():
    assert with_adapters(BODY, Load("m")) == BODY == with_adapters(BODY, None)
