"""The comment and the check of a pull request, in words. Pure.

Guarantees: a text is below its host's limit by showing fewer rows, never by being cut,
and says how many it leaves out; nothing in it mentions a person, and nothing breaks out
of its cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from notify.messages import counted, cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pulls.shapes import FindingItem, Item, PullRow, Told

ROWS = (1000, 300, 100, 50, 20, 10, 5, 2, 1, 0)  # of each table
CELL = 300
ANNOTATIONS = 500
_SHARES = {
    "introduced": "Introduced here",
    "unknown": "Of unknown origin",
    "inherited": "Inherited",
    "inherited_fixed_upstream": "Inherited, fixed on the default branch",
    "fixed_upstream": "Inherited, fixed on the default branch",
    "fixed": "Fixed here",
}
_PRESSING = ("P0", "P1")


@dataclass(frozen=True, slots=True)
class Annotation:
    path: str
    line: int
    title: str
    message: str
    failure: bool


def marker(slug: str) -> str:
    """Return what tells our comment from all others."""
    return f"<!-- healthboard: {slug} -->"


def is_quiet(pull: PullRow) -> bool:
    """Tell whether there is nothing that anybody must be told."""
    told = pull.told
    if told is None:
        return True
    items = [one for one in (*told.failures, *told.leaks) if one.share != "fixed"]
    pressing = [one for one in told.findings if one.severity in _PRESSING]
    return not (told.red or items or pressing or pull.blockers.order)


def comment(pull: PullRow, *, slug: str, url: str, most: int) -> str:
    """Write the comment, at most so many characters long."""
    for rows in ROWS:
        text = _comment(pull, slug=slug, url=url, rows=rows)
        if len(text.encode()) <= most:
            return text
    return f"{marker(slug)}\n**Healthboard**: [the verdict]({url})\n"


def title(told: Told) -> str:
    return cut(told.sentence, 140)


def conclusion(told: Told) -> str:
    """Return failure, success or neutral."""
    if told.red:
        return "failure"
    whole = told.runs and not told.untested and all(run.complete for run in told.runs)
    return "success" if whole else "neutral"


def marked(told: Told) -> list[Annotation]:
    """Return what is shown at its line: introduced leaks, P0 and P1 findings."""
    found = [
        _of_leak(item)
        for item in told.leaks
        if item.share == "introduced" and item.nodeid
    ]
    found += [
        _of_finding(one)
        for one in told.findings
        if one.severity in _PRESSING and one.path
    ]
    return found[:ANNOTATIONS]


def _of_leak(item: Item) -> Annotation:
    path = (item.nodeid or "").partition("::")[0]
    message = "\n".join(part for part in (item.message, item.recipe) if part)
    told = message or f"{item.nodeid} leaks {item.kind}"
    return Annotation(
        path, 1, cut(f"Leak: {item.kind}", 200), told[:4000], failure=True
    )


def _of_finding(one: FindingItem) -> Annotation:
    name = cut(f"{one.severity}: {one.title}", 200)
    return Annotation(
        one.path, one.line or 1, name, one.title[:4000], one.severity == "P0"
    )


def _comment(pull: PullRow, *, slug: str, url: str, rows: int) -> str:
    told = pull.told
    if told is None:
        return f"{marker(slug)}\n**Healthboard** has no verdict yet.\n"
    look = "🔴" if told.red else "🟢"
    parts = [marker(slug), f"### {look} Healthboard: [{_plain(title(told))}]({url})"]
    parts += [f"- {_plain(reason)}" for reason in told.reasons[:10]]
    for noun, items in (("failure", told.failures), ("leak", told.leaks)):
        parts += _tables(noun, items, rows)
    pressing = [one for one in told.findings if one.severity in _PRESSING]
    parts += _findings(pressing, rows)
    if told.advice:
        parts += ["", "**What to do**"]
        parts += [f"- {_plain(advice)}" for advice in told.advice[:10]]
    parts += [
        "",
        f"<sub>{_plain(told.head[:12])} · {counted(told.tests, 'test')}</sub>",
    ]
    return "\n".join(parts) + "\n"


def _tables(noun: str, items: Sequence[Item], rows: int) -> list[str]:
    found: list[str] = []
    for share, words in _SHARES.items():
        mine = [item for item in items if item.share == share]
        if not mine:
            continue
        found += ["", f"**{words}: {counted(len(mine), noun)}**"]
        if share in ("fixed", "inherited") and rows > 20:
            shown = mine[:20]
        else:
            shown = mine[:rows]
        if shown:
            found += ["", "| test | why |", "|---|---|"]
            found += [
                f"| {_code(one.nodeid or one.kind)} | {_why(one)} |" for one in shown
            ]
        found += _left(len(mine) - len(shown))
    return found


def _findings(found: Sequence[FindingItem], rows: int) -> list[str]:
    if not found:
        return []
    shown = found[:rows]
    lines = ["", f"**{counted(len(found), 'finding')} of P0 or P1**"]
    if shown:
        lines += ["", "| | finding | where |", "|---|---|---|"]
    for one in shown:
        where = f"{one.path}:{one.line}" if one.line else one.path
        lines.append(f"| {one.severity} | {_cell(one.title)} | {_cell(where)} |")
    return lines + _left(len(found) - len(shown))


def _left(left: int) -> list[str]:
    return ["", f"… and {counted(left, 'more', 'more')}"] if left > 0 else []


def _why(item: Item) -> str:
    leaker = f"leaked by {item.leaker.nodeid}" if item.leaker else ""
    told = [item.title or item.message, leaker, item.reason]
    return _cell("; ".join(part for part in told if part))


def _cell(text: str) -> str:
    return _plain(cut(text, CELL)).replace("|", "\\|")


def _code(text: str) -> str:
    """Write a name as code, where nothing has a meaning but the cell's border."""
    return f"`{cut(text, CELL).replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def _plain(text: str) -> str:
    """Escape markup; a word joiner keeps @ and # from reaching people and issues."""
    for one in "\\`*_[]<>~":
        text = text.replace(one, f"\\{one}")
    return text.replace("@", "@\u2060").replace("&", "&amp;")
