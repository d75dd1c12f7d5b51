"""What an upload says: its context as it is stored, and its digest."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from formats.context import Context, read_context
from ingest.bodies import FileEntry
from ingest.receiving import digest_of, settle_context, stored_context

WORD = st.text("abcXYZ 09é", min_size=1, max_size=8)
COMMIT = st.text("0123456789abcdef", min_size=7, max_size=40)
MOMENT = st.datetimes().map(lambda moment: moment.isoformat(timespec="seconds") + "Z")
CONTEXT = st.fixed_dictionaries(
    {},
    optional={
        "project": st.just("acme/app"),
        "run": WORD,
        "job": WORD,
        "attempt": st.integers(1, 9),
        "shard": st.integers(1, 9).map(lambda n: {"index": n, "count": 9}),
        "environment": st.dictionaries(WORD, WORD | st.integers() | st.booleans()),
        "commit": COMMIT,
        "head_sha": COMMIT,
        "ancestry": st.lists(COMMIT, max_size=3),
        "committed_at": MOMENT,
        "started_at": MOMENT,
        "pr": st.integers(1, 999),
        "ci_url": st.just("https://ci.example/7"),
        "exit_code": st.integers(-5, 5),
        "complete": st.booleans(),
        "test": WORD,
        "protocol": st.just(1),
    },
)


def entry(kind: str, name: str, sha256: str, n: int = 1) -> FileEntry:
    return {"n": n, "kind": kind, "name": name, "size": 1, "sha256": sha256}


@given(CONTEXT)
def test_a_stored_context_reads_back_to_the_same_value(sent: dict[str, Any]):
    context = read_context(json.dumps(sent).encode())
    stored = json.dumps(stored_context(context))
    assert read_context(stored.encode()) == context


@given(CONTEXT)
def test_defaults_and_the_order_of_keys_are_not_in_the_digest(sent: dict[str, Any]):
    backwards = dict(reversed(sent.items()))
    said = sent | {"test": sent.get("test"), "attempt": sent.get("attempt", 1)}
    digests = {
        digest_of(settle_context(json.dumps(each).encode(), slug="acme/app"), [])
        for each in (sent, backwards, said, sent | {"project": "acme/app"})
    }
    assert len(digests) == 1


def test_the_order_of_files_is_not_in_the_digest_but_all_else_is():
    one, two = entry("junit", "a", "1"), entry("order", "b", "2")
    context = Context(run="r")
    digest = digest_of(context, [one, two])
    assert digest_of(context, [two | {"n": 7}, one]) == digest
    others = [
        digest_of(Context(run="s"), [one, two]),
        digest_of(context, [one]),
        digest_of(context, [one, two, two]),
        digest_of(context, [one, entry("order", "b", "3")]),
        digest_of(context, [one, entry("order", "c", "2")]),
        digest_of(context, [one, entry("gate", "b", "2")]),
        digest_of(context, [entry("junit", "b", "1"), entry("order", "a", "2")]),
    ]
    assert len({digest, *others}) == len(others) + 1


def test_without_a_context_the_project_is_that_of_the_sender():
    assert settle_context(None, slug="acme/app") == Context(project="acme/app")
    assert settle_context(b"{}", slug="acme/app") == Context(project="acme/app")
    sent = settle_context(b'{"project": "other/app"}', slug="acme/app")
    assert sent.project == "other/app"
