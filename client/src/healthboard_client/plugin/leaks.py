"""A leak as it is told: in the failure's text, and in `healthboard.gate/1`.

Guarantees: the text of a failure begins with the leak's message, which names the test
and the items, and goes on with the recipe; whoever reads either knows what to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from healthboard_client.plugin.watch import RESTORED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthboard_client.plugin.watch import Found

SCHEMA = "healthboard.gate/1"
MOST_NAMED = 6  # items in a message
MOST_ITEMS = 1_000  # items in a payload
_MOST_ITEM = 2_000  # characters


@dataclass(frozen=True)
class Culprit:
    """Who left something: a test, or a fixture that outlives its tests."""

    test: str | None
    fixture: str = ""
    scope: str = ""
    file: str = ""
    used_in: str = ""

    @property
    def said(self) -> str:
        if self.test is not None:
            return self.test
        used = f", used in {self.used_in}" if self.used_in else ""
        return f"fixture {self.fixture} ({self.scope}) of {self.file}{used},"

    @property
    def name(self) -> str:
        """What the baseline calls it."""
        return self.test or f"{self.file}::{self.fixture} (fixture)"


@dataclass(frozen=True)
class Leak:
    """One kind of leak of one test or fixture, with its place in time."""

    culprit: Culprit
    gate: str
    kind: str
    items: tuple[str, ...]
    item_count: int
    message: str
    recipe: str
    worker: str
    position: int | None
    enforced: bool
    opted_out: bool
    reason: str = ""  # of the marker

    @property
    def text(self) -> str:
        return f"{self.message}\n\n{self.recipe}"

    def as_json(self) -> dict[str, object]:
        told: dict[str, object] = {
            "test": self.culprit.test,
            "gate": self.gate,
            "kind": self.kind,
            "items": list(self.items),
            "item_count": self.item_count,
            "worker": self.worker,
            "position": self.position,
            "phase": "teardown",
            "message": self.message,
            "recipe": self.recipe,
            "enforced": self.enforced,
            "opted_out": self.opted_out,
        }
        if self.reason:
            told["reason"] = self.reason
        if self.culprit.test is None:
            told["fixture"] = self.culprit.fixture
            told["scope"] = self.culprit.scope
            told["file"] = self.culprit.file
        if self.kind == "control_plane.entry":
            told["detail"] = {
                "path": self.items[0],
                "reason": f"made by {self.culprit.name}",
            }
        return told


def describe(found: Found, culprit: Culprit) -> tuple[str, str]:
    """Return the message and the recipe."""
    count = len(found.items)
    if found.change == RESTORED:
        what = f"put {count} value(s) of {found.gate.name} back to the start"
        recipe = "Nothing to do: it cleans up what an earlier test left."
    else:
        words = found.gate.words[found.change]
        what, recipe = words.what.format(count=count), words.recipe
        recipe = f"{recipe}\n{_opt_out(found, culprit)}".rstrip()
    return f"{culprit.said} {what}: {_listed(found.items)}", recipe


def clipped(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(item[:_MOST_ITEM] for item in items[:MOST_ITEMS])


def _listed(items: Sequence[str]) -> str:
    more = len(items) - MOST_NAMED
    tail = f" (+{more} more)" if more > 0 else ""
    return ", ".join(item[:_MOST_ITEM] for item in items[:MOST_NAMED]) + tail


def _opt_out(found: Found, culprit: Culprit) -> str:
    if not found.enforceable or culprit.test is None:
        return ""
    return (
        f'Where it is meant: @pytest.mark.allow_leak("{found.gate.name}", reason="…").'
    )
