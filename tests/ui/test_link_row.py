"""Links are opened only after their address was shown, and only of known kinds."""

import pytest
from PySide6.QtGui import QDesktopServices

from weighbridge.ui.widgets.link_row import LinkRow, may_open


@pytest.mark.parametrize("address", ["https://example.org/a?b=1", "http://127.0.0.1:9/", "mailto:a@example.org"])
def test_may_open(address):
    assert may_open(address)


@pytest.mark.parametrize(
    "address", ["javascript:1", "file:///etc/passwd", "//host/share/x", "data:text/html,x", "https:", "ssh://a", ""]
)
def test_may_not_open(address):
    assert not may_open(address)


def test_the_address_is_shown_before_it_is_opened(qtbot, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    row = LinkRow()
    qtbot.addWidget(row)
    row.ask("https://example.org/long/path")
    assert row._shown.text().replace("\u200b", "") == "https://example.org/long/path"
    assert opened == []
    row.open()
    assert opened == ["https://example.org/long/path"]
    row.ask("javascript:1")
    assert row._open.isHidden()
    row.open()
    assert len(opened) == 1
