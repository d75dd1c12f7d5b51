"""The tests of the demo: a suite of an invented product, the agent runtime Lantern.

Guarantees: the same cases on every machine and in every version of the demo; about 600
in 40 files; each knows its shard and what part it plays in the story. Pure.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

SLUG = "demo/lantern"
SHARDS = 3


class Part(StrEnum):
    """What a test does in the story."""

    PLAIN = "plain"
    LEAKER = "leaker"  # purges modules from sys.modules
    VICTIM = "victim"  # holds on to a module that a leaker purges
    FLAKY = "flaky"  # fails now and then, whatever ran before
    REGRESSED = "regressed"  # broken by one commit of the default branch
    SKIPPED = "skipped"
    NEWER_ONLY = "newer only"  # skipped on the older Python
    XFAIL = "xfail"


@dataclass(frozen=True, slots=True)
class Case:
    """One test. `seconds` is what it usually takes."""

    file: str
    group: str  # the class, if it is in one
    name: str
    seconds: float
    shard: int
    part: Part = Part.PLAIN

    @property
    def nodeid(self) -> str:
        return "::".join(filter(None, (self.file, self.group, self.name)))

    @property
    def classname(self) -> str:
        """As pytest's own report has it."""
        dotted = self.file.removesuffix(".py").replace("/", ".")
        return f"{dotted}.{self.group}" if self.group else dotted

    @property
    def subject(self) -> str:
        return subject_of(self.file)


# Shard 1, 2 and 3. The last one has the slow end-to-end tests and is the longest.
_FILES = (
    (
        "tests/agent/test_turn_loop.py",
        "tests/agent/test_turn_budget.py",
        "tests/agent/test_interrupt.py",
        "tests/agent/test_transcript.py",
        "tests/agent/test_summary.py",
        "tests/agent/test_step_limit.py",
        "tests/memory/test_recall.py",
        "tests/memory/test_forgetting.py",
        "tests/memory/test_index.py",
        "tests/memory/test_ranking.py",
        "tests/safety/test_sandbox.py",
        "tests/safety/test_redaction.py",
        "tests/safety/test_approval.py",
        "tests/safety/test_path_guard.py",
    ),
    (
        "tests/agent/test_prompt_cache.py",
        "tests/agent/test_delegation.py",
        "tests/tools/test_registry.py",
        "tests/tools/test_shell.py",
        "tests/tools/test_file_edit.py",
        "tests/tools/test_search.py",
        "tests/tools/test_schema.py",
        "tests/providers/test_selection.py",
        "tests/providers/test_stream.py",
        "tests/providers/test_retry.py",
        "tests/providers/test_token_count.py",
        "tests/sessions/test_resume.py",
        "tests/sessions/test_export.py",
        "tests/sessions/test_lock.py",
    ),
    (
        "tests/cli/test_arguments.py",
        "tests/cli/test_watch.py",
        "tests/cli/test_output.py",
        "tests/config/test_layers.py",
        "tests/config/test_profiles.py",
        "tests/storage/test_journal.py",
        "tests/storage/test_migrations.py",
        "tests/storage/test_snapshots.py",
        "tests/api/test_routes.py",
        "tests/api/test_websocket.py",
        "tests/e2e/test_long_task.py",
        "tests/e2e/test_two_agents.py",
    ),
)
_BEHAVIOURS = (
    "is_empty_at_the_start",
    "keeps_its_order",
    "refuses_an_unknown_key",
    "survives_a_restart",
    "is_written_once",
    "reads_back_what_it_wrote",
    "times_out_cleanly",
    "logs_no_secret",
    "gives_up_after_three_failures",
    "may_be_closed_twice",
    "accepts_any_script",
    "reports_its_progress",
    "changes_nothing_the_second_time",
    "merges_two_sources",
    "prefers_the_newest",
    "ignores_blank_lines",
    "stays_below_its_limit",
    "goes_on_from_a_checkpoint",
    "names_the_missing_field",
    "falls_back_to_the_default",
    "works_side_by_side",
    "can_be_cancelled_midway",
    "cleans_up_after_an_error",
)
_PARAMETERS = (("small", "large"), ("json", "yaml", "toml"), ("disk", "memory"))

