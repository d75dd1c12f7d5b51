"""What a pull request's texts say of others: the dependency phrases.

Guarantees: exactly the phrases of the table below, in any case; several numbers in one
phrase count each; text in parentheses, and a number after a word other than PR, MR,
pull request, and, or, is skipped; a later phrase wins over an earlier one; no number is
an edge to itself. Pure: texts in, edges out.

    blocked on/by, depends on, waiting for/on, stacked on      this → N, blocking
    needs, requires (only directly before the number)          this → N, blocking
    land/merge #N first, land/merge/rebase after #N,
    after #N lands/merges                                      this → N, blocking
    blocks #N                                                  N → this, blocking
    companion to, related to, see also, supersedes, replaces,
    dropped in favour of                                       this – N, related
    not blocked on …, no longer depends on …, unblocked        takes the edge away
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from formats.phrase_tokens import Reference, Token, Type, tokens_of
from formats.prose import paragraphs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

MOST_EDGES = 500


class Kind(StrEnum):
    BLOCKING = "blocking"
    RELATED = "related"


@dataclass(frozen=True, slots=True)
class Edge:
    """`reverse`: the other one waits for this. `phrase` is what declared it."""

    to: Reference
    kind: Kind
    reverse: bool = False
    phrase: str = ""


class _Phrase(NamedTuple):
    words: tuple[str, ...]
    kind: Kind
    reverse: bool = False
    direct: bool = False  # only right before the number


class _Said(NamedTuple):
    """One phrase with its numbers; `ref` None of a removal means all of them."""

    ref: Reference | None
    kind: Kind
    reverse: bool
    phrase: str
    removes: bool = False


_B, _R = Kind.BLOCKING, Kind.RELATED
_PHRASES = (
    _Phrase(("blocked", "on"), _B),
    _Phrase(("blocked", "by"), _B),
    _Phrase(("depends", "on"), _B),
    _Phrase(("waiting", "for"), _B),
    _Phrase(("waiting", "on"), _B),
    _Phrase(("stacked", "on"), _B),
    _Phrase(("land", "after"), _B),
    _Phrase(("merge", "after"), _B),
    _Phrase(("rebase", "after"), _B),
    _Phrase(("needs",), _B, direct=True),
    _Phrase(("requires",), _B, direct=True),
    _Phrase(("blocks",), _B, reverse=True),
    _Phrase(("dropped", "in", "favour", "of"), _R),
    _Phrase(("dropped", "in", "favor", "of"), _R),
    _Phrase(("companion", "to"), _R),
    _Phrase(("related", "to"), _R),
    _Phrase(("see", "also"), _R),
    _Phrase(("supersedes",), _R),
    _Phrase(("replaces",), _R),
)
_BY_FIRST: dict[str, list[_Phrase]] = {}
for _one in _PHRASES:
    _BY_FIRST.setdefault(_one.words[0], []).append(_one)
_LANDING = frozenset({"land", "merge"})
_LANDS = frozenset({"lands", "merges", "land", "merge"})  # of one, of several
_LINKING = frozenset({"and", "or"})
_NAMING = frozenset({"pr", "prs", "mr", "mrs"})
_REQUEST = frozenset({"request", "requests"})
_PULL = frozenset({"pull", "merge"})
_AFTER_UNBLOCKED = frozenset({"now", "again"})
_NOT = frozenset({"not", "never", "cannot"})


def read_edges(
    texts: Iterable[str], *, number: int, own: Collection[str] = ()
) -> list[Edge]:
    """Return the edges that a pull request's texts declare, in order.

    `texts` are its title, body and comments, the oldest first; `own` are the names
    of its repository, under which a full reference is one of its own numbers.
    """
    names = {name.casefold() for name in own}
    edges: dict[tuple[Reference, Kind, bool], Edge] = {}
    for text in texts:
        for said in _sayings(text):
            if said.ref is None:
                for key in [k for k in edges if k[1] is _B and not k[2]]:
                    del edges[key]
                continue
            ref = said.ref
            if ref.repository.casefold() in names:
                ref = Reference("", ref.number)
            if ref == Reference("", number):
                continue
            key = (ref, said.kind, said.reverse)
            if said.removes:
                edges.pop(key, None)
            elif key not in edges and len(edges) < MOST_EDGES:
                edges[key] = Edge(ref, said.kind, said.reverse, said.phrase)
    return list(edges.values())


def _sayings(text: str) -> Iterator[_Said]:
    """Yield what one text says, in its order."""
    announced: list[tuple[_Phrase, bool]] = []  # by a line that ends with the phrase
    for paragraph in paragraphs(text):
        tokens = tokens_of(paragraph.text)
        if paragraph.bullet and announced:
            yield from _entry(tokens, announced[-1])
        else:
            announced = []
        last: tuple[_Phrase, bool] | None = None
        for segment in _segments(tokens):
            for said, open_phrase in _read(segment):
                if said is not None:
                    yield said
                last = open_phrase
        if last is not None:
            announced = [last]


def _segments(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield sentences without what is in parentheses, and that for itself."""
    depths = _depths(tokens)
    current: dict[int, list[Token]] = {}
    for token, depth in zip(tokens, depths, strict=True):
        if token.type is Type.OPEN:
            if depth:
                current[depth] = []
            continue
        if token.type is Type.CLOSE:
            if depth and current.get(depth):
                yield current.pop(depth)
            continue
        if token.type is Type.END:
            if current.get(depth):
                yield current.pop(depth)
            continue
        current.setdefault(depth, []).append(token)
    for depth in sorted(current):
        if current[depth]:
            yield current[depth]


