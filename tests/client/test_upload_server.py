"""`healthboard-ci upload` against the real server."""

from __future__ import annotations

import gzip
import json
import stat

import pytest

from tests.client.proxy import proxying
from tests.outside import report

GOOD = report("boils", "pours: <failure message='cold | tea'>assert 20 == 90</failure>")


def _number(said):
    return int(said.err.split("as upload ")[1].split()[0].rstrip(","))


def _context(project, upload):
    """What the server was told, as it was sent."""
    raw = gzip.decompress(project.ask("GET", f"/api/v1/uploads/{upload}/raw").body)
    return json.loads(raw.partition(b'name="context"\r\n\r\n')[2].partition(b"\r\n")[0])


def test_it_sends_waits_and_says_what_became_of_it(connected, project):
    connected.write("reports/junit-unit.xml", GOOD)
    summary = connected.folder / "summary.md"
    said = connected.ci(
        *(
            "upload",
            "--wait",
            "--run",
            "nightly-1",
            "--job",
            "unit",
            "--commit",
            "c0ffee1",
        ),
        GITHUB_STEP_SUMMARY=str(summary),
    )
    assert said.code == 0
    run = project.items(f"{project.path}/runs")[0]
    assert said.out.splitlines() == [
        "nightly-1: failed; 2 tests, 1 failed, 1 passed",
        f"{connected.url}/p/{project.slug}/runs/{run['id']}",
    ]
    assert (run["run"], run["commit"], run["environment"]["os"]) == (
        "nightly-1",
        "c0ffee1",
        "linux",
    )
    text = summary.read_text()
    assert "| 2 | 1 | 1 | 0 | 0 | 0 |" in text
    assert "- `kitchen::kitchen.tea::pours` failed: cold \\| tea" in text
    assert list((connected.folder / "spool").iterdir()) == []


def test_every_kind_is_told_from_its_content(connected, project):
    line = {"v": 1, "test": "t.py::a", "worker": "main", "pid": 1, "position": 0}
    gate = {"schema": "healthboard.gate/1", "gate": "env", "leaks": []}
    connected.write("a.txt", GOOD)
    connected.write("b.txt", json.dumps({**line, "outcome": "passed"}) + "\n")
    connected.write("c.txt", json.dumps(gate))
    connected.write(
        "d.txt",
        gzip.compress(b'{"pytest_version": "9", "$report_type": "SessionStart"}\n'),
    )
    connected.write("e.txt", "- **[P1]** `a.py:3` Something is wrong\n")
    said = connected.ci("upload", "*.txt", "--wait", "--run", "kinds")
    number = _number(said)
    sent = {file["name"]: file["kind"] for file in project.upload(number)["files"]}
    assert sent == {
        "a.txt": "junit",
        "b.txt": "order",
        "c.txt": "gate",
        "d.txt": "reportlog",
        "e.txt": "review",
    }


def test_what_is_no_report_is_told_and_not_sent(connected, project):
    connected.write("junit.xml", GOOD)
    connected.write("notes.txt", "nothing to see")
    said = connected.ci("upload", "*", "missing/**/*.xml")
    assert "notes.txt: no kind of report is recognised; not sent" in said.err
    assert "no file matches missing/**/*.xml" in said.err
    assert "sent 1 file as upload" in said.err


def test_names_that_could_end_a_header_arrive_as_they_are(connected, project):
    connected.write('odd "name" [1].xml', GOOD)
    said = connected.ci("upload", 'odd "name" [1].xml', "--wait")
    number = _number(said)
    [file] = project.upload(number)["files"]
    assert file["size"] == len(GOOD)


def test_shards_attempts_and_options_reach_the_run(connected, project):
    connected.write("junit.xml", GOOD)
    options = ("--run", "r", "--shard", "2/3", "--attempt", "2", "--env", "python=3.9")
    said = connected.ci("upload", "--wait", *options, "--exit-code", "1", "--pr", "538")
    assert "shards missing: 1, 3 of 3" in said.out
    run = project.get(f"/api/v1/runs/{project.items(f'{project.path}/runs')[0]['id']}")
    assert (run["pr"], run["attempts"][0]["attempt"]) == (538, 2)
    assert run["environment"] == {"os": "linux", "python": "3.9"}
    assert run["completeness"]["missing"] == [1, 3]


