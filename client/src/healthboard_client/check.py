"""`healthboard-ci check`: is this build red, and for what."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from healthboard_client import judging, sending
from healthboard_client.ci import read_ci
from healthboard_client.exits import Exit, Misuse, Unanswered
from healthboard_client.repository import read_history
from healthboard_client.server import Server
from healthboard_client.settings import read_settings, token_of

if TYPE_CHECKING:
    import argparse

    from healthboard_client.console import Console

    Json = Any  # as the read API gives it

MOST_LISTED = 2_000


@dataclass(frozen=True)
class Wanted:
    """Which runs are asked about."""

    name: str = ""
    number: int | None = None
    pr: int | None = None
    commit: str = ""

    def __str__(self) -> str:
        if self.number is not None and not self.name:
            return f"run {self.number}"
        named = self.name or f"pull request {self.pr}"
        return f"{named} at {self.commit[:12]}" if self.commit else named


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the answer; exit 1 for what the options name."""
    console.hide(token_of(os.environ))
    wanted = _wanted(options)
    server = Server(read_settings(options, os.environ), tell=console.note)
    end = server.clock() + float(options.timeout)

    def left() -> float:
        return max(0.0, end - server.clock())

    runs = _found(server, wanted, most=left())
    gates = [_decided(server, each, most=left()) for each in runs]
    number = wanted.pr or runs[0]["pr"]
    pull = _pull(server, console, number, runs, most=left()) if number else None
    facts = judging.Facts(
        runs=runs, gates=gates, pull=pull, **_more(server, options.fail_on, runs, pull)
    )
    answers = judging.judge(facts, options.fail_on)
    _print(server, console, options, facts, answers)
    return Exit.NO if any(each.red for each in answers) else Exit.DONE


def _wanted(options: argparse.Namespace) -> Wanted:
    if options.run is not None:
        number = int(options.run) if options.run.isdecimal() else None
        return Wanted(name=options.run, number=number)
    ci = read_ci(os.environ)
    if options.pr is not None:
        mine = ci.commit if ci.pr == options.pr else ""
        return Wanted(pr=options.pr, commit=options.commit or mine)
    commit = ci.commit or read_history().commit
    if not ci.run:
        raise Misuse("this is no CI that is known: give --run or --pr")
    return Wanted(name=ci.run, commit=commit)


def _found(server: Server, wanted: Wanted, *, most: float) -> list[Json]:
    """Wait for the runs that are asked about; several environments are several runs."""
    found = sending.until(
        server,
        lambda: {"runs": _look(server, wanted)},
        lambda said: bool(said["runs"]),
        most=most,
        what=f"{wanted} to arrive",
    )
    runs: list[Json] = found["runs"]
    return runs


def _look(server: Server, wanted: Wanted) -> list[Json]:
    if wanted.number is not None:
        answer = server.ask(f"/api/v1/runs/{wanted.number}")
        if answer.good:
            return [answer.json()]
    rows, newest = [], ""
    listed = server.items(
        server.of_project("runs"), pr=wanted.pr, commit=wanted.commit or None
    )
    for place, row in enumerate(listed):
        # Of a pull request the runs of one commit: its newest, if none is named.
        newest = newest or str(row["commit"])
        if place >= MOST_LISTED or (not wanted.name and str(row["commit"]) != newest):
            break
        if wanted.name in ("", row["run"]):
            rows.append(row)
    return [server.get(f"/api/v1/runs/{row['id']}") for row in rows]


def _decided(server: Server, found: Json, *, most: float) -> Json:
    """Wait until it is clear what to do with a run."""
    path = f"/api/v1/runs/{found['id']}/gate"
    said: list[Json] = []

    def ask() -> Json:
        said[:] = [server.get(path)]
        return said[0]

    try:
        return sending.until(
            server, ask, lambda gate: gate["answer"] != "wait", most=most, what="it"
        )
    except Unanswered as error:
        reasons = " ".join(said[0]["reasons"]) if said else ""
        raise Unanswered(f"{found['run']}: {error}. {reasons}".rstrip()) from None


def _pull(
    server: Server, console: Console, number: int, runs: list[Json], *, most: float
) -> Json | None:
    """Return the pull request once its verdict is made, or None without one."""
    path = server.of_project("pulls", str(number))
    status = server.of_project("status")

    def ask() -> Json:
        answer = server.ask(path)
        if answer.good:
            return {"pull": answer.json(), "pending": answer.json().get("pending")}
        # Its facts may be on their way: once nothing is, there is no such pull request.
        pending = server.get(status)["pending"]
        return {"pull": None, "pending": pending, "why": answer.reason()}

    said = sending.until(
        server,
        ask,
        lambda said: not said["pending"],
        most=most,
        what=f"the verdict on pull request {number}",
    )
    pull = said["pull"]
    if pull is None:
        console.note(f"nothing is known of pull request {number}: {said['why']}")
        return None
    heads = {each["head_sha"] or each["commit"] for each in runs}
    if pull.get("head") and pull["head"] not in heads:
        console.note(f"pull request {number} is at {pull['head'][:12]} by now")
    return pull


def _more(
    server: Server, fail_on: tuple[str, ...], runs: list[Json], pull: Json | None
) -> dict[str, Any]:
    """Read what only some of the reasons need."""
    more: dict[str, Any] = {}
    if "new-flaky" in fail_on:
        more["flaky"] = [
            row
            for each in runs
            for row in server.items(
                f"/api/v1/runs/{each['id']}/results", outcome="flaky"
            )
        ]
        more["known_flaky"] = list(server.items(server.of_project("flaky")))
    if "introduced-leak" in fail_on and pull is None:
        more["leakers"] = list(server.items(server.of_project("leakers")))
    return more


def _print(
    server: Server,
    console: Console,
    options: argparse.Namespace,
    facts: judging.Facts,
    answers: list[judging.Answer],
) -> None:
    if options.json:
        value = {
            "runs": [each["id"] for each in facts.runs],
            "pull": facts.pull and facts.pull["number"],
            "red": any(each.red for each in answers),
            "answers": [asdict(each) for each in answers],
        }
        console.answer(json.dumps(value, indent=2, ensure_ascii=False))
        return
    for text in judging.described(facts, answers):
        console.answer(text)
    for each in facts.runs:
        console.answer(server.page(f"/p/{each['project']}/runs/{each['id']}"))
