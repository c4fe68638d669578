"""What a search has found, as JSON. None is untold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from weighbridge.hub.allowance import Allowance
from weighbridge.hub.groups import groups
from weighbridge.hub.hits import Hit


def groups_as_json(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Each model with its repositories, in the Hub's order."""
    return [
        {
            "base": group.base,
            "title": group.title,
            "formats": group.formats,
            "parameters": group.parameters,
            "downloads": group.downloads,
            "changed": _moment(group.changed_s),
            "gated": group.gated,
            "repositories": [hit_as_json(hit) for hit in group.hits],
        }
        for group in groups(hits)
    ]


def hit_as_json(hit: Hit) -> dict[str, Any]:
    """One repository."""
    return {
        "repo_id": hit.id,
        "commit": hit.commit,
        "formats": hit.formats,
        "parameters": hit.parameters,
        "context_length": hit.context_length,
        "architecture": hit.architecture,
        "license": hit.license,
        "task": hit.task,
        "downloads": hit.downloads,
        "likes": hit.likes,
        "changed": _moment(hit.changed_s),
        "gated": hit.gated,
        "private": hit.private,
        "files": hit.files,
    }


def allowance_as_json(allowance: Allowance, left_s: float) -> dict[str, Any]:
    """How often the Hub may still be asked, and for how many seconds that holds."""
    return {"remaining": allowance.remaining, "limit": allowance.limit, "left_s": round(left_s)}


def _moment(moment_s: float | None) -> str | None:
    return None if moment_s is None else datetime.fromtimestamp(moment_s, UTC).isoformat(timespec="seconds")
