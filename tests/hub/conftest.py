"""huggingface_hub as it comes, for tests that ask by it: its one session may be the program's since an earlier test."""

import sys

import httpx2
import pytest


@pytest.fixture(autouse=True)
def plain_session(monkeypatch):
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    if "huggingface_hub" in sys.modules:
        from huggingface_hub import set_client_factory

        set_client_factory(lambda: httpx2.Client(follow_redirects=True))
