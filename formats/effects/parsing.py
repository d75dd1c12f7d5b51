"""From a line's object to a record, by the letter of the format.

Guarantees: a value that has any other key, type or enum value than specified is
`Unfit` with its path; nothing here looks at another line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formats.effects.fields import (
    Unfit,
    check_bool,
    check_choice,
    check_digest,
    check_filled,
    check_integer,
    check_keys,
    check_label,
    check_list,
    check_text,
    shown,
)
from formats.effects.records import (
    DECIDING,
    Claim,
    Cleanup,
    Coverage,
    Execution,
    Facts,
    Impact,
    Kind,
    Location,
    Mechanism,
    Obligation,
    Observation,
    Operation,
    Outcome,
    Predicate,
    ResourceRef,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_LINE = frozenset(("v", "type", "record"))
_REF = frozenset(("kind", "role", "location", "incarnation", "snapshot_sha256"))
_CLAIM = frozenset(
    (
        "effect_id", "run_id", "action_id", "sequence", "operation", "impact_scope",
        "dependencies", "obligations", "parent_run_id", "external",
    )
)  # fmt: skip
_OPERATION = frozenset(("tool", "action", "input_sha256", "request_id"))
_OBLIGATION = frozenset(("target", "predicate", "expected"))
_OUTCOME = frozenset(
    (
        "effect_id", "sequence", "execution", "impact", "facts", "cleanup",
        "execution_id", "replayed",
    )
)  # fmt: skip
_FACTS = frozenset(
    (
        "exit_code", "timed_out", "output_truncated", "failure_kind", "job_state",
        "remote_acknowledged", "external", "mutation_attempted",
    )
)  # fmt: skip
_OBSERVATION = frozenset(
    (
        "observation_id", "sequence", "resource", "mechanism", "coverage",
        "source_action_id", "source_execution_id", "exists", "content_sha256",
        "evidence_event_id",
    )
)  # fmt: skip

_KINDS = {str(kind): kind for kind in Kind}
_PREDICATES = {str(predicate): predicate for predicate in Predicate}
_EXECUTIONS = {str(e): e for e in Execution if e is not Execution.ATTEMPTED}
_IMPACTS = {str(impact): impact for impact in Impact}
_CLEANUPS = {str(cleanup): cleanup for cleanup in Cleanup}
_MECHANISMS = {str(mechanism): mechanism for mechanism in Mechanism}
_COVERAGES = {str(coverage): coverage for coverage in Coverage}
_CONTENT = (Predicate.CONTENT_SHA256, Predicate.CONTENT_CHANGED)
_READS = frozenset(DECIDING.values())

type Record = Claim | Outcome | Observation


class Parser:
    """Reads the records of one ledger; a reference that was seen before is reused."""

    def __init__(self) -> None:
        # The references are most of a ledger and few of them differ.
        self._refs: dict[tuple[object, ...], ResourceRef] = {}
        self._locations: dict[Location, Location] = {}
        self._readers: dict[str, Callable[[Any, int], Record]] = {
            "claim": self._claim,
            "outcome": self._outcome,
            "observation": self._observation,
        }

    def parse(self, value: dict[str, Any], line: int) -> Record:
        check_keys(value, _LINE, "")
        if type(value["v"]) is not int or value["v"] != 1:
            raise Unfit("v", f"is {shown(value['v'])}, not 1")
        read = check_choice(value["type"], self._readers, "type")
        return read(value["record"], line)

    def _claim(self, value: Any, line: int) -> Claim:
        check_keys(value, _CLAIM, "record")
        scope = self._ref_list(value["impact_scope"], "record.impact_scope")
        return Claim(
            effect_id=check_filled(value["effect_id"], "record.effect_id"),
            run_id=check_filled(value["run_id"], "record.run_id"),
            action_id=check_filled(value["action_id"], "record.action_id"),
            sequence=_sequence(value),
            operation=_operation(value["operation"]),
            impact_scope=scope,
            dependencies=self._ref_list(value["dependencies"], "record.dependencies"),
            obligations=self._obligations(value["obligations"], scope),
            parent_run_id=check_text(value["parent_run_id"], "record.parent_run_id"),
            external=check_bool(value["external"], "record.external"),
            line=line,
        )

    def _obligations(
        self, value: Any, scope: tuple[ResourceRef, ...]
    ) -> tuple[Obligation, ...]:
        items = check_list(value, "record.obligations")
        if not items:
            return ()
        # Equal references are one object, so identity says what equality would.
        within = {id(ref) for ref in scope}
        found = []
        for index, item in enumerate(items):
            path = f"record.obligations[{index}]"
            obligation = self._obligation(item, path)
            if id(obligation.target) not in within:
                raise Unfit(f"{path}.target", "equals no entry of impact_scope")
            found.append(obligation)
        return tuple(found)

    def _obligation(self, value: Any, path: str) -> Obligation:
        check_keys(value, _OBLIGATION, path)
        target = self._ref(value["target"], f"{path}.target")
        if target.kind not in DECIDING:
            raise Unfit(f"{path}.target.kind", f"is {target.kind}, which is no target")
        predicate = check_choice(value["predicate"], _PREDICATES, f"{path}.predicate")
        expected = value["expected"]
        if predicate in _CONTENT:
            check_digest(expected, f"{path}.expected")
        elif check_text(expected, f"{path}.expected"):
            raise Unfit(f"{path}.expected", f"is not empty for {predicate}")
        return Obligation(target, predicate, expected)

    def _ref_list(self, value: Any, path: str) -> tuple[ResourceRef, ...]:
        items = check_list(value, path)
        return tuple(self._ref(item, path, index) for index, item in enumerate(items))

    def _ref(self, value: Any, path: str, index: int = -1) -> ResourceRef:
        try:
            location = value["location"]
            if type(location) is list and len(value) == len(_REF):
                known = self._refs.get(
                    (
                        value["kind"],
                        value["role"],
                        value["incarnation"],
                        value["snapshot_sha256"],
                        *location,
                    )
                )
                if known:
                    return known
        except (TypeError, KeyError):
            pass  # not of the right form; what follows says how
        return self._new_ref(value, path if index < 0 else f"{path}[{index}]")

    def _new_ref(self, value: Any, path: str) -> ResourceRef:
        check_keys(value, _REF, path)
        kind = check_choice(value["kind"], _KINDS, f"{path}.kind")
        location = self._location(value["location"], kind, f"{path}.location")
        ref = ResourceRef(
            kind,
            check_filled(value["role"], f"{path}.role"),
            self._locations.setdefault(location, location),
            check_text(value["incarnation"], f"{path}.incarnation"),
            check_digest(value["snapshot_sha256"], f"{path}.snapshot_sha256"),
        )
        key = (str(kind), ref.role, ref.incarnation, ref.snapshot_sha256, *location)
        self._refs[key] = ref
        return ref

    def _location(self, value: Any, kind: Kind, path: str) -> Location:
        parts = check_list(value, path)
        if len(parts) < 2:
            raise Unfit(path, "has fewer than two parts")
        for index, part in enumerate(parts):
            check_text(part, f"{path}[{index}]")
        if parts[0] != kind:
            raise Unfit(f"{path}[0]", f"is {shown(parts[0])}, not the kind {kind}")
        return tuple(parts)

    def _outcome(self, value: Any, line: int) -> Outcome:
        check_keys(value, _OUTCOME, "record")
        outcome = Outcome(
            effect_id=check_filled(value["effect_id"], "record.effect_id"),
            sequence=_sequence(value),
            execution=check_choice(value["execution"], _EXECUTIONS, "record.execution"),
            impact=check_choice(value["impact"], _IMPACTS, "record.impact"),
            facts=_facts(value["facts"]),
            cleanup=check_choice(value["cleanup"], _CLEANUPS, "record.cleanup"),
            execution_id=check_text(value["execution_id"], "record.execution_id"),
            replayed=check_bool(value["replayed"], "record.replayed"),
            line=line,
        )
        executed = outcome.execution is not Execution.NOT_EXECUTED
        if executed == (outcome.impact is Impact.NONE):
            what = f"is {outcome.impact}, which {outcome.execution} cannot have"
            raise Unfit("record.impact", what)
        if outcome.execution_id and not executed:
            raise Unfit("record.execution_id", "is not empty for not_executed")
        return outcome

    def _observation(self, value: Any, line: int) -> Observation:
        check_keys(value, _OBSERVATION, "record")
        exists, digest = value["exists"], value["content_sha256"]
        if exists is not None:
            check_bool(exists, "record.exists")
        if digest != "":
            check_digest(digest, "record.content_sha256")
            if exists is not True:
                raise Unfit("record.content_sha256", "needs exists to be true")
        mechanism = check_choice(value["mechanism"], _MECHANISMS, "record.mechanism")
        source = check_text(value["source_action_id"], "record.source_action_id")
        if not source and mechanism in _READS:
            raise Unfit("record.source_action_id", f"is empty for {mechanism}")
        return Observation(
            observation_id=check_filled(
                value["observation_id"], "record.observation_id"
            ),
            sequence=_sequence(value),
            resource=self._ref(value["resource"], "record.resource"),
            mechanism=mechanism,
            coverage=check_choice(value["coverage"], _COVERAGES, "record.coverage"),
            source_action_id=source,
            source_execution_id=check_text(
                value["source_execution_id"], "record.source_execution_id"
            ),
            exists=exists,
            content_sha256=digest,
            evidence_event_id=check_text(
                value["evidence_event_id"], "record.evidence_event_id"
            ),
            line=line,
        )


def _sequence(value: dict[str, Any]) -> int:
    sequence = check_integer(value["sequence"], "record.sequence")
    if sequence < 0:
        raise Unfit("record.sequence", "is negative")
    return sequence


def _operation(value: Any) -> Operation:
    path = "record.operation"
    check_keys(value, _OPERATION, path)
    return Operation(
        check_filled(value["tool"], f"{path}.tool"),
        check_text(value["action"], f"{path}.action"),
        check_digest(value["input_sha256"], f"{path}.input_sha256"),
        check_text(value["request_id"], f"{path}.request_id"),
    )


def _facts(value: Any) -> Facts:
    path = "record.facts"
    check_keys(value, _FACTS, path)
    exit_code = value["exit_code"]
    if exit_code is not None:
        check_integer(exit_code, f"{path}.exit_code")
    return Facts(
        exit_code,
        check_bool(value["timed_out"], f"{path}.timed_out"),
        check_bool(value["output_truncated"], f"{path}.output_truncated"),
        check_label(value["failure_kind"], f"{path}.failure_kind"),
        check_label(value["job_state"], f"{path}.job_state"),
        check_bool(value["remote_acknowledged"], f"{path}.remote_acknowledged"),
        check_bool(value["external"], f"{path}.external"),
        check_bool(value["mutation_attempted"], f"{path}.mutation_attempted"),
    )
