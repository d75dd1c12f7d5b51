"""How alike findings of one pull request are, and in what.

Guarantees: the same findings in any order give the same links; the number of pairs
looked at grows with the number of findings, not with its square.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from heapq import nsmallest
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from formats.reviews.words import LIGHT, spelling, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from formats.reviews.review import Finding

_FEW = 6
# A word that so many findings share joins none of them by itself.
MOST_SHARING = 24
_MOST_WORDS = 24  # of one title, the rarest, are looked up
# Alike: two thirds of the shorter title's weight, or two fifths of a lot of it.
_MOSTLY, _LEAST = 2 / 3, 1.0
_PARTLY, _A_LOT = 2 / 5, 2.4
_NAMED = 2.0  # stronger than any words

_TOKEN = re.compile(r"[\w./\\+@-]+")
_NAME_LIKE = re.compile(r"[./A-Z]")


@dataclass(frozen=True, slots=True)
class Link:
    """That two findings are near-duplicates; `left` < `right`."""

    left: str
    right: str
    strength: float
    why: str  # in words


def links(findings: Mapping[str, Finding]) -> list[Link]:
    """The near-duplicates among one pull request's findings, strongest first."""
    found: dict[tuple[str, str], Link] = {}
    keys = sorted(findings)
    for link in (*_named(findings, keys), *_alike(findings, keys)):
        pair = (link.left, link.right)
        if pair not in found and close(findings[link.left], findings[link.right]):
            found[pair] = link
    return sorted(
        found.values(), key=lambda each: (-each.strength, each.left, each.right)
    )


def close(left: Finding, right: Finding) -> bool:
    """Whether the severities are at most one step apart."""
    return abs(left.severity.step - right.severity.step) <= 1


def _named(findings: Mapping[str, Finding], keys: Sequence[str]) -> Iterator[Link]:
    """A title that names the file in which another finding lies."""
    paths: dict[str, dict[str, list[str]]] = {}
    for key in keys:
        path = findings[key].path
        paths.setdefault(path.rpartition("/")[2], {}).setdefault(path, []).append(key)
    for key in keys:
        for file in files_in(findings[key].title)[:_MOST_WORDS]:
            here = paths.get(file.rpartition("/")[2], {})
            fitting = [path for path in here if f"/{path}".endswith(f"/{file}")]
            # Several files of that name: which one is meant is not guessed.
            if len(fitting) != 1 or fitting[0] == findings[key].path:
                continue
            if len(here[fitting[0]]) > MOST_SHARING:
                continue
            for other in here[fitting[0]]:
                left, right = sorted((key, other))
                yield Link(left, right, _NAMED, f"one names {fitting[0]}")


def files_in(text: str) -> list[str]:
    """What may be a file's literal name, with as much of its path as is given."""
    tokens = (each.strip("./\\-").replace("\\", "/") for each in _TOKEN.findall(text))
    # Without dot, slash and capital ("run", "gate") it is a word of the language.
    return [each for each in dict.fromkeys(tokens) if _NAME_LIKE.search(each)]


def _alike(findings: Mapping[str, Finding], keys: Sequence[str]) -> Iterator[Link]:
    words = _weighed(findings, keys)
    totals = {key: sum(each.values()) for key, each in words.items()}
    for left, right in candidates(words, _by_severity(findings, keys)):
        if not close(findings[left], findings[right]):
            continue
        fewer, more = sorted((words[left], words[right]), key=len)
        shared = {word: fewer[word] for word in fewer if word in more}
        weight = sum(shared.values())
        share = weight / min(totals[left], totals[right])
        if (
            len(shared) == len(more)
            or (weight >= _LEAST and share >= _MOSTLY)
            or (weight >= _A_LOT and share >= _PARTLY)
        ):
            why = f"alike in {_spelled(shared, findings[left].title)}"
            yield Link(left, right, round(min(share, 1.0), 6), why)


def _weighed(
    findings: Mapping[str, Finding], keys: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Each title's words; one that most titles have is no rare word here."""
    words = {key: words_of(findings[key].title) for key in keys}
    sharing = Counter(word for each in words.values() for word in each)
    most = max(_FEW, len(keys) // 2)
    return {
        key: {
            word: weight if sharing[word] <= most else min(weight, LIGHT)
            for word, weight in each.items()
        }
        for key, each in words.items()
    }


def _spelled(shared: Mapping[str, float], title: str) -> str:
    """The rarest of the shared words, as one of the titles writes them."""
    written = spelling(title)
    rarest = sorted(shared, key=lambda word: (-shared[word], word))[:4]
    return ", ".join(written.get(word, word) for word in rarest)


def candidates(
    words: Mapping[str, Mapping[str, float]], keys: Sequence[str]
) -> set[tuple[str, str]]:
    """Pairs that share a rare word, and neighbours among those with equal words."""
    count = Counter(word for key in keys for word in words[key])
    by_word: dict[str, list[str]] = {}
    by_words: dict[frozenset[str], list[str]] = {}
    for key in keys:
        for word in nsmallest(_MOST_WORDS, words[key], key=lambda w: (count[w], w)):
            if count[word] <= MOST_SHARING:
                by_word.setdefault(word, []).append(key)
        if words[key]:
            by_words.setdefault(frozenset(words[key]), []).append(key)
    pairs: set[tuple[str, str]] = set()
    for sharing in by_word.values():
        pairs.update(combinations(sharing, 2))
    for equal in by_words.values():
        pairs.update(pairwise(equal))
    return {(min(pair), max(pair)) for pair in pairs}


def _by_severity(findings: Mapping[str, Finding], keys: Sequence[str]) -> list[str]:
    """So that neighbours are as close in severity as any."""
    return sorted(keys, key=lambda key: (findings[key].severity, key))
