"""Making almost-XML readable, piece by piece.

Guarantees: each character that XML forbids, written plainly or as a reference, becomes
U+FFFD and is counted by name; `]]>` and `&` that somebody forgot to escape mean
themselves; nothing else changes, so that every line stays where it is, and `Cleaner`
knows by how much a column moved. Memory does not grow with the text.
"""

from __future__ import annotations

import re
from collections import Counter, deque

from formats.report import Note

REPLACEMENT = "\ufffd"
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TOKEN = re.compile(
    r"<!\[CDATA\[|\]\]>|<!--|-->|&(?!(?:amp|lt|gt|quot|apos);)"
    r"(?:#(?P<number>[0-9]{1,12}|x[0-9A-Fa-f]{1,8});)?"
)
# The start of a token that the next piece may complete.
_UNFINISHED = re.compile(
    r"(?:&#?[0-9A-Za-z]{0,13}|<(?:!(?:\[C?D?A?T?A?|-)?)?|\]+|-+)\Z"
)
_C0 = [
    *("NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL"),
    *("BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI"),
    *("DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB"),
    *("CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US"),
]
_NAMED = 8  # characters that a note names before it only counts them
_SHIFTS = 1000  # places of moved columns that are remembered


class Cleaner:
    """Cleans the text of one document; the counts go on over several."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self.markup_repairs = 0
        self._carry = ""
        self._open = ""  # "]]>" inside a CDATA section, "-->" inside a comment
        self._line = 0
        self._column = 0
        self._text = ""  # the last piece, and what was counted before it
        self._before: tuple[Counter[str], str] = (Counter(), "")
        self._moves: list[tuple[int, int]] = []
        self._shifts: deque[tuple[int, int, int]] = deque(maxlen=_SHIFTS)

    def clean(self, text: str, *, last: bool = False) -> str:
        """Return the next piece, clean; a token cut at its end waits for the next."""
        self._before = (self._counts.copy(), self._open)
        self._moves.clear()
        text = self._text = self._carry + text
        self._carry = ""
        if not last and (cut := _UNFINISHED.search(text, max(0, len(text) - 16))):
            text, self._carry = text[: cut.start()], text[cut.start() :]
        at = 0
        while match := _ILLEGAL.search(text, at):
            # One sweep a kind: terminal output has few kinds and millions of them.
            self._counts[_name(match[0])] += text.count(match[0])
            text = text.replace(match[0], REPLACEMENT)
            at = match.start()
        if "&" in text or "]]>" in text or self._open or "<!" in text:
            return self._clean_markup(text)
        self._advance(text)
        return text

    def give_back(self, kept: int) -> str:
        """Return the last piece as it was, but for its first characters.

        They count in the cleaned text; what is given back was not replaced.
        """
        moved = sum(delta for place, delta in self._moves if place <= kept)
        counts, self._open = self._before
        self._counts.clear()
        self._counts.update(counts)
        text, self._carry = self._text, ""
        self.clean(text[: kept + moved], last=True)
        return text[kept + moved :]

    def _clean_markup(self, text: str) -> str:
        pieces: list[str] = []
        done = length = 0
        for match in _TOKEN.finditer(text):
            found = match[0]
            if self._open:
                if found == self._open:
                    self._open = ""
                continue
            if found in ("<![CDATA[", "<!--"):
                self._open = "]]>" if found == "<![CDATA[" else "-->"
                continue
            replaced = self._replace(match)
            if replaced != found:
                self.markup_repairs += 1
                pieces += (text[done : match.start()], replaced)
                self._advance(text[done : match.start()])
                self._column += len(replaced)
                length += match.start() - done + len(replaced)
                delta = len(found) - len(replaced)
                self._shifts.append((self._line, self._column, delta))
                self._moves.append((length, delta))
                done = match.end()
        self._advance(text[done:])
        return "".join((*pieces, text[done:])) if pieces else text

    def _replace(self, match: re.Match[str]) -> str:
        found, number = match[0], match["number"]
        if found == "]]>":
            self._counts["unescaped ]]>"] += 1
            return "]]&gt;"
        if found == "&":
            self._counts["unescaped &"] += 1
            return "&amp;"
        if number is None:
            return found
        code = int(number[1:], 16) if number[0] == "x" else int(number)
        if code > 0x10FFFF or _ILLEGAL.match(chr(code)):
            self._counts[f"reference {found}"] += 1
            return REPLACEMENT
        return found

    def _advance(self, text: str) -> None:
        """Follow line and column of the cleaned text, both from 0."""
        lines = text.count("\n")
        if lines:
            self._line += lines
            self._column = len(text) - text.rfind("\n") - 1
        else:
            self._column += len(text)

    def original_column(self, line: int, column: int) -> int:
        """Return where a column of the cleaned text was before, both from 0."""
        return column + sum(
            delta for at, place, delta in self._shifts if at == line and place <= column
        )


def _name(character: str) -> str:
    code = ord(character)
    if code < len(_C0):
        return f"{_C0[code]} (U+{code:04X})"
    if 0xDC80 <= code <= 0xDCFF:
        return f"byte 0x{code - 0xDC00:02X}"
    return f"U+{code:04X}"


def replacement_notes(counts: Counter[str]) -> list[Note]:
    """Say which characters were replaced, and how often each."""
    unescaped = {key: n for key, n in counts.items() if key.startswith("unescaped")}
    bad_bytes = {key: n for key, n in counts.items() if key.startswith("byte")}
    references = {key: n for key, n in counts.items() if key.startswith("reference")}
    others = {
        key: n
        for key, n in counts.items()
        if key not in unescaped and key not in bad_bytes and key not in references
    }
    told = (
        ("control-characters", "characters that XML forbids became U+FFFD", others),
        ("illegal-references", "references that XML forbids became U+FFFD", references),
        ("invalid-bytes", "bytes that are not UTF-8 became U+FFFD", bad_bytes),
        (
            "unescaped-markup",
            "markup that should be escaped was read as text",
            unescaped,
        ),
    )
    return [Note(code, f"{text}: {_listed(some)}") for code, text, some in told if some]


def _listed(counts: dict[str, int]) -> str:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    text = ", ".join(f"{name} ×{number:,}" for name, number in ranked[:_NAMED])
    others = sum(number for _name, number in ranked[_NAMED:])
    return f"{text} and {others:,} others" if others else text