def _depths(tokens: Sequence[Token]) -> list[int]:
    """Return how deep each token is in parentheses; a lonely one has depth 0."""
    partner: dict[int, int] = {}
    waiting: list[int] = []
    for place, token in enumerate(tokens):
        if token.type is Type.OPEN:
            waiting.append(place)
        elif token.type is Type.CLOSE and waiting:
            partner[waiting.pop()] = place
    closing = set(partner.values())
    depths, depth = [], 0
    for place in range(len(tokens)):
        depth += place in partner
        lonely = tokens[place].type in (Type.OPEN, Type.CLOSE) and not (
            place in partner or place in closing
        )
        depths.append(0 if lonely else depth)
        depth -= place in closing
    return depths


type _Open = tuple[_Phrase, bool]


def _read(tokens: Sequence[Token]) -> Iterator[tuple[_Said | None, _Open | None]]:
    """Yield each saying of a sentence; beside it the phrase that ends the sentence."""
    place = 0
    while place < len(tokens):
        phrase = _phrase_at(tokens, place)
        if phrase is not None:
            negated = _negated(tokens, place)
            start = place + len(phrase.words)
            stop = _reach(tokens, start)
            if start == len(tokens):
                yield None, (phrase, negated)
            for ref in _numbers(tokens, start, stop, direct=phrase.direct):
                words = " ".join(phrase.words)
                yield _Said(ref, phrase.kind, phrase.reverse, words, negated), None
            place = max(start, place + 1)
            continue
        for said in _landing(tokens, place):
            yield said, None
        if tokens[place].text == "unblocked" and not _negated(tokens, place):
            for said in _unblocked(tokens, place):
                yield said, None
        place += 1


def _entry(tokens: Sequence[Token], announced: _Open) -> Iterator[_Said]:
    """Yield what an entry says of a list that a phrase announced."""
    phrase, negated = announced
    depths = _depths(tokens)
    first = [t for t, depth in zip(tokens, depths, strict=True) if not depth]
    ends = [n for n, token in enumerate(first) if token.type is Type.END]
    first = first[: ends[0]] if ends else first
    for ref in _numbers(first, 0, _reach(first, 0), direct=True):
        words = " ".join(phrase.words)
        yield _Said(ref, phrase.kind, phrase.reverse, words, negated)


def _phrase_at(tokens: Sequence[Token], place: int) -> _Phrase | None:
    if tokens[place].type is not Type.WORD:
        return None
    for phrase in _BY_FIRST.get(tokens[place].text, ()):
        words = tokens[place : place + len(phrase.words)]
        if tuple(token.text for token in words) == phrase.words:
            return phrase
    return None


def _reach(tokens: Sequence[Token], start: int) -> int:
    """Return where the next phrase begins."""
    for place in range(start, len(tokens)):
        if _phrase_at(tokens, place) or tokens[place].text == "unblocked":
            return place
    return len(tokens)


def _numbers(
    tokens: Sequence[Token], start: int, stop: int, *, direct: bool
) -> Iterator[Reference]:
    """Yield the numbers of a phrase that stands before `start`."""
    for place in range(start, stop):
        token = tokens[place]
        if token.ref is not None:
            if _counts(tokens, start, place):
                yield token.ref
        elif direct and not _links(tokens, start, place):
            return


def _counts(tokens: Sequence[Token], start: int, place: int) -> bool:
    """Tell whether the word before a number lets it count."""
    return place == start or _links(tokens, start, place - 1)


def _links(tokens: Sequence[Token], start: int, place: int) -> bool:
    token = tokens[place]
    if token.type is Type.REF or token.text in _LINKING | _NAMING:
        return True
    if token.text in _REQUEST:
        return place > start and tokens[place - 1].text in _PULL
    following = tokens[place + 1].text if place + 1 < len(tokens) else ""
    return token.text in _PULL and following in _REQUEST


def _negated(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether the words before a phrase turn it round."""
    before = [token.text for token in tokens[max(0, place - 2) : place]]
    if not before:
        return False
    last = before[-1]
    return last in _NOT or last.endswith("n't") or before == ["no", "longer"]


def _landing(tokens: Sequence[Token], place: int) -> Iterator[_Said]:
    """Yield `land #N first` and `after #N lands`, with any list of numbers."""
    word = tokens[place].text
    if tokens[place].type is not Type.WORD or word not in _LANDING | {"after"}:
        return
    end = place + 1
    while end < len(tokens) and _links(tokens, place + 1, end):
        if tokens[end].text in _LANDING and tokens[end].type is Type.WORD:
            following = tokens[end + 1].text if end + 1 < len(tokens) else ""
            if following not in _REQUEST:
                break
        end += 1
    if end >= len(tokens) or tokens[end].type is not Type.WORD:
        return
    wanted = _LANDS if word == "after" else {"first"}
    if tokens[end].text not in wanted:
        return
    negated = _negated(tokens, place)
    phrase = f"{word} … {tokens[end].text}"
    for token in tokens[place + 1 : end]:
        if token.ref is not None:
            yield _Said(token.ref, _B, reverse=False, phrase=phrase, removes=negated)


def _unblocked(tokens: Sequence[Token], place: int) -> Iterator[_Said]:
    """Yield what `unblocked` takes away: its numbers, or all that was said before."""
    start = place + 1
    if start < len(tokens) and tokens[start].text in {"from", "on", "by"}:
        start += 1
    named = list(_numbers(tokens, start, _reach(tokens, start), direct=True))
    for ref in named:
        yield _Said(ref, _B, reverse=False, phrase="unblocked", removes=True)
    rest = [token.text for token in tokens[place + 1 :]]
    before = tokens[place - 1].text if place else ""
    if not named and set(rest) <= _AFTER_UNBLOCKED and before != "be":
        yield _Said(None, _B, reverse=False, phrase="unblocked", removes=True)
