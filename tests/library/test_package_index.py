import sys

import pytest

from weighbridge.library.package_index import index_settings

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pip keeps its files elsewhere")


@pytest.fixture
def environment(tmp_path):
    """An empty home, and no files of the whole system but those made here."""
    return {"HOME": str(tmp_path / "home"), "XDG_CONFIG_DIRS": str(tmp_path / "system")}


@pytest.fixture(autouse=True)
def no_files_of_this_machine(monkeypatch):
    from weighbridge.library import package_index

    read = package_index._read
    monkeypatch.setattr(package_index, "_read", lambda file: {} if str(file) == "/etc/pip.conf" else read(file))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def told(environment):
    return {k: v for k, v in index_settings(environment).environment.items() if k.startswith(("UV_", "SSL_"))}


def test_nothing_set_tells_nothing(environment):
    assert told(environment) == {}


def test_pip_s_environment(environment):
    environment |= {
        "PIP_INDEX_URL": "https://a/simple",
        "PIP_EXTRA_INDEX_URL": "https://b/simple https://c/simple",
        "PIP_FIND_LINKS": "/x /y",
        "PIP_TRUSTED_HOST": "a",
        "PIP_CERT": "/ca.pem",
    }
    assert told(environment) == {
        "UV_DEFAULT_INDEX": "https://a/simple",
        "UV_INDEX": "https://b/simple https://c/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/x,/y",
        "UV_INSECURE_HOST": "a",
        "SSL_CERT_FILE": "/ca.pem",
    }


def test_the_user_s_file_beats_the_system_s_and_the_environment_beats_both(environment, tmp_path):
    write(tmp_path / "system/pip/pip.conf", "[global]\nindex-url = https://system\ncert = /system.pem\n")
    write(tmp_path / "home/.config/pip/pip.conf", "[install]\nindex_url = https://user\nfind-links =\n  /x\n  /y\n")
    assert told(environment) == {
        "UV_DEFAULT_INDEX": "https://user",
        "UV_FIND_LINKS": "/x,/y",
        "SSL_CERT_FILE": "/system.pem",
    }
    assert told({**environment, "PIP_INDEX_URL": "https://told"})["UV_DEFAULT_INDEX"] == "https://told"


@pytest.mark.parametrize("name", ["UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_FIND_LINKS"])
def test_what_uv_is_told_itself_stands(environment, name):
    environment |= {name: "x", "PIP_INDEX_URL": "https://pip", "PIP_CERT": "/ca.pem"}
    assert told(environment) == {name: "x", "SSL_CERT_FILE": "/ca.pem"}


def test_no_index_is_an_argument(environment):
    assert index_settings(environment).arguments == ()
    assert index_settings({**environment, "PIP_NO_INDEX": "true"}).arguments == ("--no-index",)
    assert index_settings({**environment, "PIP_NO_INDEX": "0"}).arguments == ()
    assert index_settings({**environment, "PIP_NO_INDEX": "1", "UV_INDEX": "x"}).arguments == ()


def test_a_certificate_that_is_set_stands(environment):
    environment |= {"SSL_CERT_FILE": "/mine.pem", "PIP_CERT": "/ca.pem"}
    assert told(environment) == {"SSL_CERT_FILE": "/mine.pem"}


def test_a_named_file_comes_last_and_the_null_device_means_none(environment, tmp_path):
    write(tmp_path / "home/.config/pip/pip.conf", "[global]\nindex-url = https://user\n")
    write(tmp_path / "named.conf", "[global]\nindex-url = https://named\n")
    assert told({**environment, "PIP_CONFIG_FILE": str(tmp_path / "named.conf")}) == {
        "UV_DEFAULT_INDEX": "https://named"
    }
    assert told({**environment, "PIP_CONFIG_FILE": "/dev/null"}) == {}


def test_a_damaged_file_is_passed_over(environment, tmp_path):
    write(tmp_path / "home/.config/pip/pip.conf", "index-url = https://user\n%%%")
    assert told(environment) == {}
