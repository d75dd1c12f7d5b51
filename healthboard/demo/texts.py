"""What the tests of the demo say when they fail or are skipped, as pytest words it.

Addresses and numbers differ from run to run, as they do in life. Pure.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from healthboard.demo.execution import Cause
from healthboard.demo.suite import Part

if TYPE_CHECKING:
    from healthboard.demo.execution import Attempt
    from healthboard.demo.suite import Case


@dataclass(frozen=True, slots=True)
class Failure:
    message: str
    text: str


_REASONS = {
    Part.SKIPPED: "not on this runner",
    Part.NEWER_ONLY: "needs Python 3.13",
    Part.XFAIL: "known to be wrong, see issue 412",
}


def line_of(case: Case) -> int:
    """Return the line on which the test stands; the same in every run."""
    return 12 + zlib.crc32(case.nodeid.encode()) % 340


def reason_of(case: Case) -> str:
    return _REASONS.get(case.part, "")


def failure_of(attempt: Attempt) -> Failure:
    """Return why an attempt failed; the wording depends on its cause."""
    case = attempt.case
    rng = random.Random(f"{case.nodeid} {attempt.start} {attempt.pid}")
    where = f"{case.file}:{line_of(case) + 4}"
    match attempt.cause:
        case Cause.LEAK:
            return _leak(case, where, rng)
        case Cause.FLAKE:
            return _flake(case, where, rng)
        case Cause.REGRESSION:
            return _regression(case, where)
        case Cause.OWN:
            return _own(case, where)
    raise ValueError(f"{case.nodeid} did not fail")


def _leak(case: Case, where: str, rng: random.Random) -> Failure:
    """Each victim has a stale copy of a module: three ways in which that shows."""
    kinds = (_stale_class, _stale_stub, _stale_error)
    return kinds[zlib.crc32(case.nodeid.encode()) % 3](case, where, rng)


def _stale_class(case: Case, where: str, rng: random.Random) -> Failure:
    thing = f"<lantern.{case.subject}.Handle object at {_address(rng)}>"
    wanted = f"<class 'lantern.{case.subject}.Handle'>"
    message = (
        f"AssertionError: assert False\n +  where False = isinstance({thing}, {wanted})"
    )
    text = f"""{_head(case)}
        handle = {case.subject}.open_default()
>       assert isinstance(handle, Handle)
E       AssertionError: assert False
E        +  where False = isinstance({thing}, {wanted})

{where}: AssertionError"""
    return Failure(message, text)


def _stale_stub(case: Case, where: str, rng: random.Random) -> Failure:
    message = "AssertionError: Expected 'ask' to have been called once. Called 0 times."
    text = f"""{_head(case)}
        with stub_model("lantern.providers.ask") as ask:
            answer = {case.subject}.run(PROMPT)
>       ask.assert_called_once()

{where}:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

self = <MagicMock name='ask' id='{rng.randint(10**14, 10**15)}'>

E       AssertionError: Expected 'ask' to have been called once. Called 0 times.

lantern/testing/stubs.py:61: AssertionError"""
    return Failure(message, text)


def _stale_error(case: Case, where: str, rng: random.Random) -> Failure:
    message = f"lantern.errors.ToolError: exit status 3 of job {rng.randint(100, 9999)}"
    text = f"""{_head(case)}
        with pytest.raises(ToolError):
>           {case.subject}.call("exit 3", limit=Limit(seconds=5))

{where}:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

lantern/{case.subject}.py:118: in call
    return self._finish(job, self._wait(job, limit))
lantern/jobs.py:77: in _finish
    raise ToolError(f"exit status {{status}} of job {{job.id}}")
E   {message}

lantern/jobs.py:77: ToolError"""
    return Failure(message, text)


def _flake(case: Case, where: str, rng: random.Random) -> Failure:
    waited = f"{rng.uniform(2.0, 2.4):.2f}"
    message = f"TimeoutError: nothing arrived within {waited} s"
    text = f"""{_head(case)}
        source = open_{case.subject}(slow=True)
>       first, second = take(source, 2, seconds=2)

{where}:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

lantern/testing/waiting.py:33: in take
    raise TimeoutError(f"nothing arrived within {{waited:.2f}} s")
E   {message}

lantern/testing/waiting.py:33: TimeoutError"""
    return Failure(message, text)


def _regression(case: Case, where: str) -> Failure:
    message = "KeyError: 'title'"
    text = f"""{_head(case)}
        journal = open_journal(tmp_path / "version-3.journal")
>       entries = journal.upgrade()

{where}:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

lantern/storage/journal.py:204: in upgrade
    return [migrate(entry) for entry in self.entries()]
lantern/storage/migrations.py:58: in migrate
    return replace(entry, title=entry.fields["title"])
E   {message}

lantern/storage/migrations.py:58: KeyError"""
    return Failure(message, text)


def _own(case: Case, where: str) -> Failure:
    message = "AssertionError: assert ['hello'] == ['hello', 'bye']"
    text = f"""{_head(case)}
        received = talk({case.subject}, "hello", "bye")
>       assert received == ["hello", "bye"]
E       AssertionError: assert ['hello'] == ['hello', 'bye']
E         Right contains one more item: 'bye'
E         Use -v to get more diff

{where}: AssertionError"""
    return Failure(message, text)


def _head(case: Case) -> str:
    argument = "self" if case.group else "tmp_path"
    return f"    def {case.name.partition('[')[0]}({argument}):"


def _address(rng: random.Random) -> str:
    return f"0x7f{rng.randrange(16**10):010x}"
