"""CODEOWNERS: who owns a path, by the rules of the documented format.

Guarantees: the last rule that matches wins; a rule without owners takes them away; a
pattern matches as in a `.gitignore` file, but for `!`, `[ ]` and `\\#`, which the format
does not know: such lines are told as problems and skipped, as are owners that are no
`@name`, `@org/team` or e-mail address. Section headings of the other dialect
(`[Section]`, `^[Section]`, with default owners behind them) are read too: in each
section the last rule wins, and the owners of all sections together own the path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

MOST_BYTES = 3 * 1024 * 1024  # the documented limit of the file
_OWNER = re.compile(r"@[^\s@/]+(/[^\s@]+)*|@@[a-z]+|[^\s@]+@[^\s@]+\.[^\s@]+")
_SECTION = re.compile(r"\^?\[([^\]]+)\](?:\[\d+\])?(?:\s+(.*))?")
_MOST_DEEP = 4  # each may stand for any number of folders
_TOKEN = re.compile(r"(?:\\.|[^\s\\])+")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line: its pattern as written and who owns what it matches."""

    line: int
    pattern: str
    owners: tuple[str, ...]
    section: str = ""


@dataclass(frozen=True, slots=True)
class Odd:
    """A line that was skipped, or an owner on it."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Owners:
    """A file's rules in their order, and what in it makes no sense."""

    rules: tuple[Rule, ...] = ()
    odd: tuple[Odd, ...] = field(default=())

    def of(self, path: str) -> tuple[str, ...]:
        """Return who owns a path relative to the root; nobody: ()."""
        rule = self.rules_for(path)
        named = [owner for each in rule for owner in each.owners]
        return tuple(dict.fromkeys(named))

    def rules_for(self, path: str) -> tuple[Rule, ...]:
        """Return the rule that decides, of each section one."""
        clean = path.replace("\\", "/").removeprefix("./").strip("/")
        if not clean:
            return ()
        last: dict[str, Rule] = {}
        for rule in reversed(self.rules):
            if rule.section not in last and _compiled(rule.pattern).fullmatch(clean):
                last[rule.section] = rule
        return tuple(sorted(last.values(), key=lambda rule: rule.line))


def read_codeowners(text: str) -> Owners:
    """Read a file. Nothing in it is refused; what is odd is told with its line."""
    rules: list[Rule] = []
    odd: list[Odd] = []
    section = ""
    defaults: tuple[str, ...] = ()
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        line = _without_comment(raw).strip()
        if not line:
            continue
        heading = _SECTION.fullmatch(line)
        if heading:
            section = heading[1].strip().casefold()
            defaults = _owners((heading[2] or "").split(), number, odd)
            continue
        found = _TOKEN.findall(line)
        if not found:
            odd.append(Odd(number, "a backslash alone is no pattern"))
            continue
        pattern, *rest = found
        fault = _fault(pattern)
        if fault:
            odd.append(Odd(number, fault))
            continue
        owners = _owners(rest, number, odd)
        if rest and not owners:
            continue  # a line with nothing but wrong owners is skipped whole
        rules.append(Rule(number, pattern, owners or defaults, section))
    return Owners(tuple(rules), tuple(odd))


def _owners(words: list[str], line: int, odd: list[Odd]) -> tuple[str, ...]:
    named = []
    for word in words:
        if _OWNER.fullmatch(word):
            named.append(word)
        else:
            odd.append(Odd(line, f"{word[:80]!r} is no @name, @org/team or address"))
    return tuple(named)


def _without_comment(line: str) -> str:
    """A `#` begins a comment at the start of a line or after white space."""
    return re.sub(r"(^|(?<=\s))#.*$", "", line)


def _fault(pattern: str) -> str:
    if pattern.startswith("!"):
        return "a pattern cannot be negated with !"
    if "[" in pattern or "]" in pattern:
        return "ranges of characters, [ ], are not part of the format"
    if pattern.startswith("\\#"):
        return "a pattern cannot begin with an escaped #"
    if pattern.count("**") > _MOST_DEEP:
        return f"more than {_MOST_DEEP} times ** in one pattern"
    return ""


@lru_cache(maxsize=20_000)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern as an expression that whole paths are held against."""
    parts = pattern.strip("/").split("/")
    # A slash before its end ties a pattern to the root.
    anchored = "/" in pattern.rstrip("/")
    text = "" if anchored else _ANY_FOLDERS
    for part in parts[:-1]:
        text += _ANY_FOLDERS if part == "**" else f"{_segment(part)}/"
    last = parts[-1]
    if last == "**":
        text += ".+"
    else:
        text += _segment(last)
        if pattern.endswith("/"):
            text += "/.+"
        elif not (anchored and last == "*"):  # docs/* is not docs/a/b
            text += "(?:/.*)?"
    return re.compile(text, re.DOTALL)


_ANY_FOLDERS = "(?:[^/]+/)*"


def _segment(part: str) -> str:
    """Translate what stands between two slashes.

    Every star but the last takes the first place that fits, for good: it may never be
    tried again, so no pattern is slow.
    """
    between = [_literal(each) for each in re.split(r"(?<!\\)\*+", part)]
    if len(between) == 1:
        return between[0]
    middle = "".join(f"(?>[^/]*?{each})" for each in between[1:-1])
    return f"{between[0]}{middle}[^/]*{between[-1]}"


def _literal(text: str) -> str:
    plain = re.sub(r"\\(.)", r"\1", text) if "\\" in text else text
    if "?" not in text:
        return re.escape(plain)
    return "".join("[^/]" if char == "?" else re.escape(char) for char in plain)
