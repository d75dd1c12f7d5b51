"""Figures: values in, plotly figures as JSON values out. Pure.

Colours are written as `var(--name)`: the script that draws takes them from the
stylesheet, so a figure follows light and dark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from dashboard.wording import split_nodeid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboard.leak_maps import LeakMap, Side
    from pulls.shapes import JourneyPoint
    from results.queries.shapes import HistoryCell, TrendPoint

type Figure = dict[str, Any]  # Any: JSON

# Each outcome has its own marker, so that colour is never the only sign.
_MARKERS = {
    "passed": ("circle", "var(--pass-fill)"),
    "failed": ("x", "var(--fail-fill)"),
    "error": ("star-triangle-down", "var(--error-fill)"),
    "flaky": ("diamond", "var(--flaky-fill)"),
    "other": ("line-ew-open", "var(--skip)"),
}

_TICK = 28  # letters of a name on an axis

AXIS: Figure = {
    "gridcolor": "rgba(128,136,150,0.22)",
    "linecolor": "rgba(128,136,150,0.4)",
    "color": "var(--muted)",
    "zeroline": False,
    "automargin": True,
}


def health(failing: Sequence[TrendPoint], rate: Sequence[TrendPoint]) -> Figure:
    """The pass rate a day as a line, and below it the failing tests as bars."""
    dates = [point.date.isoformat() for point in failing]
    bars = {
        "type": "bar",
        "name": "failing tests",
        "x": dates,
        "y": [point.value for point in failing],
        "marker": {"color": "var(--fail-fill)"},
        "hovertemplate": "%{y:,.0f} failing tests<extra></extra>",
    }
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "pass rate",
        "x": dates,
        "y": [point.value for point in rate],
        "yaxis": "y2",
        "connectgaps": True,
        "line": {"color": "var(--pass-fill)", "width": 2},
        "marker": {"size": 5},
        "hovertemplate": "%{y:.2%} pass rate<extra></extra>",
    }
    known = [point.value for point in rate if point.value is not None]
    low = min([*known, 0.98])
    above = {
        "domain": [0.56, 1],
        "range": [max(0.0, low - (1 - low) * 0.25), 1 + (1 - low) * 0.15],
        "tickformat": ".1%",
        "nticks": 4,
    }
    below = {"domain": [0, 0.44], "rangemode": "tozero", "nticks": 4}
    return _figure([line, bars], yaxis2=AXIS | above, yaxis=below)


def journey(points: Sequence[JourneyPoint]) -> Figure:
    """The failing tests of each run of the default branch, and what took them away."""
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "failing tests",
        "x": [point.at.isoformat() for point in points],
        "y": [point.failing for point in points],
        "text": [_landed(point) for point in points],
        "line": {"color": "var(--fail-fill)", "width": 2, "shape": "hv"},
        "marker": {"size": 5},
        "hovertemplate": "%{y:,} failing tests%{text}<extra></extra>",
    }
    earned = [point for point in points if point.gone and point.pull]
    fixes = {
        "type": "scatter",
        "mode": "markers+text",
        "name": "a fix landed",
        "x": [point.at.isoformat() for point in earned],
        "y": [point.failing for point in earned],
        "text": [f"#{point.pull} −{point.gone}" for point in earned],
        "textposition": "top right",
        "marker": {"size": 10, "symbol": "diamond", "color": "var(--pass-fill)"},
        "hoverinfo": "skip",
    }
    return _figure([line, fixes], yaxis={"rangemode": "tozero", "nticks": 5})


def _landed(point: JourneyPoint) -> str:
    if point.pull is not None:
        return f", #{point.pull} landed"
    return f", {len(point.among)} pull requests landed" if point.among else ""


def durations_by_day(p50: Sequence[TrendPoint], p95: Sequence[TrendPoint]) -> Figure:
    """The suite's duration a day: half of the runs are below p50, 95 % below p95."""
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": [point.date.isoformat() for point in points],
            "y": [point.value for point in points],
            "connectgaps": True,
            "line": {"color": colour, "width": 2, "dash": dash},
            "marker": {"size": 5, "symbol": symbol},
            "hovertemplate": "%{y:,.1f} s " + name + "<extra></extra>",
        }
        for name, points, colour, dash, symbol in (
            ("p95", p95, "var(--flaky-fill)", "dot", "diamond"),
            ("p50", p50, "var(--accent)", "solid", "circle"),
        )
    ]
    return _figure(
        traces, yaxis={"rangemode": "tozero", "ticksuffix": " s", "nticks": 6}
    )