# The parts that are not plain: file, class, name, part.
_SPECIAL = (
    (
        "agent/test_prompt_cache.py",
        "TestColdStart",
        "test_prompt_cache_is_built_on_first_import",
        Part.LEAKER,
    ),
    (
        "agent/test_delegation.py",
        "",
        "test_delegation_passes_errors_of_its_child_on",
        Part.VICTIM,
    ),
    (
        "agent/test_delegation.py",
        "",
        "test_delegation_stops_with_its_parent",
        Part.VICTIM,
    ),
    (
        "tools/test_registry.py",
        "TestRegistry",
        "test_registry_finds_a_tool_by_alias",
        Part.VICTIM,
    ),
    (
        "tools/test_registry.py",
        "TestRegistry",
        "test_registry_keeps_a_replaced_tool",
        Part.VICTIM,
    ),
    (
        "tools/test_registry.py",
        "TestRegistry",
        "test_registry_unloads_a_plugin",
        Part.VICTIM,
    ),
    ("tools/test_schema.py", "", "test_schema_follows_a_subclass", Part.VICTIM),
    ("tools/test_schema.py", "", "test_schema_of_a_reloaded_tool", Part.VICTIM),
    (
        "providers/test_retry.py",
        "TestRetry",
        "test_retry_stops_at_a_fatal_error",
        Part.VICTIM,
    ),
    ("sessions/test_lock.py", "", "test_lock_of_a_dead_process_is_taken", Part.VICTIM),
    ("agent/test_delegation.py", "", "test_delegation_inherits_a_stub", Part.VICTIM),
    ("tools/test_shell.py", "", "test_shell_error_is_a_tool_error", Part.VICTIM),
    (
        "providers/test_selection.py",
        "TestSelection",
        "test_selection_honours_the_patched_clock",
        Part.VICTIM,
    ),
    (
        "providers/test_selection.py",
        "TestSelection",
        "test_selection_counts_calls_of_the_stub",
        Part.VICTIM,
    ),
    ("sessions/test_resume.py", "", "test_resume_restores_the_model", Part.VICTIM),
    (
        "providers/test_stream.py",
        "TestStream",
        "test_stream_outlives_a_slow_server",
        Part.FLAKY,
    ),
    ("cli/test_watch.py", "", "test_watch_sees_two_quick_saves", Part.FLAKY),
    (
        "storage/test_migrations.py",
        "",
        "test_migrations_run_on_an_old_journal",
        Part.REGRESSED,
    ),
    (
        "storage/test_migrations.py",
        "",
        "test_migrations_keep_the_title",
        Part.REGRESSED,
    ),
    ("storage/test_journal.py", "", "test_journal_opens_version_3", Part.REGRESSED),
    (
        "safety/test_sandbox.py",
        "",
        "test_sandbox_without_user_namespaces",
        Part.SKIPPED,
    ),
    ("cli/test_output.py", "", "test_output_on_a_windows_console", Part.SKIPPED),
    ("e2e/test_two_agents.py", "", "test_two_agents_share_one_gpu", Part.SKIPPED),
    ("memory/test_index.py", "", "test_index_uses_lazy_annotations", Part.NEWER_ONLY),
    ("api/test_websocket.py", "", "test_websocket_closes_its_group", Part.NEWER_ONLY),
    ("agent/test_summary.py", "", "test_summary_of_an_empty_turn", Part.XFAIL),
    ("tools/test_search.py", "", "test_search_follows_a_symlink_loop", Part.XFAIL),
    ("sessions/test_export.py", "", "test_export_of_nested_replies", Part.XFAIL),
)


def subject_of(file: str) -> str:
    return file.rpartition("/")[2].removeprefix("test_").removesuffix(".py")


@cache
def suite() -> tuple[Case, ...]:
    """Return all cases, in the order in which pytest collects them."""
    found = [
        case
        for shard, files in enumerate(_FILES, 1)
        for file in files
        for case in (*_plain(file, shard), *_special(file, shard))
    ]
    return tuple(sorted(found, key=lambda case: (case.file, case.group)))


def of_part(part: Part) -> tuple[Case, ...]:
    return tuple(case for case in suite() if case.part is part)


def _plain(file: str, shard: int) -> list[Case]:
    rng = random.Random(file)
    subject = subject_of(file)
    group = "Test" + subject.title().replace("_", "") if rng.random() < 0.4 else ""
    slow = "/e2e/" in file
    cases = []
    for behaviour in rng.sample(_BEHAVIOURS, 6 if slow else rng.randint(10, 13)):
        name = f"test_{subject}_{behaviour}"
        chosen = rng.choice(_PARAMETERS) if rng.random() < 0.22 else ()
        for full in [f"{name}[{value}]" for value in chosen] or [name]:
            seconds = rng.uniform(4, 11) if slow else rng.lognormvariate(-2.2, 1.0)
            cases.append(Case(file, group, full, seconds, shard))
    return cases


def _special(file: str, shard: int) -> list[Case]:
    return [
        Case(file, group, name, 0.2, shard, part)
        for place, group, name, part in _SPECIAL
        if file.endswith(place)
    ]
