"""Empty databases on the running servers."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import redis
from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def fresh(server: str) -> Iterator[str]:
    """Yield the address of a new database of the server, and drop it at the end."""
    name = f"t_{secrets.token_hex(6)}"
    _run(server, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield f"{server.rpartition('/')[0]}/{name}"
    drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
    _run(server, drop)


def emptied(address: str) -> str:
    with redis.Redis.from_url(address) as client:
        client.flushdb()
    return address


def _run(server: str, statement: sql.Composed) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement)
