"""The parts of an upload as people send them: names, kinds, contents, contexts."""

from __future__ import annotations

import gzip
import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from tests.outside import jsonl, junit
from tests.sending import PASSED, PATH, bearer

if TYPE_CHECKING:
    from tests.outside import Answer, Outside, Project

pytestmark = [pytest.mark.kill, pytest.mark.timeout(300)]

LINE = b"--boundary\r\n"
END = b"--boundary--\r\n"
TRACE = jsonl(
    [
        {
            "v": 1,
            "test": "tests/test_a.py::test_x",
            "worker": "gw0",
            "pid": 1,
            "position": 0,
            "outcome": "passed",
        }
    ]
)


@pytest.fixture(scope="module")
def project(running: Outside) -> Project:
    return running.project()


def part(head: bytes | str, content: bytes, *, more: str = "") -> bytes:
    raw = head.encode() if isinstance(head, str) else head
    said = b"Content-Disposition: form-data; " + raw + more.encode()
    return LINE + said + b"\r\n\r\n" + content + b"\r\n"


def context(**said: Any) -> bytes:
    told = {"run": uuid.uuid4().hex, **said}
    return part('name="context"', json.dumps(told).encode())


def post(project: Project, *parts: bytes, end: bytes = END) -> Answer:
    headers = {"Content-Type": "multipart/form-data; boundary=boundary"}
    headers |= bearer(project.token)
    return project.ask("POST", PATH, b"".join(parts) + end, headers)


@dataclass(frozen=True)
class Sent:
    """A file, and what must become of it."""

    label: str
    head: bytes | str
    content: bytes
    state: str = "processed"
    name: str = ""  # as it is shown
    warned: str = ""  # stands in a warning
    error: str = ""  # stands in the error
    line: int | None = None
    more: str = ""  # further headers of the part


FILES = [
    Sent("no name", 'name="junit"', PASSED, name="junit"),
    Sent("empty name", 'name="junit"; filename=""', PASSED, name="junit"),
    Sent("no quotes", "name=junit; filename=a.xml", PASSED, name="a.xml"),
    Sent("extended", "name=junit; filename*=utf-8''b%C3%A9.xml", PASSED, name="bé.xml"),
    Sent("UTF-8", 'name="junit"; filename="b 中 😀.xml"', PASSED, name="b 中 😀.xml"),
    Sent("right to left", 'name="junit"; filename="\u202eאב.xml"', PASSED),
    Sent("NUL", b'name="junit"; filename="a\0b.xml"', PASSED, name="a\ufffdb.xml"),
    Sent("tab", 'name="junit"; filename="a\tb.xml"', PASSED, name="a\ufffdb.xml"),
    Sent("up", 'name="junit"; filename="../../x.xml"', PASSED),
    Sent("typed", 'name="junit"; filename="a"', PASSED, more="\r\nContent-Type: x/y"),
    Sent("gz", 'name="junit"; filename="a.xml.gz"', gzip.compress(PASSED)),
    Sent("zst", 'name="junit"; filename="a.xml.zst"', zstandard.compress(PASSED)),
    Sent(
        "gz unsaid",
        'name="junit"; filename="a.xml"',
        gzip.compress(PASSED),
        warned="gzip",
    ),
    Sent(
        "cut gz",
        'name="junit"; filename="a.xml.gz"',
        gzip.compress(PASSED)[:-9],
        "rejected",
        error="damaged gzip",
    ),
    Sent(
        "cut zst",
        'name="junit"; filename="a.xml.zst"',
        zstandard.compress(PASSED * 99)[:-9],
        "rejected",
        error="zstd data is cut off",
    ),
    Sent(
        "two members",
        'name="junit"; filename="a.xml.gz"',
        gzip.compress(PASSED[:9]) + gzip.compress(PASSED[9:]),
    ),
    Sent("empty", 'name="junit"', b"", "rejected", error="file is empty"),
    Sent("blank", 'name="junit"', b" \n\t\n", "rejected", error="file is empty"),
    Sent("only a mark", 'name="junit"', b"\xef\xbb\xbf", "rejected", error="empty"),
    Sent("JSON", 'name="junit"', b'{"a": 1}', "rejected", error="XML", line=1),
    Sent("a page", 'name="junit"', b"<html/>", "rejected", error="<html>", line=1),
    Sent("cut", 'name="junit"', PASSED[:-4], "rejected", error="cut off", line=1),
    Sent("told: XML", 'name="auto"; filename="x"', PASSED),
    Sent(
        "told: packed XML", 'name="auto"; filename="x.zst"', zstandard.compress(PASSED)
    ),
    Sent("told: trace", 'name="auto"; filename="x"', TRACE),
    Sent("told: packed trace", 'name="auto"; filename="x.gz"', gzip.compress(TRACE)),
    Sent("told: empty", 'name="auto"', b"", "rejected", error="file is empty"),
    Sent(
        "told: nothing", 'name="auto"', b"\x89PNG", "rejected", error="cannot be told"
    ),
    Sent("empty trace", 'name="order"', b"", "rejected", error="empty"),
    Sent("blank trace", 'name="order"', b"\n\n", "rejected", error="empty"),
    Sent("empty log", 'name="reportlog"', b"", "rejected", error="empty"),
    Sent("torn trace", 'name="order"', TRACE + TRACE[:50], warned="middle of a line"),
    Sent("bad trace", 'name="order"', b"{\n" + TRACE, "rejected", error="JSON", line=1),
    Sent(
        "later trace",
        'name="order"',
        TRACE.replace(b"1,", b"2,", 1),
        "rejected",
        error="version 2",
    ),
]


