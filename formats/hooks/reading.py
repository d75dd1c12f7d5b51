"""One delivery of either host, from its bytes to its facts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, BinaryIO

from formats.hooks import github, gitlab
from formats.hooks.facts import HookFacts

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.hooks.values import Json

_READERS: dict[str, Callable[[str, Json], HookFacts]] = {
    "github": github.read,
    "gitlab": gitlab.read,
}


def read_hook(kind: str, event: str, stream: BinaryIO) -> HookFacts:
    """Read a payload that was checked to be a JSON object when it came."""
    document = json.load(stream)
    return (
        _READERS[kind](event, document) if isinstance(document, dict) else HookFacts()
    )
