"""Keeping the two ends of a text that may be of any length.

Guarantees: memory stays within the limit however much is added; what is left out is
said in the text, with the original length.
"""

from __future__ import annotations

from collections import deque


class Clip:
    """A text under construction, of which head and tail are kept."""

    __slots__ = ("_head", "_head_room", "_tail", "_tail_length", "length", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.length = 0
        self._head: list[str] = []
        self._head_room = limit // 2
        self._tail: deque[str] = deque()
        self._tail_length = 0

    def add(self, data: str) -> None:
        size = len(data)
        self.length += size
        if self._head_room:
            if size <= self._head_room:
                self._head.append(data)
                self._head_room -= size
                return
            self._head.append(data[: self._head_room])
            data = data[self._head_room :]
            self._head_room = 0
        self._tail.append(data)
        self._tail_length += len(data)
        room = self.limit - self.limit // 2
        while self._tail_length - len(self._tail[0]) >= room:
            self._tail_length -= len(self._tail.popleft())

    def text(self) -> str:
        head, tail = "".join(self._head), "".join(self._tail)
        if self.length <= self.limit:
            return head + tail
        tail = tail[-(self.limit - self.limit // 2) :]
        left_out = self.length - len(head) - len(tail)
        return (
            f"{head}\n[… {left_out:,} of {self.length:,} characters left out …]\n{tail}"
        )


def clip(text: str, limit: int) -> str:
    """Return the text, or its two ends with what was left out said between them."""
    if len(text) <= limit:
        return text
    kept = Clip(limit)
    kept.add(text)
    return kept.text()
