"""`healthboard-ci upload`: send the reports of this job."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from healthboard_client import sending, spool, summary
from healthboard_client.context import gather
from healthboard_client.exits import Exit, Misuse, Unanswered
from healthboard_client.files import Report, find
from healthboard_client.server import Server
from healthboard_client.settings import read_settings, token_of

if TYPE_CHECKING:
    import argparse

    from healthboard_client.console import Console
    from healthboard_client.context import Gathered
    from healthboard_client.files import Found
    from healthboard_client.sending import Receipt

MOST_REMARKS = 10


def run(options: argparse.Namespace, console: Console) -> int:
    """A failed upload is told, and fails the job only where that is asked for."""
    console.hide(token_of(os.environ))
    found = find(options.files, kind=options.kind or "")
    gathered = gather(options, os.environ)
    _tell(console, [*found.remarks, *gathered.remarks])
    if options.dry_run:
        return _show(console, gathered, found)
    try:
        _upload(options, console, gathered, found)
    except (Misuse, Unanswered) as error:
        console.warn(str(error))
    except OSError as error:
        console.warn(f"not uploaded: it could not be written: {error}")
    else:
        return Exit.DONE
    return Exit.NO if options.strict else Exit.DONE


def _tell(console: Console, remarks: list[str]) -> None:
    for remark in remarks[:MOST_REMARKS]:
        console.note(remark)
    if len(remarks) > MOST_REMARKS:
        console.note(f"and {len(remarks) - MOST_REMARKS} remarks of this kind")


def _show(console: Console, gathered: Gathered, found: Found) -> int:
    console.answer(json.dumps(gathered.values, indent=2, ensure_ascii=False))
    for report in found.reports:
        console.answer(f"{report.kind:<9} {report.size:>12,} bytes  {report.name}")
    console.answer(f"{len(found.reports)} files; nothing was sent (--dry-run)")
    return Exit.DONE


def _upload(
    options: argparse.Namespace, console: Console, gathered: Gathered, found: Found
) -> None:
    """Send what is new and then what waits; raise for what went wrong."""
    settings = read_settings(options, os.environ)
    if settings.project:
        gathered.values.setdefault("project", settings.project)
    server = Server(settings, tell=console.note)
    folder = spool.directory(options.spool, os.environ)
    reports = found.reports or _nothing(gathered)
    entry = spool.write(
        folder,
        gathered.values,
        reports,
        url=settings.url,
        project=settings.project,
    )
    problem, receipt = _send(server, console, entry)
    if receipt is None:
        raise Unanswered(f"not uploaded: {problem}")
    files = "1 file" if len(reports) == 1 else f"{len(reports)} files"
    again = ", which it had already" if receipt.duplicate else ""
    console.note(f"sent {files} as upload {receipt.upload}{again}")
    _send_waiting(server, console, folder)
    _follow(options, console, server, receipt)


def _nothing(gathered: Gathered) -> list[Report]:
    """Stand for a command that failed before it wrote a report.

    An empty report makes its run damaged, which is what it is.
    """
    if not gathered.values.get("exit_code"):
        raise Misuse("no report was found (name the files, or give --exit-code)")
    return [Report("junit", Path(os.devnull), 0, said="no-report.xml")]


def _send(
    server: Server, console: Console, entry: spool.Entry
) -> tuple[str, Receipt | None]:
    try:
        receipt = sending.send(server, entry)
    except Unanswered as error:
        if isinstance(error, sending.Refused) and error.final:
            spool.drop(entry)
        else:
            kept = spool.keep(entry)
            console.note(f"kept for the next time: {kept}")
        return str(error), None
    spool.drop(entry)
    return "", receipt


def _send_waiting(server: Server, console: Console, folder: Path) -> None:
    """Send what earlier commands could not; the server answers, so now is the time."""
    settings = server.settings
    for entry in spool.claim(folder, url=settings.url, project=settings.project):
        problem, receipt = _send(server, console, entry)
        if receipt is not None:
            console.note(f"sent an upload that had waited: upload {receipt.upload}")
        else:
            console.warn(f"an upload that had waited was not sent: {problem}")
            return


def _follow(
    options: argparse.Namespace, console: Console, server: Server, receipt: Receipt
) -> None:
    """Say what became of the upload: in the log, and in GitHub's job summary."""
    if not options.wait:
        _summarise(console, f"Sent to Healthboard: upload {receipt.upload}.\n")
        return
    upload = sending.wait(server, receipt, most=options.timeout)
    for text in summary.problems(upload):
        console.warn(text)
    if upload["state"] != "processed" or upload["run"] is None:
        raise Unanswered(f"upload {receipt.upload} is {upload['state']}")
    run = server.get(f"/api/v1/runs/{upload['run']}")
    address = server.page(f"/p/{run['project']}/runs/{run['id']}")
    console.answer(summary.sentence(run))
    console.answer(address)
    failing = server.get(
        f"/api/v1/runs/{run['id']}/results", outcome="failing", limit=summary.SHOWN
    )
    _summarise(console, summary.markdown(run, failing["items"], address))


def _summarise(console: Console, text: str) -> None:
    path = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if path:
        # A summary that cannot be written is no reason to fail a job.
        with suppress(OSError), Path(path).open("a", encoding="utf-8") as file:
            file.write(console.masked(text) + "\n")
