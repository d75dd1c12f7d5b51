"""The icons, as paths in a box of 16 × 16, drawn with the colour of the text."""

from __future__ import annotations

# Each outcome has its own shape, so that colour is never the only sign.
PATHS: dict[str, str] = {
    "passed": "M3 8.5 6.5 12 13 4.5",
    "failed": "M4 4l8 8M12 4l-8 8",
    "error": "M8 2.5v7M8 12.9v.2",
    "skipped": "M3 8h10",
    "xfailed": "M3 10.5l3-3 3 3 4-4.5",
    "xpassed": "M2.5 8.5 5 11l5-6M8.5 11l5-6",
    "flaky": "M2 9.5c2-5 4-5 6 0s4 5 6 0",
    "incomplete": "M8 2.5a5.5 5.5 0 1 0 5.5 5.5",
    "damaged": "M8 2 14.5 13.5h-13ZM8 6.5v3M8 11.6v.2",
    "no_results": "M3.5 12.5l9-9M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11",
    "waiting": "M8 4.5V8l2.5 1.5M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2",
    "search": "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.5 10.5l3 3",
    "copy": "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
    "download": "M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
    "link": "M6 10l4-4M7 4.5l1-1a3 3 0 0 1 4.5 4.5l-1 1M9 11.5l-1 1A3 3 0 0 1 3.5 8l1-1",
    "retry": "M13 8a5 5 0 1 1-1.6-3.7M13.5 2v3h-3",
    "branch": "M4.5 4.5v7M4.5 2.5a1 1 0 1 1 0 2 1 1 0 0 1 0-2M4.5 11.5a1 1 0 1 1 0 2 1 1 0 0 1 0-2M11.5 3.5a1 1 0 1 1 0 2 1 1 0 0 1 0-2M11.5 5.5c0 3-7 2-7 5",
    "lock": "M4 7.5h8v6H4zM5.5 7.5v-2a2.5 2.5 0 0 1 5 0v2",
    "public": "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2M2 8h12M8 2c3.5 3.5 3.5 8.5 0 12M8 2c-3.5 3.5-3.5 8.5 0 12",
    "next": "M6 3.5 10.5 8 6 12.5",
    "previous": "M10 3.5 5.5 8 10 12.5",
    "inbox": "M2 9.5 4 3.5h8l2 6v4H2zM2 9.5h3.5l1 1.5h3l1-1.5H14",
}