def test_a_broken_report_is_named_with_its_place(connected, project):
    connected.write("junit.xml", b'<testsuite name="s">\n<testcase name="cut')
    said = connected.ci("upload", "--wait", "--strict", "--run", "bad")
    assert said.code == 1
    assert "error in junit.xml:2" in said.err
    assert "is rejected" in said.err
    assert connected.ci("upload", "--wait", "--run", "bad").code == 0


def test_a_command_that_died_without_a_report_damages_its_run(connected, project):
    said = connected.ci("upload", "--run", "crashed", "--exit-code", "137", "--strict")
    assert said.code == 0, said.err
    assert _context(project, _number(said))["exit_code"] == 137
    project.settle()
    [run] = project.items(f"{project.path}/runs")
    assert (run["run"], run["outcome"]) == ("crashed", "damaged")


def test_nothing_found_is_a_warning_or_with_strict_a_failure(connected):
    assert connected.ci("upload").code == 0
    said = connected.ci("upload", "--strict")
    assert said.code == 1
    assert "no report was found" in said.err


def test_dry_run_shows_context_and_files_and_sends_nothing(connected, project):
    connected.write("junit.xml", GOOD)
    said = connected.ci("upload", "--dry-run", "--run", "dry")
    context, _, rest = said.out.partition("\n}\n")
    assert json.loads(context + "}")["run"] == "dry"
    assert "junit.xml" in rest
    assert project.items(f"{project.path}/runs") == []
    assert not (connected.folder / "spool").exists()


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"HEALTHBOARD_TOKEN": ""}, "HEALTHBOARD_TOKEN is not set"),
        ({"HEALTHBOARD_URL": ""}, "HEALTHBOARD_URL (or --url) is not set"),
        ({"HEALTHBOARD_URL": "ftp://x"}, "HEALTHBOARD_URL must look like"),
        ({"HEALTHBOARD_TOKEN": "two words"}, "holds a blank"),
        ({"HEALTHBOARD_RETRY_FOR": "long"}, "HEALTHBOARD_RETRY_FOR must be"),
    ],
)
def test_settings_that_cannot_be_used_are_named(connected, variables, words):
    connected.write("junit.xml", GOOD)
    said = connected.ci("upload", "--strict", **variables)
    assert said.code == 1
    assert words in said.err
    assert "two words" not in said.text
    assert connected.ci("upload", **variables).code == 0


def test_a_wrong_token_is_told_and_the_upload_kept(connected, project):
    connected.write("junit.xml", GOOD)
    said = connected.ci("upload", "--run", "late", HEALTHBOARD_TOKEN="hb_wrong")
    assert said.code == 0
    assert "not uploaded: 401" in said.err
    [kept] = (connected.folder / "spool").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert b"hb_wrong" not in kept.read_bytes()
    connected.write("junit.xml", report("boils"))
    said = connected.ci("upload", "--run", "next")
    assert "sent an upload that had waited" in said.err
    project.settle()
    runs = {run["run"]: run["outcome"] for run in project.items(f"{project.path}/runs")}
    assert runs == {"late": "failed", "next": "passed"}
    assert list((connected.folder / "spool").iterdir()) == []


def test_through_a_bad_network_it_is_one_upload(connected, project):
    """The server took it twice unheard: the third answer is that it has it."""
    connected.write("junit.xml", GOOD)
    with proxying(project.port, "no answer", "half body") as proxy:
        said = connected.ci("upload", "--run", "once", HEALTHBOARD_URL=proxy.url)
    assert proxy.met == ["no answer", "half body", "pass"]
    assert ", which it had already" in said.err
    project.settle()
    [run] = project.items(f"{project.path}/runs")
    assert len(project.get(f"/api/v1/runs/{run['id']}")["uploads"]) == 1


def test_a_server_that_is_away_costs_the_job_nothing(job):
    job.write("junit.xml", GOOD)
    said = job.ci("upload", "--retry-for", "0")
    assert said.code == 0
    assert "kept for the next time" in said.err
    assert len(list((job.folder / "spool").iterdir())) == 1
    assert job.ci("upload", "--retry-for", "0", "--strict").code == 1
