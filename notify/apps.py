"""Connects what lower layers say inside their transactions to the outbox."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import post_save


class NotifyConfig(AppConfig):
    name = "notify"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # The receivers need the models, which are not there when this file is read.
        for signals, name, module, receiver in _CONNECTED:
            signal = getattr(import_module(signals), name)
            heard = getattr(import_module(module), receiver)
            signal.connect(heard, dispatch_uid=f"notify {name}")
        verdict = import_module("pulls.models").Verdict
        remark = import_module("notify.remarking").verdict_was_stored
        post_save.connect(remark, sender=verdict, dispatch_uid="notify remark")


_CONNECTED = (
    ("ingest.signals", "owner_died", "notify.freeing", "owner_has_died"),
    ("results.signals", "run_summarised", "notify.runs", "run_was_summarised"),
    (
        "findings.signals",
        "findings_written",
        "notify.findings",
        "findings_were_written",
    ),
    ("leaks.signals", "leaker_opened", "notify.leakers", "leaker_was_opened"),
    ("leaks.signals", "leaker_reopened", "notify.leakers", "leaker_was_reopened"),
    ("leaks.signals", "leaker_fixed", "notify.leakers", "leaker_was_fixed"),
    ("leaks.signals", "test_newly_flaky", "notify.leakers", "test_became_flaky"),
    ("pulls.signals", "verdict_changed", "notify.pulls", "verdict_was_changed"),
    ("pulls.signals", "unblocked", "notify.pulls", "pull_was_unblocked"),
)
