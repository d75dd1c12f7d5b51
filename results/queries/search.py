"""Search over tests, files, commits, pull requests and runs of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from results.queries.shapes import Hit


def search(project_id: int, text: str, *, limit: int = 20) -> list[Hit]:
    raise NotImplementedError
