"""The files of one process: its order trace and its leaks, whole after each test.

Guarantees: a line is in the file before the next test begins, and the file of leaks is
a valid document after each of them; a process that is killed loses the running test
and nothing else. Two processes never write into one file.
"""

from __future__ import annotations

import json
import os
from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING

from healthboard_client.plugin.leaks import SCHEMA

if TYPE_CHECKING:
    from io import RawIOBase

    from healthboard_client.plugin.leaks import Leak
    from healthboard_client.plugin.options import Options
    from healthboard_client.plugin.trace import Attempt

_END = b"\n]}\n"


class Records:
    """Where one process writes."""

    def __init__(self, options: Options, worker: str) -> None:
        self.pid = os.getpid()
        self._directory = options.directory
        self._name = f"{options.session}-{worker}-{self.pid}"
        gates = options.gates
        self._gate = gates[0] if len(gates) == 1 else "healthboard"
        self._order: RawIOBase | None = None
        self._leaks: RawIOBase | None = None
        self._told = 0
        self._middle = f'"worker": {quoted(worker)}, "pid": '

    def started(self) -> RawIOBase:
        """Make the file of the order, so that it tells the process of a crash."""
        if self._order is None:
            self._order = self._file("order", "jsonl")
        return self._order

    def write_attempt(self, attempt: Attempt) -> None:
        outcome, phase = attempt.outcome()
        if not outcome:  # interrupted: it began, and did not end
            return
        line = (
            f'{{"v": 1, "test": {quoted(attempt.nodeid)}, {self._middle}'
            f'{attempt.pid}, "position": {attempt.position}, '
            f'"start": {attempt.start:.6f}, "duration": {attempt.duration:.6f}, '
            f'"outcome": "{outcome}", "phase": "{phase}"}}\n'
        )
        self.started().write(line.encode())

    def write_leak(self, leak: Leak) -> None:
        if self._leaks is None:
            self._leaks = self._file("gate", "json")
            head = json.dumps({"schema": SCHEMA, "gate": self._gate})[:-1]
            self._leaks.write(head.encode() + b', "leaks": [' + _END)
        self._leaks.seek(-len(_END), os.SEEK_END)
        comma = b",\n" if self._told else b"\n"
        self._leaks.write(comma + json.dumps(leak.as_json()).encode() + _END)
        self._told += 1

    def close(self) -> None:
        for file in (self._order, self._leaks):
            if file is not None:
                file.close()
        self._order = self._leaks = None

    def _file(self, kind: str, suffix: str) -> RawIOBase:
        self._directory.mkdir(parents=True, exist_ok=True)
        path = self._directory / f"{kind}-{self._name}.{suffix}"
        # Unbuffered: a process that dies takes no line with it.
        return path.open("w+b", buffering=0)
