"""A run in a few lines, for the log and for GitHub's job summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Json = dict[str, Any]  # as the read API gives it

SHOWN = 20


def sentence(run: Json) -> str:
    """Return what became of a run."""
    counts, missing = run["counts"], run["completeness"]["missing"]
    words = [f"{run['run']}: {run['outcome'].replace('_', ' ')}"]
    parts = [f"{counts['tests']:,} tests"]
    parts += [
        f"{counts[name]:,} {name}"
        for name in ("failed", "errors", "flaky", "passed", "skipped")
        if counts[name]
    ]
    words.append(", ".join(parts))
    if run.get("failed_outside"):
        words.append("the command failed outside of the report")
    if missing:
        of = run["completeness"]["expected_shards"]
        words.append(f"shards missing: {', '.join(map(str, missing))} of {of}")
    return "; ".join(words)


def markdown(run: Json, failing: Sequence[Json], address: str) -> str:
    """Return a job summary: the counts, and the first failing tests."""
    counts = run["counts"]
    names = ("tests", "passed", "failed", "errors", "skipped", "flaky")
    lines = [
        f"### [{_plain(run['run'])}: {run['outcome'].replace('_', ' ')}]({address})",
        "",
        "| " + " | ".join(names) + " |",
        "|" + "---:|" * len(names),
        "| " + " | ".join(f"{counts[name]:,}" for name in names) + " |",
        "",
        *(_row(each) for each in failing[:SHOWN]),
    ]
    more = counts["failed"] + counts["errors"] - min(len(failing), SHOWN)
    if failing and more > 0:
        lines.append(f"- and {more:,} more")
    missing = run["completeness"]["missing"]
    if missing:
        lines += ["", f"Shards that did not come: {', '.join(map(str, missing))}."]
    return "\n".join(lines) + "\n"


def problems(upload: Json) -> Iterable[str]:
    """Yield what was wrong with, or repaired in, the files of an upload."""
    for kind, each in (
        *(("error", each) for each in upload["errors"]),
        *(("warning", each) for each in upload["warnings"]),
    ):
        place = ":".join(
            str(each[name]) for name in ("file", "line", "column") if each.get(name)
        )
        yield f"{kind} in {place or 'the upload'}: {each['message']}"


def _row(result: Json) -> str:
    message = str(result.get("message") or "").strip().partition("\n")[0]
    said = f": {_plain(message[:120])}" if message else ""
    return f"- `{result['nodeid'].replace('`', chr(39))}` {result['outcome']}{said}"


def _plain(text: str) -> str:
    """A test's own words must not become markup."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, "\\" + sign if sign != "<" else "&lt;")
    return text
