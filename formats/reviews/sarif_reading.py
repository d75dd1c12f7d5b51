"""Reading SARIF 2.1.0: the results of every run of a log, as findings.

Guarantees: what this reads of a log is checked, and a wrong value is `Rejected` with
its path; what it does not read is let be, for SARIF has hundreds of optional parts. A
run that failed, or that says nothing of its results, makes the review partial.
"""

from __future__ import annotations

from typing import Any

from formats.report import Note
from formats.reviews.fields import (
    check_line,
    check_list,
    check_object,
    load,
    refuse,
    shown,
)
from formats.reviews.review import MOST_FINDINGS, MOST_NAME, Finding, Review
from formats.reviews.sarif_results import Rules, read_result

VERSION = "2.1.0"
_MOST_RUNS = 1_000
_MOST_RULES = 100_000
# Kinds that say that nothing is wrong, and results of an earlier run that are gone.
_NO_FINDING = ("pass", "notApplicable")
_GONE = "absent"


def read_sarif(raw: bytes) -> Review:
    return log_of(load(raw))


def log_of(value: Any) -> Review:  # Any: JSON that is being checked
    log = check_object(value, "")
    version = log.get("version")
    if version != VERSION:
        told = shown(version) if isinstance(version, str) else "missing or no text"
        refuse("version", f"{told}; this reads SARIF {VERSION}")
    if "runs" not in log:
        refuse("runs", "missing")
    if log["runs"] is None:  # the tools were not even started
        return Review((), partial=True)
    reading = _Reading()
    for n, run in enumerate(check_list(log["runs"], "runs", most=_MOST_RUNS)):
        reading.take(check_object(run, f"runs[{n}]"), f"runs[{n}]")
    return reading.review(has_runs=bool(log["runs"]))


class _Reading:
    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.commit = ""
        self.partial = False
        self.left_out = 0

    def take(self, run: dict[str, Any], path: str) -> None:
        tool = check_object(run.get("tool"), f"{path}.tool")
        driver = check_object(tool.get("driver"), f"{path}.tool.driver")
        name = check_line(
            driver.get("name"), f"{path}.tool.driver.name", most=MOST_NAME
        )
        self.partial = self.partial or not _succeeded(run, path)
        self.commit = self.commit or _commit(run, path)
        if run.get("results") is None:
            self.partial = True
            return
        rules = Rules(run, _rules(driver, f"{path}.tool.driver.rules"), name)
        most = MOST_FINDINGS - len(self.findings)
        results = check_list(run["results"], f"{path}.results", most=most)
        for n, entry in enumerate(results):
            here = f"{path}.results[{n}]"
            result = check_object(entry, here)
            if (
                result.get("kind") in _NO_FINDING
                or result.get("baselineState") == _GONE
            ):
                self.left_out += 1
            else:
                self.findings.append(read_result(result, here, rules))

    def review(self, *, has_runs: bool) -> Review:
        notes: tuple[Note, ...] = ()
        if self.left_out:
            message = f"{self.left_out} results that are no findings were left out"
            notes = (Note("results-without-finding", message),)
        return Review(
            tuple(self.findings),
            commit=self.commit,
            partial=self.partial or not has_runs,
            notes=notes,
        )


def _rules(driver: dict[str, Any], path: str) -> list[dict[str, Any]]:
    if driver.get("rules") is None:
        return []
    entries = check_list(driver["rules"], path, most=_MOST_RULES)
    return [check_object(rule, f"{path}[{n}]") for n, rule in enumerate(entries)]


def _succeeded(run: dict[str, Any], path: str) -> bool:
    if run.get("invocations") is None:
        return True
    here = f"{path}.invocations"
    entries = check_list(run["invocations"], here, most=MOST_FINDINGS)
    return all(
        check_object(each, f"{here}[{n}]").get("executionSuccessful") is not False
        for n, each in enumerate(entries)
    )


def _commit(run: dict[str, Any], path: str) -> str:
    if run.get("versionControlProvenance") is None:
        return ""
    here = f"{path}.versionControlProvenance"
    for n, each in enumerate(
        check_list(run["versionControlProvenance"], here, most=MOST_FINDINGS)
    ):
        revision = check_object(each, f"{here}[{n}]").get("revisionId")
        if revision is not None:
            return check_line(revision, f"{here}[{n}].revisionId", most=MOST_NAME)
    return ""
