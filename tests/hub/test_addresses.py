"""Which addresses may be asked."""

import pytest

from weighbridge.base.errors import Refused
from weighbridge.hub.addresses import Origin, endpoint_of, names_loopback, origin_of, require_allowed, require_number

HUB = Origin("https", "huggingface.co", 443)
LOCAL = Origin("http", "127.0.0.1", 8000)
OFFICE = Origin("https", "10.1.2.3", 443)


def refused(call, *arguments):
    with pytest.raises(Refused) as caught:
        call(*arguments)
    assert caught.value.code == "hub.address"
    return caught.value.values


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://huggingface.co", HUB),
        ("https://HuggingFace.co./a/b?c=d#e", HUB),
        ("https://huggingface.co:443/", HUB),
        ("http://127.0.0.1:8000/x", LOCAL),
        ("https://[::1]:8443/", Origin("https", "::1", 8443)),
        ("https://münchen.example/", Origin("https", "xn--mnchen-3ya.example", 443)),
    ],
)
def test_scheme_host_and_port(address, origin):
    assert origin_of(address) == origin


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("ftp://huggingface.co/", "ftp:"),
        ("file:///etc/passwd", "file:"),
        ("javascript:alert(1)", "javascript:"),
        ("//huggingface.co/", ":"),
        ("https:///x", "https:"),
        ("https://me:pw@huggingface.co/", "@"),
        ("https://huggingface.co@127.0.0.1/", "@"),
    ],
)
def test_what_is_no_address_to_ask(address, reason):
    assert refused(origin_of, address)["reason"] == reason


def test_the_secret_in_an_address_is_not_told():
    values = refused(origin_of, "https://me:hunter2@huggingface.co/")
    assert "hunter2" not in str(values)


@pytest.mark.parametrize("address", ["https://huggingface.co:99999/", "https://[::1/", "https://a b/"])
def test_what_cannot_be_read(address):
    refused(origin_of, address)


@pytest.mark.parametrize(
    "address", ["https://mirror.example", "http://127.0.0.1:1", "http://localhost", "http://[::1]"]
)
def test_endpoints(address):
    assert str(endpoint_of(address)) == address


@pytest.mark.parametrize("address", ["http://huggingface.co", "http://10.0.0.1", "http://127.0.0.1.example.com"])
def test_the_endpoint_is_not_asked_in_clear(address):
    assert refused(endpoint_of, address)["reason"] == "http:"


@pytest.mark.parametrize(
    "address",
    [
        "http://cdn.example/",
        "http://127.0.0.1/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://x.localhost/",
        "https://169.254.169.254/latest/meta-data",
        "https://10.0.0.1/",
        "https://172.16.0.1/",
        "https://192.168.1.1/",
        "https://100.100.100.200/",
        "https://0.0.0.0/",
        "https://224.0.0.1/",
        "https://[::]/",
        "https://[::1]/",
        "https://[fe80::1]/",
        "https://[fc00::1]/",
        "https://[ff02::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://[2002:7f00:1::]/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://127.1/",
    ],
)
def test_the_hub_must_not_lead_there(address):
    refused(require_allowed, origin_of(address), HUB)


@pytest.mark.parametrize(
    "address", ["https://cdn.example/", "https://3.160.1.2/", "https://[2600:9000::1]/", "https://cas-1.example:8443/"]
)
def test_the_hub_may_lead_there(address):
    require_allowed(origin_of(address), HUB)


def test_a_hub_on_loopback_may_lead_to_loopback():
    require_allowed(Origin("http", "127.0.0.1", 9000), LOCAL)
    require_allowed(Origin("https", "localhost", 9000), LOCAL)
    refused(require_allowed, Origin("http", "10.0.0.1", 80), LOCAL)
    refused(require_allowed, Origin("https", "10.0.0.1", 443), LOCAL)


def test_a_mirror_in_an_office_leads_to_itself_alone():
    require_allowed(OFFICE, OFFICE)
    refused(require_allowed, Origin("https", "10.1.2.3", 8443), OFFICE)
    refused(require_allowed, Origin("https", "10.1.2.4", 443), OFFICE)


@pytest.mark.parametrize(
    "number", ["127.0.0.1", "::1", "10.9.8.7", "169.254.169.254", "fe80::1%eth0", "::ffff:10.0.0.1"]
)
def test_a_name_that_leads_into_the_house(number):
    assert refused(require_number, "cdn.example", 443, number, HUB)["reason"] == number
    if number not in ("127.0.0.1", "::1"):
        refused(require_number, "cdn.example", 443, number, LOCAL)


def test_names_and_their_numbers():
    require_number("cdn.example", 443, "3.160.1.2", HUB)
    require_number("cdn.example", 443, "198.18.0.7", HUB)  # what a proxy on this machine answers for every name
    require_number("hub.office", 443, "10.0.0.1", Origin("https", "hub.office", 443))
    require_number("localhost", 8000, "127.0.0.1", Origin("http", "localhost", 8000))
    refused(require_number, "localhost", 8000, "93.184.216.34", Origin("http", "localhost", 8000))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost.example", False),
        ("128.0.0.1", False),
        ("127.0.0.1.example", False),
        ("", False),
    ],
)
def test_what_names_this_machine(host, loopback):
    assert names_loopback(host) is loopback
