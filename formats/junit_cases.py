"""What one `<testcase>` means: its outcome, message, text and attempts.

Guarantees: the outcome follows from the direct children and the `status` and `result`
attributes alone, by one fixed order of rules (docs/junit.md). Nothing here knows XML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.clipping import Clip, clip
from formats.durations import seconds
from formats.outcomes import FAILING, Outcome
from formats.report import Attempt, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from formats.limits import Limits

PROBLEMS = frozenset({"error", "failure"})
SKIPS = frozenset({"skipped", "disabled", "ignored"})
FLAKES = frozenset({"flakyFailure", "flakyError"})
RERUNS = frozenset({"rerunFailure", "rerunError"})
OUTPUTS = frozenset({"system-out", "system-err"})
CAPTURED = PROBLEMS | SKIPS | FLAKES | RERUNS | OUTPUTS

_SKIP_WORDS = frozenset(
    [
        "notrun",
        "disabled",
        "skipped",
        "ignored",
        "pending",
        "suppressed",
        "skip",
        "todo",
        "inconclusive",
        "not_run",
        "notrunnable",
    ]
) | {"not run"}
_FAIL_WORDS = frozenset({"failed", "failure", "fail", "broken"})
_ERROR_WORDS = frozenset({"error", "errored"})
_XFAIL_TYPES = frozenset({"pytest.xfail", "xfail"})
# Old releases of pytest wrote these two instead of a type.
_XFAIL_MESSAGE = "expected test failure"
_XPASS_MESSAGE = "xfail-marked test passes unexpectedly"
_PYTEST_COLLECTION = "collection failure"


class Child:
    """A direct child of a case or suite that carries a result or output."""

    __slots__ = ("duration", "full_message", "kind", "message", "text", "type")

    def __init__(self, kind: str, attrs: dict[str, str], limits: Limits) -> None:
        self.kind = kind
        self.full_message = attrs.get("message", "")
        self.message = clip(self.full_message, limits.message)
        self.type = attrs.get("type", "")
        self.duration = seconds(attrs.get("time", ""))
        self.text = Clip(limits.output if kind in OUTPUTS else limits.text)

    def headline(self) -> str:
        """The message, else the text's first line, else the type."""
        if self.message.strip():
            return self.message
        lines = self.text.text().strip().splitlines()
        return lines[0].strip()[:1000] if lines else self.type

    def body(self, *, alone: bool) -> str:
        """The text; with its message where no other place keeps that whole."""
        text = self.text.text()
        cut = len(self.full_message) > len(self.message)
        if (alone and not cut) or text.lstrip().startswith(self.message.strip()):
            return text
        message = clip(self.full_message, self.text.limit)
        return f"{message}\n{text}" if text.strip() else message


def judge(children: Sequence[Child], *, status: str = "", result: str = "") -> Outcome:
    """Decide a case's outcome; the first rule that applies wins."""
    kinds = {child.kind for child in children}
    words = {status.strip().casefold(), result.strip().casefold()}
    if "error" in kinds:
        return Outcome.ERROR
    if kinds & SKIPS or words & _SKIP_WORDS:
        return _kind_of_skip(children)
    if "failure" in kinds:
        return Outcome.FAILED
    if not kinds & FLAKES:
        reruns = [child.kind for child in children if child.kind in RERUNS]
        if reruns:
            return _attempt_outcome(reruns[-1])
    if words & _FAIL_WORDS:
        return Outcome.FAILED
    if words & _ERROR_WORDS:
        return Outcome.ERROR
    return Outcome.PASSED


def _kind_of_skip(children: Iterable[Child]) -> Outcome:
    for child in children:
        if child.kind == "skipped":
            if child.type.casefold() in _XFAIL_TYPES or child.message == _XFAIL_MESSAGE:
                return Outcome.XFAILED
            if child.message == _XPASS_MESSAGE:
                return Outcome.XPASSED
    return Outcome.SKIPPED


def _attempt_outcome(kind: str) -> Outcome:
    return Outcome.ERROR if kind.endswith("Error") else Outcome.FAILED


def is_collection(children: Iterable[Child]) -> bool:
    """Tell whether pytest wrote this case for a file that it could not collect."""
    return any(child.full_message == _PYTEST_COLLECTION for child in children)


def describe(outcome: Outcome, children: Sequence[Child]) -> tuple[str, str]:
    """Return message (of the first deciding child) and text (of all of them).

    A skip keeps the text of a failure beside it. Captured output follows the text of
    a failing case and is dropped of every other.
    """
    problems = [child for child in children if child.kind in PROBLEMS]
    skips = [child for child in children if child.kind in SKIPS]
    failing = outcome in (Outcome.FAILED, Outcome.ERROR)
    telling = problems + skips if failing else skips + problems
    if not telling:
        telling = [child for child in children if child.kind in RERUNS][-1:]
    message = next((head for child in telling if (head := child.headline())), "")
    blocks = [child.body(alone=len(telling) == 1) for child in telling]
    if failing:
        blocks += [
            f"[{child.kind}]\n{child.text.text().strip()}"
            for child in children
            if child.kind in OUTPUTS and child.text.length
        ]
    return message, "\n\n".join(block for block in blocks if block.strip())


def problems_of(outcome: Outcome, children: Sequence[Child]) -> tuple[Problem, ...]:
    """Return a failing case's failures one by one, where its text is more than one."""
    if outcome not in FAILING:
        return ()
    problems = [child for child in children if child.kind in PROBLEMS]
    others = [child for child in children if child.kind in OUTPUTS | SKIPS]
    if not problems or (len(problems) == 1 and not others):
        return ()
    return tuple(
        Problem(
            Outcome.ERROR if child.kind == "error" else Outcome.FAILED,
            child.headline(),
            child.body(alone=True),
        )
        for child in problems
    )


def rest_of(outcome: Outcome, children: Sequence[Child]) -> Outcome | None:
    """Return a failing case's outcome without its failures; None: it passed."""
    skips = [child for child in children if child.kind in SKIPS]
    return judge(skips) if skips and outcome in FAILING else None


def earlier_attempts(
    outcome: Outcome, children: Sequence[Child]
) -> tuple[Attempt, ...]:
    """Return the attempts that flaky and rerun children tell of, as listed.

    A flaky child beside a failure means: passed in the end, but is configured to fail
    then. The pass is an attempt of its own, so that the case is seen to be flaky.
    """
    retried = [child for child in children if child.kind in FLAKES | RERUNS]
    kinds = {child.kind for child in children}
    if retried and not kinds & (PROBLEMS | SKIPS | FLAKES):
        retried = retried[:-1]  # the last rerun is the case's own result
    attempts = [
        Attempt(
            outcome=_attempt_outcome(child.kind),
            duration=child.duration,
            message=child.headline(),
            text=child.body(alone=True),
        )
        for child in retried
    ]
    if outcome in (Outcome.FAILED, Outcome.ERROR) and kinds & FLAKES:
        attempts.append(Attempt(outcome=Outcome.PASSED))
    return tuple(attempts)


def module_of(classname: str) -> str:
    """Return the module of a dotted class name: its parts before the first class."""
    parts = classname.split(".")
    for index, part in enumerate(parts):
        if part[:1].isupper():
            return ".".join(parts[:index])
    return classname


def written_by_pytest(file: str, classname: str) -> bool:
    """Tell whether a file's dotted form begins the class name, as pytest writes it."""
    if not file.endswith(".py"):
        return False
    dotted = file[:-3].replace("\\", "/").removeprefix("./").replace("/", ".")
    return classname == dotted or classname.startswith(dotted + ".")