@pytest.fixture(scope="module")
def sent(project: Project) -> dict[str, dict[str, Any]]:
    answers = {
        one.label: post(project, context(), part(one.head, one.content, more=one.more))
        for one in FILES
    }
    project.settle()
    for label, answer in answers.items():
        assert answer.status == 202, (label, answer.body)
    return {
        label: project.upload(answer.json["id"]) for label, answer in answers.items()
    }


@pytest.mark.parametrize("one", FILES, ids=lambda one: one.label)
def test_a_file_is_taken_or_refused_with_its_place(
    project: Project, sent: dict[str, dict[str, Any]], one: Sent
):
    upload = sent[one.label]
    assert upload["state"] == one.state, upload
    [file] = upload["files"]
    assert one.name in ("", file["name"])
    assert one.warned in " ".join(said["message"] for said in upload["warnings"])
    assert bool(one.warned) == bool(upload["warnings"])
    run = project.get(f"/api/v1/runs/{upload['run']}")
    if one.state == "rejected":
        assert one.error in upload["error"]["message"]
        assert upload["error"]["file"] == file["name"]
        assert one.line in (None, upload["error"]["line"])
        assert run["outcome"] == "damaged"
        assert run["counts"]["tests"] == 0
    else:
        assert run["outcome"] == "passed"
        assert run["reported"]["tests"] == run["counts"]["tests"] == 1
    path = f"{PATH}/{upload['id']}/files/1"
    assert project.ask("GET", path).body == one.content


WHOLE = part('name="junit"; filename="a.xml"', PASSED)
REFUSED = [
    ("two contexts", [context(), context(), WHOLE], 422, "context"),
    ("no file", [context()], 422, "file"),
    ("an unknown kind", [context(), part('name="file"', PASSED)], 422, "file"),
    ("a kind in capitals", [context(), part('name="JUnit"', PASSED)], 422, "JUnit"),
    ("a long name", [part(f'name="junit"; filename="{"x" * 999}"', b"")], 422, "junit"),
    ("a part without a name", [part('filename="a.xml"', PASSED)], 400, ""),
    ("a part without a header", [LINE + b"\r\n\r\nabc\r\n"], 400, ""),
    ("no JSON", [part('name="context"', b"run=1"), WHOLE], 400, "context"),
    ("an empty context", [part('name="context"', b""), WHOLE], 400, "context"),
    ("not UTF-8", [part('name="context"', b'{"run": "\xff"}'), WHOLE], 400, "context"),
    ("a list", [part('name="context"', b"[]"), WHOLE], 422, "context"),
    ("a deep list", [part('name="context"', b"[" * 99_999), WHOLE], 400, "context"),
    ("twice", [part('name="context"', b'{"pr":1,"pr":1}'), WHOLE], 400, "pr"),
    ("ten MB", [part('name="context"', b" " * 10**7 + b"{}"), WHOLE], 422, "context"),
    ("other protocol", [context(protocol=2), WHOLE], 400, "protocol"),
    ("unknown key", [context(colour="red"), WHOLE], 422, "colour"),
    ("another project", [context(project="other/app"), WHOLE], 403, "project"),
]


@pytest.mark.parametrize(
    ("parts", "status", "field"),
    [one[1:] for one in REFUSED],
    ids=[r[0] for r in REFUSED],
)
def test_what_is_wrong_is_refused_by_name(project: Project, parts, status, field):
    answer = post(project, *parts)
    assert answer.status == status, answer.body
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json.get("field", "") == field


def test_the_protocol_error_says_both_versions_and_the_cure(project: Project):
    detail = post(project, context(protocol=7), WHOLE).json["detail"]
    assert "protocol 7" in detail
    assert "protocol 1" in detail
    assert "pip install" in detail


def test_the_end_must_be_there_and_what_follows_it_is_nothing(project: Project):
    parts = [context(), WHOLE]
    assert post(project, *parts, end=b"").status == 400
    assert post(project, *parts, end=b"--boundary\r\n").status == 400
    assert post(project, *parts, end=END + b"more").status == 202


def test_the_context_may_stand_anywhere(project: Project):
    file = part('name="junit"; filename="b.xml"', b"<testsuites/>")
    for parts in ([WHOLE, context()], [WHOLE, context(pr=3), file]):
        upload = project.processed(post(project, *parts).json["id"])
        assert upload["state"] == "processed"
        assert [each["n"] for each in upload["files"]] == list(range(1, len(parts)))


def test_thirty_files_are_thirty_files(project: Project):
    files = [
        part('name="junit"; filename="same.xml"', junit(f"t{number}")[2])
        for number in range(30)
    ]
    number = post(project, context(), *files).json["id"]
    run = project.run_of(number)
    assert run["counts"]["tests"] == run["reported"]["tests"] == 30
    for n in (1, 15, 30):
        body = project.ask("GET", f"{PATH}/{number}/files/{n}").body
        assert body == junit(f"t{n - 1}")[2]
    assert project.ask("GET", f"{PATH}/{number}/files/31").status == 404


def test_files_that_disagree_are_said(project: Project):
    good, bad = junit("a")[2], junit("a: <failure message='x'/>")[2]
    number = post(project, context(), *(part('name="junit"', c) for c in (good, bad)))
    run = project.run_of(number.json["id"])
    assert (run["outcome"], run["counts"]["tests"]) == ("failed", 1)
    [warning] = project.upload(number.json["id"])["warnings"]
    assert "different results" in warning["message"]


def test_other_kinds_are_kept_and_add_no_result(project: Project):
    kinds = ["gate", "effects", "review"]
    for kind in kinds:
        raw = f"what a {kind} file holds".encode()
        number = post(project, context(), part(f'name="{kind}"', raw)).json["id"]
        upload = project.processed(number)
        assert upload["state"] in ("processed", "rejected")
        assert project.ask("GET", f"{PATH}/{number}/files/1").body == raw
