"""The table of endpoints in the database, with what each was last seen to serve."""

from __future__ import annotations

import json
import secrets
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from weighbridge.base.database import Database
from weighbridge.formats.architectures import Kind
from weighbridge.running.endpoints.endpoint import Endpoint, Listed, Reached
from weighbridge_engines.api import Cause

_HOUSE = "house"


@dataclass(frozen=True)
class Kept:
    """An endpoint, what came of asking it last (None: it never was), and the models that it listed last."""

    endpoint: Endpoint
    reached: Reached | None = None
    models: tuple[Listed, ...] = ()


def rows(database: Database) -> list[sqlite3.Row]:
    """A row for each, the oldest first. Raises BadFile("database.failed")."""
    return database.rows("SELECT * FROM endpoints ORDER BY place")


def house_of(database: Database) -> str:
    """The mark of this data folder, by which its port is known from others'. Raises BadFile("database.failed")."""
    with database.transaction() as connection:
        made = json.dumps(secrets.token_hex(8))
        connection.execute("INSERT OR IGNORE INTO remembered VALUES (?, ?)", (_HOUSE, made))
        (kept,) = connection.execute("SELECT value FROM remembered WHERE name = ?", (_HOUSE,)).fetchone()
    return str(json.loads(kept))


def write(database: Database, endpoint: Endpoint) -> None:
    """Put `endpoint` in the place of the one with its id, or at the end."""
    values = (
        endpoint.title,
        endpoint.origin,
        endpoint.base_path,
        endpoint.preset_id,
        endpoint.key_number,
        endpoint.plain_key,
        endpoint.id,
    )
    with database.transaction() as connection:
        changed = connection.execute(
            "UPDATE endpoints SET title = ?, origin = ?, base_path = ?, preset = ?, keyed = ?, plain_key = ?"
            " WHERE id = ?",
            values,
        )
        if not changed.rowcount:
            connection.execute(
                "INSERT INTO endpoints (title, origin, base_path, preset, keyed, plain_key, id)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                values,
            )


def write_reached(database: Database, endpoint_id: str, reached: Reached) -> None:
    """Keep what came of asking it; the models that it listed before stay where it gave no list."""
    with database.transaction() as connection:
        connection.execute("UPDATE endpoints SET reached = ? WHERE id = ?", (_reached_as_json(reached), endpoint_id))
        if reached.reachable:
            listed = json.dumps([_listed_as_json(each) for each in reached.models])
            connection.execute("UPDATE endpoints SET listed = ? WHERE id = ?", (listed, endpoint_id))


def forget_listed(database: Database, endpoint_id: str) -> None:
    """It is another server now."""
    with database.transaction() as connection:
        connection.execute("UPDATE endpoints SET reached = NULL, listed = '[]' WHERE id = ?", (endpoint_id,))


def delete(database: Database, endpoint_id: str) -> None:
    """Keep nothing of it any more."""
    with database.transaction() as connection:
        connection.execute("DELETE FROM endpoints WHERE id = ?", (endpoint_id,))


def kept(row: sqlite3.Row) -> Kept:
    """What a row says."""
    endpoint = Endpoint(
        id=str(row["id"]),
        title=str(row["title"]),
        origin=str(row["origin"]),
        base_path=str(row["base_path"]),
        preset_id=str(row["preset"]),
        key_number=int(row["keyed"]),  # keys had no numbers at first: then it is 1
        plain_key=bool(row["plain_key"]),
    )
    models = tuple(_listed(each) for each in json.loads(row["listed"]))
    return Kept(endpoint, _reached(row["reached"], models), models)


def _reached_as_json(reached: Reached) -> str:
    cause = reached.cause
    told = {
        "at_s": reached.at_s,
        "ms": reached.ms,
        "found_path": reached.found_path,
        "left_out": reached.left_out,
        "beyond": reached.beyond,
        "cause": None if cause is None else {"code": cause.code, "values": dict(cause.values)},
    }
    return json.dumps(told, default=str)


def _reached(kept: str | None, models: tuple[Listed, ...]) -> Reached | None:
    if kept is None:
        return None
    told: dict[str, Any] = json.loads(kept)
    cause = told.pop("cause")
    if cause is not None:
        return Reached(**told, cause=Cause(cause["code"], cause["values"]))
    return Reached(**told, models=models)


def _listed_as_json(listed: Listed) -> list[Any]:
    return [listed.name, listed.context, listed.kind, listed.sent_on, listed.sees]


def _listed(kept: list[Any]) -> Listed:
    name, context, kind, sent_on, *rest = kept  # whether it takes pictures was not kept at first
    known: Kind | None = None
    with suppress(ValueError):
        known = None if kind is None else Kind(kind)
    return Listed(str(name), context, known, bool(sent_on), rest[0] if rest else None)
