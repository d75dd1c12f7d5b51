"""A project's rules for the prefixes of paths and class names.

Guarantees: a prefix is stripped once, the longest that fits, and only whole parts of
a path or dotted name; a prefix to add is added only where it is missing, so the rules
may be applied to names that already follow them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IdentityRules:
    """A project's setting. A prefix ends at a separator, whether written or not.

    For pytest a path prefix and its dotted form are the same rule.
    """

    strip_path_prefixes: tuple[str, ...] = ()
    add_path_prefix: str = ""
    strip_classname_prefixes: tuple[str, ...] = ()
    add_classname_prefix: str = ""


class Prefixes:
    """The rules, ready for use."""

    def __init__(self, rules: IdentityRules) -> None:
        paths = [_ended(p.replace("\\", "/"), "/") for p in rules.strip_path_prefixes]
        names = [_ended(p, ".") for p in rules.strip_classname_prefixes]
        added_path = _ended(rules.add_path_prefix.replace("\\", "/"), "/")
        added_name = _ended(rules.add_classname_prefix, ".")
        self._path = _Rule(paths, added_path)
        self._classname = _Rule(names, added_name)
        self._dotted = _Rule(
            [*names, *(path.replace("/", ".") for path in paths)],
            added_name or added_path.replace("/", "."),
        )
        self._pytest_path = _Rule(
            [name.replace(".", "/") for name in names], added_name.replace(".", "/")
        )

    def path(self, path: str) -> str:
        return self._path.apply(path)

    def classname(self, classname: str) -> str:
        return self._classname.apply(classname)

    def dotted(self, dotted: str) -> str:
        """pytest's dotted form of a file and its classes."""
        return self._dotted.apply(dotted)

    def pytest_path(self, path: str) -> str:
        """A path that already followed the path rules, by the rules for classes."""
        return self._pytest_path.apply(path)


class _Rule:
    def __init__(self, strip: list[str], add: str) -> None:
        self._strip = sorted({prefix for prefix in strip if prefix}, key=len)[::-1]
        self._add = add

    def apply(self, text: str) -> str:
        if not text:
            return text
        for prefix in self._strip:
            if text.startswith(prefix) and len(text) > len(prefix):
                text = text[len(prefix) :]
                break
        if self._add and not text.startswith(self._add):
            text = self._add + text
        return text


def _ended(prefix: str, separator: str) -> str:
    prefix = prefix.strip()
    return prefix if not prefix or prefix.endswith(separator) else prefix + separator
