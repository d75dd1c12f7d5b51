"""What a project's settings page edits, as one typed value with its defaults."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from formats.own_patterns import OwnPattern
from formats.prefixes import IdentityRules

if TYPE_CHECKING:
    from projects.models import Project


@dataclass(frozen=True, slots=True)
class Options:
    """Days are whole days; prefixes are lists of literal strings."""

    repeats: str = "auto"  # auto, attempts or invocations
    strip_path_prefixes: tuple[str, ...] = ()
    add_path_prefix: str = ""
    strip_classname_prefixes: tuple[str, ...] = ()
    add_classname_prefix: str = ""
    keep_bodies_days: int = 90
    keep_facts_days: int = 400
    window_days: int = 30
    flaky_least_percent: float = 1.0  # flake rate from which a review lists a test
    incomplete_hours: int = 6  # after its last upload a run is told of as incomplete
    recognisers: tuple[OwnPattern, ...] = ()  # of gates' failures in reports
    due_p0_days: int = 1  # until a finding of this severity is due
    due_p1_days: int = 7
    due_p2_days: int = 30
    due_p3_days: int = 90
    red_introduced_leak: bool = True  # what turns a pull request red
    red_introduced_failure: bool = True
    red_p0: bool = True  # an open finding of severity P0 that it did not inherit
    red_incomplete: bool = True


def read(project: Project) -> Options:
    """Return a project's options; what is not stored has its default."""
    known = {field.name for field in fields(Options)}
    stored: dict[str, Any] = {  # Any: JSON as stored
        name: tuple(value) if isinstance(value, list) else value
        for name, value in project.options.items()
        if name in known
    }
    if "recognisers" in stored:
        stored["recognisers"] = tuple(
            OwnPattern(**one) for one in stored["recognisers"]
        )
    return Options(**stored)


def to_json(options: Options) -> dict[str, Any]:  # Any: JSON
    """Return what `Project.options` stores for these options."""
    return asdict(options)


def identity_rules(options: Options) -> IdentityRules:
    """Return how the ids of this project's tests are made alike."""
    return IdentityRules(
        strip_path_prefixes=options.strip_path_prefixes,
        add_path_prefix=options.add_path_prefix,
        strip_classname_prefixes=options.strip_classname_prefixes,
        add_classname_prefix=options.add_classname_prefix,
    )
