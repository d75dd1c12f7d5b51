"""What a leak does to its run: error, report, and the ratchet with its baseline."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tests.client.suites import run, write

if TYPE_CHECKING:
    from collections.abc import Iterator

OLD = """
    import os, pytest
    def test_old(): os.environ["OLD"] = "1"
    @pytest.fixture(scope="module")
    def old(): os.environ["OLD_FIXTURE"] = "1"
    def test_uses(old): pass
"""
OLD_ENTRIES = [
    ("test_old.py::old (fixture)", "env.set"),
    ("test_old.py::test_old", "env.set"),
]
FIXED = """
    def test_old(): pass
    def test_uses(): pass
"""
NEW = """
    import os
    def test_new(): os.environ["NEW"] = "1"
"""


def _known(where) -> list[tuple[str, str]]:
    told = json.loads((where / "healthboard-baseline.json").read_text())
    assert told["schema"] == "healthboard.baseline/1"
    return [(one["test"], one["kind"]) for one in told["leaks"]]


def _ratchet(where, files, *arguments, **environ):
    write(where, files, gates="env", enforce="ratchet")
    return run(where, *arguments, plugins="xdist", **environ)


def test_report_is_the_default_and_fails_nothing(tmp_path):
    ran = run(write(tmp_path, {"test_old.py": OLD}, gates="env"))
    assert ran.code == 0
    assert ran.kinds("test_old") == ["env.set"]
    assert {leak["enforced"] for leak in ran.leaks} == {False}
    assert "reported: test_old.py::test_old set 1 environment variable" in ran.out


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["one", "xdist"])
def test_known_leaks_pass_and_new_ones_fail(tmp_path, workers):
    accepted = _ratchet(tmp_path, {"test_old.py": OLD}, "--healthboard-accept")
    assert accepted.code == 0
    assert "2 leak(s) accepted" in accepted.out
    assert _known(tmp_path) == OLD_ENTRIES
    ran = _ratchet(tmp_path, {"test_new.py": NEW}, *workers)
    assert ran.code == 1
    assert {leak["test"]: leak["enforced"] for leak in ran.leaks if leak["test"]} == {
        "test_new.py::test_new": True,
        "test_old.py::test_old": False,
    }
    assert "enforced: test_new.py::test_new" in ran.out
    assert "reported: test_old.py::test_old" in ran.out
    assert _known(tmp_path) == OLD_ENTRIES


def test_a_known_leaker_that_leaks_something_else_fails(tmp_path):
    _ratchet(tmp_path, {"test_old.py": OLD}, "--healthboard-accept")
    worse = OLD.replace('os.environ["OLD"] = "1"', 'os.environ.pop("HOME")')
    ran = _ratchet(tmp_path, {"test_old.py": worse}, HOME="x")
    assert ran.code == 1
    assert [leak["enforced"] for leak in ran.of("test_old")] == [True]


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["one", "xdist"])
def test_fixed_leaks_drop_out_by_themselves(tmp_path, workers):
    _ratchet(tmp_path, {"test_old.py": OLD}, "--healthboard-accept")
    ran = _ratchet(tmp_path, {"test_old.py": FIXED}, *workers)
    assert ran.code == 0
    assert "no longer leaks: test_old.py::test_old (env.set)" in ran.out
    assert "2 fixed leak(s) dropped out of healthboard-baseline.json" in ran.out
    assert _known(tmp_path) == []
    # From now on it may not come back.
    assert _ratchet(tmp_path, {"test_old.py": OLD}).code == 1


@pytest.mark.parametrize(
    ("files", "arguments"),
    [
        ({"test_old.py": FIXED}, ["-ktest_"]),
        ({"test_old.py": FIXED}, ["test_old.py::test_old"]),
        ({"test_old.py": FIXED}, ["-ohealthboard_gates=cwd"]),
        ({"test_old.py": "def test_old(): assert 0"}, []),
        ({"test_old.py": "import pytest\n@pytest.mark.skip\ndef test_old(): pass"}, []),
        ({"test_old.py": "", "test_other.py": "def test_other(): pass"}, []),
    ],
    ids=["selected", "by-name", "other-gate", "failed", "skipped", "not-there"],
)
def test_what_was_not_seen_clean_stays(tmp_path, files, arguments):
    _ratchet(tmp_path, {"test_old.py": OLD}, "--healthboard-accept")
    _ratchet(tmp_path, files, *arguments)
    assert _known(tmp_path) == OLD_ENTRIES


def test_a_missing_baseline_knows_no_leak(tmp_path):
    assert _ratchet(tmp_path, {"test_new.py": NEW}).code == 1
    assert not (tmp_path / "healthboard-baseline.json").exists()


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": "other/1", "leaks": []}', '{"leaks": [{}]}']
)
def test_a_bad_baseline_is_refused_before_the_first_test(tmp_path, text):
    (tmp_path / "healthboard-baseline.json").write_text(text)
    ran = _ratchet(tmp_path, {"test_new.py": NEW})
    assert ran.code == 4
    assert "healthboard-baseline.json is no baseline of leaks" in ran.out


@pytest.mark.parametrize(
    ("ini", "words"),
    [
        ({"gates": "sysmodules"}, "'sysmodules' is none of sys_modules, env"),
        ({"enforce": "always"}, "'always' is none of error, report, ratchet"),
    ],
)
def test_an_unknown_word_is_refused(tmp_path, ini, words):
    ran = run(write(tmp_path, {"test_new.py": NEW}, **ini))
    assert ran.code == 4
    assert words in ran.out


class _Leakers(BaseHTTPRequestHandler):
    """One page of leakers, for whoever brings the token."""

    def do_GET(self) -> None:
        known = self.headers["Authorization"] == "Bearer hb_token"
        items = [
            {"nodeid": "test_old.py::test_old", "kinds": ["env.set"], "state": "open"},
            {"nodeid": "test_new.py::test_new", "kinds": ["env.set"], "state": "fixed"},
        ]
        body = json.dumps({"items": items, "next": None}).encode()
        self.send_response(
            200 if known and "/projects/o/p/leakers" in self.path else 404
        )
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def leakers() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Leakers) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["one", "xdist"])
def test_the_server_s_leakers_are_known(tmp_path, leakers, workers):
    files = {"test_old.py": 'import os\ndef test_old(): os.environ["OLD"] = "1"'}
    write(
        tmp_path,
        {**files, "test_new.py": NEW},
        gates="env",
        enforce="ratchet",
        baseline="server",
    )
    ran = run(
        tmp_path,
        *workers,
        plugins="xdist",
        HEALTHBOARD_URL=leakers,
        HEALTHBOARD_TOKEN="hb_token",
        HEALTHBOARD_PROJECT="o/p",
    )
    assert ran.code == 1
    told = {leak["test"]: leak["enforced"] for leak in ran.leaks}
    assert told == {"test_old.py::test_old": False, "test_new.py::test_new": True}
    assert "hb_token" not in ran.out


def test_without_the_server_nothing_is_enforced(tmp_path):
    where = write(
        tmp_path,
        {"test_new.py": NEW},
        gates="env",
        enforce="ratchet",
        baseline="server",
    )
    ran = run(where)
    assert ran.code == 0
    assert "nothing is enforced: HEALTHBOARD_URL or HEALTHBOARD_TOKEN" in ran.out
    assert [leak["enforced"] for leak in ran.leaks] == [False]
