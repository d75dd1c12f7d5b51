"""The options of every command, and the help that teaches them."""

from __future__ import annotations

import argparse
from typing import NoReturn

from healthboard_client import __version__
from healthboard_client.exits import Exit
from healthboard_client.teaching import CHECK, CONFIRM, EXITS, MAIN, SHARDS, UPLOAD

FAIL_ON = (
    "introduced-leak",
    "introduced-failure",
    "failure",
    "p0",
    "blocked",
    "new-flaky",
    "incomplete",
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Wrong options have an exit code of their own, as 2 means no answer."""
        self.print_usage()
        self.exit(Exit.MISUSED, f"{self.prog}: {message}\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    main = _Parser(
        prog="healthboard-ci",
        description=MAIN,
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    main.add_argument("--version", action="version", version=__version__)
    commands = main.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _upload(_command(commands, "upload", "send the reports of this job", UPLOAD))
    _check(_command(commands, "check", "is this build red, and for what", CHECK))
    _confirm(_command(commands, "confirm", "prove which test breaks another", CONFIRM))
    _shards(_command(commands, "shards", "print the test files of one shard", SHARDS))
    return main


def _command(
    commands: argparse._SubParsersAction[_Parser], name: str, line: str, text: str
) -> argparse.ArgumentParser:
    made = commands.add_parser(
        name,
        help=line,
        description=text,
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    where = made.add_argument_group("server (the token: HEALTHBOARD_TOKEN, never here)")
    where.add_argument("--url", help="the server; default HEALTHBOARD_URL")
    where.add_argument(
        "--project", help="owner/name; default HEALTHBOARD_PROJECT, else the token's"
    )
    where.add_argument(
        "--retry-for",
        type=_seconds,
        metavar="SECONDS",
        help="patience with a server that does not answer (120)",
    )
    return made


def _upload(made: argparse.ArgumentParser) -> None:
    made.add_argument("files", nargs="*", metavar="FILE", help="files, globs, folders")
    made.add_argument("--kind", help="the kind of all files; else their content tells")
    made.add_argument("--wait", action="store_true", help="print what became of it")
    made.add_argument(
        "--timeout", type=_seconds, default=300.0, metavar="SECONDS", help="of --wait"
    )
    made.add_argument("--dry-run", action="store_true", help="show, send nothing")
    made.add_argument(
        "--strict", action="store_true", help="exit 1 when the upload fails"
    )
    made.add_argument(
        "--spool", metavar="DIR", help="what could not be sent waits here"
    )
    _context(made.add_argument_group("context (what the CI and git say, corrected)"))


def _context(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--run", help="the run's name: the same for all its shards")
    group.add_argument("--attempt", type=_positive, help="1, 2, ... of a repeated job")
    group.add_argument("--job")
    group.add_argument("--shard", metavar="I/N", help="such as 2/4")
    group.add_argument(
        "--env",
        action="append",
        metavar="NAME=VALUE",
        help="of the environment (os and python are read); NAME= leaves one out",
    )
    group.add_argument("--branch")
    group.add_argument("--commit", help="what was tested")
    group.add_argument("--head-sha", help="the head of the pull request")
    group.add_argument("--base-sha")
    group.add_argument("--base-branch")
    group.add_argument("--pr", type=_positive, help="number of the pull request")
    group.add_argument("--started-at", metavar="TIME", help="2026-03-02T10:00:00Z")
    group.add_argument(
        "--exit-code", type=int, metavar="CODE", help="of the test command: $?"
    )
    group.add_argument("--test", help="the test that all effects belong to")
    group.add_argument(
        "--incomplete", action="store_true", help="this part did not run to its end"
    )


def _check(made: argparse.ArgumentParser) -> None:
    what = made.add_mutually_exclusive_group()
    what.add_argument("--run", help="a run's name or id; default: that of this job")
    what.add_argument("--pr", type=_positive, help="a pull request")
    made.add_argument("--commit", help="which runs of --pr count; default: this job's")
    made.add_argument(
        "--fail-on",
        type=_reasons,
        default=FAIL_ON[:2],
        metavar="WHAT,...",
        help=f"of {', '.join(FAIL_ON)}; default the first two",
    )
    made.add_argument(
        "--timeout",
        type=_seconds,
        default=600.0,
        metavar="SECONDS",
        help="how long to wait for the answer (600)",
    )
    made.add_argument("--json", action="store_true", help="print the answer as JSON")


def _confirm(made: argparse.ArgumentParser) -> None:
    made.add_argument("victim", metavar="VICTIM", help="node id")
    made.add_argument(
        "--against", nargs="+", default=[], metavar="LEAKER", help="only these"
    )
    made.add_argument(
        "--order",
        metavar="FILE",
        help="an order trace to bisect; else a recorded run of the server",
    )
    made.add_argument(
        "--tries", type=_positive, default=10, help="candidates before bisection (10)"
    )
    made.add_argument(
        "--repeat", type=_positive, default=2, help="runs that a proof takes (2)"
    )
    made.add_argument("--no-bisect", action="store_true", help="candidates alone")
    made.add_argument("--no-post", action="store_true", help="do not send the proof")
    made.add_argument(
        "--timeout",
        type=_seconds,
        default=900.0,
        metavar="SECONDS",
        help="of one pytest process (900)",
    )
    made.add_argument(
        "--pytest", metavar="COMMAND", help='such as "poetry run pytest -p no:cov"'
    )


def _shards(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "files", nargs="*", metavar="FILE", help="files, globs, folders; - reads stdin"
    )
    made.add_argument("--index", type=_positive, required=True, help="from 1 on")
    made.add_argument("--count", type=_positive, required=True)
    made.add_argument(
        "--durations", metavar="FILE", help="JSON of seconds by file or node id"
    )
    made.add_argument(
        "--save-durations", metavar="FILE", help="write those that were used"
    )


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < 1e7:
        raise argparse.ArgumentTypeError("must be a number of seconds")
    return seconds


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _reasons(text: str) -> tuple[str, ...]:
    asked = tuple(word.strip() for word in text.split(",") if word.strip())
    unknown = [word for word in asked if word not in FAIL_ON]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{unknown[0]!r} is none of {', '.join(FAIL_ON)}"
        )
    return asked
