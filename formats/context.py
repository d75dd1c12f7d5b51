"""The `context` part of an upload: what CI says about the run.

Guarantees: a `Context` is whole and valid, or `read_context` raised a `ContextError`
that names the field and carries the HTTP status (400 unreadable, 422 readable but
wrong). Two contexts that mean the same have the same `canonical()` bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from datetime import UTC
from typing import TYPE_CHECKING, Any, NoReturn

from formats import context_fields as fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from formats.context_fields import Json

PROTOCOL = 1
MAX_CONTEXT_BYTES = 1024 * 1024
MAX_ANCESTRY = 2_000
MAX_ENVIRONMENT = 50
MAX_SHARDS = 10_000

_PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_HEX_PREFIX = re.compile(r"[0-9a-fA-F]{7,64}")


class ContextError(Exception):
    """The context is unreadable (400) or wrong (422); `field` says where."""

    def __init__(self, field: str, message: str, *, malformed: bool = False) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
        self.malformed = malformed

    @property
    def status(self) -> int:
        return 400 if self.malformed else 422


class ProtocolError(ContextError):
    """The client speaks a protocol that this server does not speak."""

    def __init__(self, sent: int) -> None:
        cure = (
            "Upgrade the client: pip install --upgrade healthboard-client"
            if sent < PROTOCOL
            else "Upgrade the server, or install the client that fits it: "
            "pip install --upgrade 'healthboard-client<2'"
        )
        message = (
            f"the client sent protocol {sent}, this server speaks protocol "
            f"{PROTOCOL}. {cure}"
        )
        super().__init__("protocol", message, malformed=True)


@dataclass(frozen=True, slots=True)
class Shard:
    index: int = 1
    count: int = 1


@dataclass(frozen=True, slots=True)
class Context:
    """Every field of `ingest-api.md`; empty or None where the sender said nothing."""

    project: str = ""
    run: str = ""
    attempt: int = 1
    job: str = ""
    shard: Shard = Shard()
    environment: Mapping[str, str] = field(default_factory=dict)
    branch: str = ""
    commit: str = ""
    head_sha: str = ""
    base_sha: str = ""
    committed_at: datetime | None = None
    started_at: datetime | None = None
    pr: int | None = None
    base_branch: str = ""
    merge_base: str = ""
    ancestry: tuple[str, ...] = ()
    ci_url: str = ""
    exit_code: int | None = None
    complete: bool = True
    test: str = ""
    client: str = ""
    protocol: int = PROTOCOL

    @property
    def head(self) -> str:
        """The head of what was tested: `head_sha`, by default `commit`."""
        return self.head_sha or self.commit

    @property
    def environment_key(self) -> str:
        """Equal for equal environments, whatever the order of their keys."""
        pairs = json.dumps(sorted(self.environment.items()), ensure_ascii=True)
        return hashlib.blake2b(pairs.encode(), digest_size=16).hexdigest()

    def canonical(self) -> bytes:
        """One spelling of this context: defaults filled in, keys sorted, times UTC."""
        values = asdict(self)
        for name in ("committed_at", "started_at"):
            stamp = values[name]
            values[name] = stamp.astimezone(UTC).isoformat() if stamp else None
        said = {key: value for key, value in values.items() if value not in (None, "")}
        return json.dumps(
            said, sort_keys=True, separators=(",", ":"), ensure_ascii=True
        ).encode()


def read_context(raw: bytes) -> Context:
    """Read and check the context part; raise `ContextError` for anything else."""
    document = _parse(raw)
    try:
        _check_protocol(document)
        for key in document:
            if key not in _READERS:
                raise fields.FieldError(fields.shown(key), "unknown key")
        return _build({k: v for k, v in document.items() if v is not None})
    except fields.FieldError as error:
        raise ContextError(error.field, error.message) from error


def matches_commit(known: str, asked: str) -> bool:
    """Tell whether `asked` names `known`: equal, or a prefix of 7+ hex digits."""
    if known == asked:
        return True
    return bool(_HEX_PREFIX.fullmatch(asked)) and known.lower().startswith(
        asked.lower()
    )


def _parse(raw: bytes) -> dict[str, Json]:
    if len(raw) > MAX_CONTEXT_BYTES:
        raise ContextError("context", f"longer than {MAX_CONTEXT_BYTES} bytes")
    try:
        document = json.loads(
            raw.decode("utf-8-sig"),
            object_pairs_hook=_unique,
            parse_float=fields.Number,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError as error:
        message = f"not UTF-8 at byte {error.start}"
        raise ContextError("context", message, malformed=True) from error
    except RecursionError as error:
        raise ContextError("context", "nested too deeply", malformed=True) from error
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise ContextError("context", message, malformed=True) from error
    except ValueError as error:  # a number with thousands of digits
        raise ContextError("context", f"not JSON: {error}", malformed=True) from error
    if not isinstance(document, dict):
        raise ContextError("context", "must be a JSON object")
    return document


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    seen: dict[str, Json] = {}
    for key, value in pairs:
        if key in seen:
            raise ContextError(fields.shown(key), "given twice", malformed=True)
        seen[key] = value
    return seen


def _refuse_constant(name: str) -> NoReturn:
    raise ContextError("context", f"not JSON: {name}", malformed=True)


def _check_protocol(document: dict[str, Json]) -> None:
    """Before any other check: another protocol may have other keys."""
    sent = document.get("protocol")
    if sent is None:
        return
    version = fields.integer("protocol", sent, least=0, most=1_000_000)
    if version != PROTOCOL:
        raise ProtocolError(version)


def _build(sent: dict[str, Json]) -> Context:
    # Any: each reader returns the type of the field it stands for.
    values: dict[str, Any] = {
        name: _READERS[name](name, value) for name, value in sent.items()
    }
    return Context(**values)


def _positive(field: str, value: Json) -> int:
    return fields.integer(field, value, least=1)


def _exit_code(field: str, value: Json) -> int:
    """Windows gives 32 bits without a sign: 3221225477 is -1073741819 (a crash)."""
    code = fields.integer(field, value, least=-(2**31), most=2**32 - 1)
    return code - 2**32 if code >= 2**31 else code


def _project(field: str, value: Json) -> str:
    name = fields.text(field, value, most=200)
    if not _PROJECT.fullmatch(name):
        raise fields.FieldError(field, "must be owner/name")
    return name


def _shard(field: str, value: Json) -> Shard:
    if not isinstance(value, dict):
        raise fields.FieldError(field, 'must be {"index": …, "count": …}')
    for key in value:
        if key not in ("index", "count"):
            raise fields.FieldError(f"{field}.{fields.shown(key)}", "unknown key")
    for key in ("index", "count"):
        if value.get(key) is None:
            raise fields.FieldError(f"{field}.{key}", "missing")
    count = fields.integer(f"{field}.count", value["count"], least=1, most=MAX_SHARDS)
    index = fields.integer(f"{field}.index", value["index"], least=1, most=MAX_SHARDS)
    if index > count:
        raise fields.FieldError(f"{field}.index", f"must be 1 to {count}, is {index}")
    return Shard(index=index, count=count)


def _environment(field: str, value: Json) -> dict[str, str]:
    if not isinstance(value, dict):
        raise fields.FieldError(field, "must be an object of texts")
    if len(value) > MAX_ENVIRONMENT:
        raise fields.FieldError(field, f"more than {MAX_ENVIRONMENT} entries")
    environment = {}
    for key in sorted(value):
        place = f"{field}.{fields.shown(key)}"
        name = fields.text(place, key, most=100)
        environment[name] = fields.scalar(place, value[key])
    return environment


def _ancestry(field: str, value: Json) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise fields.FieldError(field, "must be a list of commits")
    if len(value) > MAX_ANCESTRY:
        raise fields.FieldError(field, f"more than {MAX_ANCESTRY} commits")
    return tuple(fields.commit(f"{field}[{i}]", c) for i, c in enumerate(value))


_READERS: dict[str, Callable[[str, Json], object]] = {
    "project": _project,
    "run": fields.text,
    "attempt": _positive,
    "job": fields.text,
    "shard": _shard,
    "environment": _environment,
    "branch": fields.text,
    "commit": fields.commit,
    "head_sha": fields.commit,
    "base_sha": fields.commit,
    "committed_at": fields.stamp,
    "started_at": fields.stamp,
    "pr": _positive,
    "base_branch": fields.text,
    "merge_base": fields.commit,
    "ancestry": _ancestry,
    "ci_url": fields.web_address,
    "exit_code": _exit_code,
    "complete": fields.boolean,
    "test": fields.text,
    "client": fields.text,
    "protocol": _positive,
}
