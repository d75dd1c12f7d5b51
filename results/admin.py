"""The facts, to be read; columns of bytes are left out."""

from __future__ import annotations

from django.contrib import admin

from projects.admin import ReadOnly
from results.models import (
    Block,
    Classification,
    Counter,
    Day,
    Detail,
    Failure,
    Leak,
    Roster,
    Run,
    Shard,
    TestCase,
)


@admin.register(TestCase)
class TestCaseAdmin(ReadOnly):
    list_display = ("nodeid", "project", "number", "first_seen", "last_seen")
    list_select_related = ("project",)
    exclude = ("key",)


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = ("name", "project", "outcome", "branch", "started_at", "tests")
    list_filter = ("outcome",)
    list_select_related = ("project",)


@admin.register(Shard)
class ShardAdmin(ReadOnly):
    list_display = ("upload_id", "run", "job", "index", "count", "attempt", "tests")
    list_select_related = ("run",)


@admin.register(Counter)
class CounterAdmin(ReadOnly):
    list_display = ("project", "tests")
    list_select_related = ("project",)


@admin.register(Roster)
class RosterAdmin(ReadOnly):
    list_display = ("id", "project", "tests")
    list_select_related = ("project",)
    exclude = ("digest", "data")


@admin.register(Block)
class BlockAdmin(ReadOnly):
    list_display = ("id", "project_id", "shard_id", "chunk")
    exclude = ("data",)


@admin.register(Detail)
class DetailAdmin(ReadOnly):
    list_display = ("id", "project", "title", "text_bytes")
    list_select_related = ("project",)
    exclude = ("digest", "fingerprint", "text")


@admin.register(Failure)
class FailureAdmin(ReadOnly):
    list_display = ("id", "run_id", "test_id", "attempt", "outcome")


@admin.register(Leak)
class LeakAdmin(ReadOnly):
    list_display = ("id", "run_id", "test_id", "kind", "source", "enforced", "counted")
    list_filter = ("counted", "source")
    exclude = ("what", "content")


@admin.register(Classification)
class ClassificationAdmin(ReadOnly):
    list_display = ("project", "default_branch", "zone", "due_at")
    list_select_related = ("project",)


@admin.register(Day)
class DayAdmin(ReadOnly):
    list_display = ("project", "date", "branch_class", "dirty", "rebuilt_at")
    list_filter = ("dirty",)
    list_select_related = ("project",)
    exclude = ("data",)
