"""`healthboard-ci confirm`: prove which test breaks another."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any

from healthboard_client import recorded_order
from healthboard_client.context import here
from healthboard_client.exits import Exit, Misuse, Unanswered
from healthboard_client.probing import Laboratory
from healthboard_client.proving import Search
from healthboard_client.pytest_runs import PytestRuns, command_of, shown
from healthboard_client.repository import read_history
from healthboard_client.server import Server
from healthboard_client.settings import read_settings, token_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from healthboard_client.console import Console
    from healthboard_client.proving import Finding, Proof

_ROLES = {"victim": ("leaker", "victim"), "brittle": ("setter", "brittle test")}
LEAST_BELIEF = 0.001  # a candidate below it costs more runs than bisection


def run(options: argparse.Namespace, console: Console) -> int:
    """Search, report what was proven and what it cost, and tell the server."""
    console.hide(token_of(os.environ))
    server = _server(options, console)
    candidates = list(options.against) or _candidates(options, console, server)
    runs = PytestRuns(command_of(options.pytest), options.timeout)
    lab = Laboratory(runs)
    search = Search(options.victim, lab, options.repeat, console.note)
    found = search.prove(candidates, _recorded(options, console, server))
    _report(console, options.victim, found, lab)
    if not found.kind and runs.output:
        console.note("pytest said:\n" + runs.output[0][-2000:])
    if server is not None and not options.no_post:
        _post(server, console, options.victim, found)
    if found.confirmed:
        return Exit.DONE
    return Exit.NO if found.kind else Exit.UNANSWERED


def _server(options: argparse.Namespace, console: Console) -> Server | None:
    """Return the server, or None where candidates or an order are given without one."""
    try:
        return Server(read_settings(options, os.environ), tell=console.note)
    except Misuse as error:
        if not options.against and not options.order:
            raise
        console.note(f"without the server: {error}")
        return None


def _candidates(
    options: argparse.Namespace, console: Console, server: Server | None
) -> list[str]:
    """Return who the server suspects, the best first."""
    if server is None:
        return []
    try:
        said = server.get(server.of_project("victims", options.victim))
    except Unanswered as error:
        console.warn(f"no candidates from the server: {error}")
        return []
    names: list[str] = []
    for each in said["candidates"]:
        if each["posterior"] >= LEAST_BELIEF and each["status"] != "refuted":
            names += [each["nodeid"], *map(str, each.get("group") or [])]
    return list(dict.fromkeys(names))[: options.tries]


def _recorded(
    options: argparse.Namespace, console: Console, server: Server | None
) -> Callable[[str], Sequence[str]] | None:
    victim = options.victim
    if options.no_bisect or (options.against and not options.order):
        return None
    if options.order:
        return lambda kind: recorded_order.from_trace(options.order, victim)
    if server is None:
        return None

    def ask(kind: str) -> Sequence[str]:
        try:
            return recorded_order.from_server(server, victim, kind)
        except Unanswered as error:
            console.warn(f"no recorded order from the server: {error}")
            return []

    return ask


def _report(console: Console, victim: str, found: Finding, lab: Laboratory) -> None:
    role, test = _ROLES.get(found.kind, ("", ""))
    for proof in found.proofs:
        word = "confirmed" if proof.confirmed else "refuted"
        named = " + ".join(proof.leakers)
        console.answer(
            f"{word} {role}: {named} (by {proof.how}: the {test} failed in "
            f"{proof.failed} of {proof.runs} runs after it)"
        )
        if proof.confirmed:
            console.answer(f"  reproduce: {shown([*proof.leakers, victim])}")
    if not found.confirmed:
        console.answer(f"nothing proven: {found.why}")
    console.answer(
        f"{lab.processes} pytest processes ({found.pairs} candidates, "
        f"{found.bisected} of bisection), {lab.tests} test executions"
    )


def _post(server: Server, console: Console, victim: str, found: Finding) -> None:
    """Tell the server what was proven; one that does not listen is said."""
    commit = read_history().commit
    for proof in found.proofs:
        if len(proof.leakers) > 1:
            console.note("a proof of several tests together is not sent")
            continue
        try:
            path = server.of_project("victims", victim) + "/proofs"
            value = _proof(proof, found.kind, victim, commit)
            answer = server.post_json(path, value, key=uuid.uuid4().hex)
            if not answer.good:
                console.warn(f"the proof was not taken: {answer.reason()}")
        except Unanswered as error:
            console.warn(f"the proof was not sent: {error}")
            return


def _proof(proof: Proof, kind: str, victim: str, commit: str) -> dict[str, Any]:
    return {
        "leaker": proof.leakers[0],
        "result": "confirmed" if proof.confirmed else "refuted",
        "type": kind,
        "how": f"healthboard-ci confirm, by {proof.how}, in fresh processes",
        "command": shown([*proof.leakers, victim]),
        "runs": proof.runs,
        "failed": proof.failed,
        "commit": commit,
        "environment": here(),
    }
