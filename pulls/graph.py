"""Who waits for whom: open blockers in the order to merge them, and cycles.

The judgements are pure; `load` reads a project's edges in two queries. A blocking edge
is open while the other one is neither merged nor closed; of what nothing is known that
is not known either. A cycle is only one while all of its edges are open.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from formats.phrases import Kind
from pulls.models import Edge, Pull, Source, State
from pulls.shapes import Blockers, EdgeRow, Graph, Node

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Edges:
    """A project's edges, each end a number or `owner/repo#n`."""

    rows: list[EdgeRow]
    states: Mapping[int, str]
    waits: Mapping[int, list[int | str]] = field(default_factory=dict)  # open ones

    @classmethod
    def of(cls, rows: Iterable[EdgeRow], states: Mapping[int, str]) -> Edges:
        kept = list(rows)
        waits: dict[int, list[int | str]] = defaultdict(list)
        for row in kept:
            if row.open and row.kind == Kind.BLOCKING:
                waits[row.from_number].append(row.to)
        return cls(kept, states, {k: list(dict.fromkeys(v)) for k, v in waits.items()})


def load(project_id: int, *, only: Collection[int] | None = None) -> Edges:
    """Read a project's edges; `only` those that touch these pull requests."""
    edges = Edge.objects.filter(project_id=project_id)
    if only is not None:
        edges = edges.filter(from_number__in=only) | edges.filter(
            to_number__in=only, to_repository=""
        )
    found = list(edges.order_by("from_number", "to_number", "pk"))
    numbers = {edge.from_number for edge in found}
    numbers |= {edge.to_number for edge in found if not edge.to_repository}
    states = _states(project_id, numbers)
    denied = {_place(edge) for edge in found if edge.denied}
    rows: dict[tuple[object, ...], EdgeRow] = {}
    for edge in found:
        place = _place(edge)
        if not edge.denied and (edge.source == Source.MANUAL or place not in denied):
            rows.setdefault((*place, edge.source), _row(edge, states))
    return Edges.of(rows.values(), states)


def with_computed(edges: Edges, number: int, waits: Collection[int]) -> Edges:
    """Put what was just computed in the place of what was before."""
    kept = [
        row
        for row in edges.rows
        if (row.from_number, row.source) != (number, Source.COMPUTED)
    ]
    kept += [
        EdgeRow(number, one, Kind.BLOCKING, open=True, source=Source.COMPUTED)
        for one in sorted(waits)
    ]
    return Edges.of(kept, edges.states)


def blockers(edges: Edges, number: int) -> Blockers:
    """Return what this one waits for: nearest, all in merge order, and cycles."""
    direct = list(edges.waits.get(number, ()))
    order: list[int | str] = []
    seen: set[int | str] = {number}
    stack: list[tuple[int | str, bool]] = [(one, False) for one in reversed(direct)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        if node in seen:
            continue
        seen.add(node)
        stack.append((node, True))
        if isinstance(node, int):
            further = edges.waits.get(node, ())
            stack += [(one, False) for one in reversed(further) if one not in seen]
    mine = {number, *(one for one in order if isinstance(one, int))}
    return Blockers(direct, order, [c for c in cycles(edges) if set(c) <= mine])


def waiting_for(edges: Edges, number: int) -> list[int]:
    """Return the open pull requests that wait for this one directly."""
    return sorted(
        one
        for one, waits in edges.waits.items()
        if number in waits and edges.states.get(one, State.OPEN) == State.OPEN
    )


def cycles(edges: Edges) -> list[list[int]]:
    """Return the groups that wait for each other, each from its smallest number."""
    return [sorted(group) for group in _knots(edges.waits)]


def graph(project_id: int) -> Graph:
    """Return the whole graph of a project: whatever an edge touches."""
    edges = load(project_id)
    numbers = {row.from_number for row in edges.rows}
    numbers |= {row.to for row in edges.rows if isinstance(row.to, int)}
    rows = Pull.objects.filter(project_id=project_id, number__in=numbers)
    known = {
        number: Node(number, state, title, word or "", bool(red), draft)
        for number, state, title, word, red, draft in rows.values_list(
            "number", "state", "title", "verdict__word", "verdict__red", "draft"
        )
    }
    nodes = [known.get(n, Node(n, UNKNOWN)) for n in sorted(numbers)]
    return Graph(nodes, edges.rows, cycles(edges))


def open_part(whole: Graph) -> Graph:
    """Return the part of a graph in which somebody waits still."""
    states = {node.number: node.state for node in whole.nodes}
    edges = [
        edge
        for edge in whole.edges
        if edge.open and states.get(edge.from_number) in (State.OPEN, UNKNOWN)
    ]
    kept = {edge.from_number for edge in edges}
    kept |= {edge.to for edge in edges if isinstance(edge.to, int)}
    nodes = [node for node in whole.nodes if node.number in kept]
    circles = [circle for circle in whole.cycles if kept.issuperset(circle)]
    return Graph(nodes, edges, circles)


def _states(project_id: int, numbers: Collection[int]) -> dict[int, str]:
    rows = Pull.objects.filter(project_id=project_id, number__in=numbers)
    known = dict(rows.values_list("number", "state"))
    return {number: known.get(number, UNKNOWN) for number in numbers}


def _place(edge: Edge) -> tuple[object, ...]:
    return (edge.from_number, edge.to_number, edge.to_repository, edge.kind)


def _row(edge: Edge, states: Mapping[int, str]) -> EdgeRow:
    outside = bool(edge.to_repository)
    state = UNKNOWN if outside else states[edge.to_number]
    return EdgeRow(
        from_number=edge.from_number,
        to=f"{edge.to_repository}#{edge.to_number}" if outside else edge.to_number,
        kind=edge.kind,
        open=edge.kind == Kind.BLOCKING and state not in (State.MERGED, State.CLOSED),
        source=edge.source,
        reason=edge.reason,
    )


def _knots(waits: Mapping[int, list[int | str]]) -> list[list[int]]:
    """Return the strongly connected groups of two or more (Tarjan, without calls)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    found: list[list[int]] = []
    for start in sorted(waits):
        if start in index:
            continue
        work: list[tuple[int, int]] = [(start, 0)]
        while work:
            node, at = work.pop()
            if at == 0:
                index[node] = low[node] = len(index)
                path.append(node)
                on_path.add(node)
            following = [one for one in waits.get(node, ()) if isinstance(one, int)]
            for place in range(at, len(following)):
                other = following[place]
                if other not in index:
                    work += [(node, place + 1), (other, 0)]
                    break
                if other in on_path:
                    low[node] = min(low[node], index[other])
            else:
                _close(node, index, low, path, on_path, found)
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
    return found


def _close(
    node: int,
    index: Mapping[int, int],
    low: Mapping[int, int],
    path: list[int],
    on_path: set[int],
    found: list[list[int]],
) -> None:
    if low[node] != index[node]:
        return
    group: list[int] = []
    while True:
        last = path.pop()
        on_path.discard(last)
        group.append(last)
        if last == node:
            break
    if len(group) > 1:
        found.append(group)
