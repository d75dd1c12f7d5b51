"""What a judged ledger leaks, test by test.

Guarantees: one leak a test and kind of verdict, with its effects as items; only of
tests that somebody named; such a leak never makes its run a failed one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.effects import wording
from formats.effects.findings import leak_kind
from formats.gates import LeakFact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from formats.effects.judgement import Judged

GATE = "effects"
MOST_ITEMS = 100  # that are listed; all are counted


def test_of(effect: Judged, *, test: str, is_test: Callable[[str], bool]) -> str:
    """Return the test that an effect belongs to, or "".

    `test` is the one that the upload names for all; else the request may be one.
    """
    return test or (effect.request_id if is_test(effect.request_id) else "")


def looks_like_test(name: str) -> bool:
    """Tell whether a name is a node id, whether such a test is known or not."""
    file, separator, case = name.partition("::")
    return bool(separator and file.strip() and case.strip())


def leaks_of(
    judged: Iterable[Judged], *, test: str, is_test: Callable[[str], bool]
) -> list[LeakFact]:
    """Return the leaks, in the order of their first effects."""
    groups: dict[tuple[str, str], list[Judged]] = {}
    for effect in judged:
        kind = leak_kind(effect)
        name = test_of(effect, test=test, is_test=is_test) if kind else ""
        if name:
            groups.setdefault((name, kind), []).append(effect)
    return [
        LeakFact(
            test_nodeid=name,
            kind=kind,
            gate=GATE,
            items=tuple(_item(each) for each in effects[:MOST_ITEMS]),
            item_count=len(effects),
            enforced=False,
            message=_message(effects),
        )
        for (name, kind), effects in groups.items()
    ]


def _item(effect: Judged) -> str:
    name = wording.shortened(effect.tool)
    if not effect.targets:
        return f"{name} (scope unknown)"
    return f"{name} on {wording.place(effect.targets[0])}"


def _message(effects: list[Judged]) -> str:
    first = effects[0]
    told = f"Effect {wording.shortened(first.effect_id)} is {first.verdict}: "
    more = f" And {len(effects) - 1:,} more." if len(effects) > 1 else ""
    return f"{told}{first.reason}.{more}"
