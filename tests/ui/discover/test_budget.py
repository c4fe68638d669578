"""What it costs to open a base model at the page: calls that the Hub counts."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from tests.hub.looking_repos import add_base, api_calls
from tests.ui.discover import made_hub

KEY = "qwen/qwen3-8b"


@pytest.fixture
def fake(fake):
    """Beside the others, a base model in four repositories of four formats that hold twelve branches in all."""
    for name in [name for name in fake.repos if "8B" in name]:
        fake.remove(name)
    for name in add_base(fake):
        repo = fake.repos[name]
        repo.model_tags = (
            *repo.model_tags,
            f"base_model:Qwen/{made_hub.EIGHT.name}",
            f"base_model:quantized:Qwen/{made_hub.EIGHT.name}",
        )
        repo.facts |= {"pipeline_tag": "text-generation"}
    return fake


def test_a_base_model_of_four_repositories_and_twelve_branches(qtbot, page, fake):
    assert sum(len(repo.branches) for repo in fake.repos.values() if "8B" in repo.id) == 12
    qtbot.waitUntil(lambda: KEY in {row.key for row in page.list.rows} and not page.discovery.looks.now)
    fake.requests.clear()
    page.filters.search.setText("qwen3-8b")
    QTest.keyClick(page.filters.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: [row.key for row in page.list.rows] == [KEY])
    page.list.choose(KEY)
    page.list.entered.emit()
    table = page.pane.table

    def all_seen():
        table.scrollToBottom()
        return page.discovery.is_all(KEY)

    qtbot.waitUntil(all_seen)
    qtbot.waitUntil(lambda: not page.discovery.looks.now)
    formats = {row.offer.variant.format for row in page.discovery.rows(KEY)}
    assert formats == {"gguf", "mlx", "exl2", "exl3"}
    assert len(page.discovery.rows(KEY)) == 40 + 1 + 4 + 4
    assert len(api_calls(fake)) <= 25
    assert len([path for path in api_calls(fake) if path.startswith("/api/models?")]) == 2  # of the words, of the base
    page.discovery.stop()
