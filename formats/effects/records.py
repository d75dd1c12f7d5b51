"""What an effect ledger says, line by line, before anything is judged.

Guarantees: plain values; equal references and locations of one ledger are one object;
`line` counts from 1, and is 0 for the outcomes that the reader itself added.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from formats.report import Note

type Location = tuple[str, ...]


class Kind(StrEnum):
    FILESYSTEM = "filesystem"
    PROCESS = "process"
    PROCESS_LAUNCH = "process_launch"
    BACKGROUND_JOB = "background_job"
    OWNED = "owned"
    EXTERNAL = "external"
    BROWSER_SESSION = "browser_session"


class Predicate(StrEnum):
    EXISTS = "exists"
    ABSENT = "absent"
    CONTENT_SHA256 = "content_sha256"
    CONTENT_CHANGED = "content_changed"


class Execution(StrEnum):
    ATTEMPTED = "attempted"  # a claim without outcome; never written
    NOT_EXECUTED = "not_executed"
    REPORTED_SUCCESS = "reported_success"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    RUNNING = "running"
    INTERRUPTED = "interrupted"


class Impact(StrEnum):
    NONE = "none"
    POSSIBLE = "possible"
    CHANGED = "changed"


class Cleanup(StrEnum):
    NOT_APPLICABLE = "not_applicable"
    VERIFIED = "verified"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Mechanism(StrEnum):
    FILESYSTEM_READ = "filesystem_read"
    OWNED_RECORD_READ = "owned_record_read"
    REMOTE_READBACK = "remote_readback"
    PROCESS_OWNERSHIP = "process_ownership"
    JOB_STATE = "job_state"
    BROWSER_SESSION = "browser_session"
    EXECUTION_RECEIPT = "execution_receipt"
    REMOTE_ACKNOWLEDGEMENT = "remote_acknowledgement"


class Coverage(StrEnum):
    COMPLETE = "complete"
    PARTIAL = "partial"


# The mechanism that can decide an obligation on a resource of the kind; the other
# kinds cannot be targets.
DECIDING = {
    Kind.FILESYSTEM: Mechanism.FILESYSTEM_READ,
    Kind.OWNED: Mechanism.OWNED_RECORD_READ,
    Kind.EXTERNAL: Mechanism.REMOTE_READBACK,
}


@dataclass(frozen=True, slots=True)
class ResourceRef:
    kind: Kind
    role: str
    location: Location  # the first part is the kind
    incarnation: str
    snapshot_sha256: str


@dataclass(frozen=True, slots=True)
class Operation:
    tool: str
    action: str
    input_sha256: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Obligation:
    target: ResourceRef
    predicate: Predicate
    expected: str  # a digest for the two content predicates, else empty


@dataclass(frozen=True, slots=True)
class Claim:
    effect_id: str
    run_id: str
    action_id: str
    sequence: int
    operation: Operation
    impact_scope: tuple[ResourceRef, ...]  # empty: may have touched anything
    dependencies: tuple[ResourceRef, ...]
    obligations: tuple[Obligation, ...]
    parent_run_id: str
    external: bool
    line: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    exit_code: int | None = None
    timed_out: bool = False
    output_truncated: bool = False
    failure_kind: str = ""
    job_state: str = ""
    remote_acknowledged: bool = False
    external: bool = False
    mutation_attempted: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    effect_id: str
    sequence: int
    execution: Execution
    impact: Impact
    facts: Facts
    cleanup: Cleanup
    execution_id: str
    replayed: bool
    line: int = 0


@dataclass(frozen=True, slots=True)
class Observation:
    observation_id: str
    sequence: int
    resource: ResourceRef
    mechanism: Mechanism
    coverage: Coverage
    source_action_id: str
    source_execution_id: str
    exists: bool | None
    content_sha256: str
    evidence_event_id: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Ledger:
    """One export, in file order; the outcomes added at the end of a run come last."""

    claims: tuple[Claim, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    observations: tuple[Observation, ...] = ()
    run_ended: bool = True
    notes: tuple[Note, ...] = ()