def durations_of_test(cells: Sequence[HistoryCell], urls: Sequence[str]) -> Figure:
    """A test's duration in each run, marked by outcome; a click opens the run."""
    kinds: dict[str, list[int]] = {kind: [] for kind in _MARKERS}
    for index, cell in enumerate(cells):
        if cell.duration_s is not None:
            kinds[_kind(cell)].append(index)
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": kind,
            "x": [cells[index].started_at.isoformat() for index in indices],
            "y": [cells[index].duration_s for index in indices],
            "text": [cells[index].run_name for index in indices],
            "customdata": [urls[index] for index in indices],
            "marker": {"symbol": symbol, "color": colour, "size": 8},
            "hovertemplate": "%{y:.3f} s, " + kind + "<br>%{text}<extra></extra>",
        }
        for kind, indices in kinds.items()
        if indices
        for symbol, colour in [_MARKERS[kind]]
    ]
    axis = {"rangemode": "tozero", "ticksuffix": " s", "nticks": 6}
    return _figure(traces, yaxis=axis, hovermode="closest")


def leak_map(drawn: LeakMap, urls: Sequence[str]) -> Figure:
    """Leakers down, victims across; each cell the belief that one breaks the other.

    `urls` are of the cells, in their order; a click opens the evidence.
    """
    rows, columns = len(drawn.leakers), len(drawn.victims)
    shape = [[None] * columns for _ in range(rows)]
    z: list[list[float | None]] = [list(row) for row in shape]
    said: list[list[str | None]] = [list(row) for row in shape]
    links: list[list[str | None]] = [list(row) for row in shape]
    for cell, url in zip(drawn.cells, urls, strict=True):
        z[cell.row][cell.column] = round(cell.pair.posterior, 4)
        said[cell.row][cell.column] = (
            f"{cell.leaker.nodeid}<br>breaks {cell.pair.nodeid}"
        )
        links[cell.row][cell.column] = url
    trace = {
        "type": "heatmap",
        "z": z,
        "text": said,
        "customdata": links,
        "zmin": 0,
        "zmax": 1,
        "xgap": 2,
        "ygap": 2,
        "hoverongaps": False,
        "colorscale": [[0, "var(--flaky-soft)"], [1, "var(--fail-fill)"]],
        "colorbar": {"thickness": 10, "tickformat": ".0%", "outlinewidth": 0},
        "hovertemplate": "%{text}<br>%{z:.1%} of the belief<extra></extra>",
    }
    ticks = {"showgrid": False, "type": "linear", "tickmode": "array"}
    return _figure(
        [trace],
        xaxis=ticks | _named(drawn.victims) | {"tickangle": -40},
        yaxis=ticks | _named(drawn.leakers) | {"autorange": "reversed"},
        height=150 + 26 * max(rows, 3),
        hovermode="closest",
    )


def _named(sides: Sequence[Side]) -> Figure:
    """Name the places of an axis; equal short names stay apart, as places are numbers."""
    names = [split_nodeid(side.nodeid)[1].lstrip(":/") for side in sides]
    short = [name if len(name) <= _TICK else f"{name[: _TICK - 1]}…" for name in names]
    return {"tickvals": list(range(len(sides))), "ticktext": short}


def _kind(cell: HistoryCell) -> str:
    if cell.flaky:
        return "flaky"
    return cell.outcome if cell.outcome in _MARKERS else "other"


def _figure(traces: list[Figure], **layout: Any) -> Figure:  # Any: plotly's layout
    """Build, and so check, a figure; all figures share one quiet look."""
    plain = _checkable(traces), _checkable(layout)
    go.Figure(data=plain[0], layout=plain[1])
    shared = {
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {
            "family": "system-ui, sans-serif",
            "size": 12,
            "color": "var(--muted)",
        },
        "hovermode": "x unified",
        "hoverlabel": {"bgcolor": "var(--surface)", "bordercolor": "var(--line)"},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "xaxis": AXIS | {"showgrid": False, "type": "date"} | layout.pop("xaxis", {}),
        "yaxis": AXIS | layout.pop("yaxis", {}),
        "bargap": 0.35,
        "dragmode": False,
    }
    return {"data": traces, "layout": shared | layout}


def _checkable(value: Any) -> Any:  # Any: plotly's figures
    """Return a figure with plain colours, as plotly knows no custom properties."""
    if isinstance(value, dict):
        return {key: _checkable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_checkable(item) for item in value]
    if isinstance(value, str) and value.startswith("var("):
        return "black"
    return value
