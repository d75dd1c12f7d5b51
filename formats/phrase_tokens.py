"""The words, numbers and sentence ends of a text, for the phrases in it.

Guarantees: a number is one that names a pull request (`#1`, `!1`, `owner/repo#1`, or
the address of one), and no part of another word; time grows with the length alone.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

MOST_NUMBER = 2**31 - 1


class Reference(NamedTuple):
    """A pull request by its number; `repository` is empty for the text's own."""

    repository: str
    number: int

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}" if self.repository else str(self[1])


class Type(StrEnum):
    WORD = "word"
    REF = "ref"
    END = "end"  # of a sentence
    OPEN = "("
    CLOSE = ")"


class Token(NamedTuple):
    type: Type
    text: str
    ref: Reference | None = None


_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_TOKEN = re.compile(
    r"""(?P<url>https?://[^\s()<>\[\]"']+)
    | (?<![\w&\#!])(?<![^\d]/)[#!](?P<number>\d{1,10})(?![\w-])
    | (?P<word>[^\W_][\w'’]*(?:\.\w+)*)
    | (?P<end>[.!?;]+(?=\s|$)|[.!?;]+(?=["')\]*_]))
    | (?P<open>\() | (?P<close>\)) | (?P<other>\ufffc)""",
    re.VERBOSE,
)
_REPO_REF = re.compile(
    rf"(?<![\w/.#@-])({_NAME}(?:/{_NAME})+)[#!](\d{{1,10}})(?![\w-])"
)
_PULL_URL = re.compile(
    rf"https?://[^/\s]+/({_NAME}(?:/{_NAME})+?)(?:/-)?"
    r"/(?:pull|pulls|merge_requests|issues)/(\d{1,10})(?![\w-])"
)


def tokens_of(text: str) -> list[Token]:
    tokens = []
    at = 0
    while found := _next(text, at):
        token, at = found
        tokens.append(token)
    return tokens


def _next(text: str, at: int) -> tuple[Token, int] | None:
    found = _TOKEN.search(text, at)
    if found is None:
        return None
    # Before all else: a word would take the start of a repository's name.
    named = _REPO_REF.match(text, found.start())
    if named:
        return _reference(named[1], named[2], named[0]), named.end()
    if found["url"]:
        pull = _PULL_URL.match(found["url"])
        if pull:
            return _reference(pull[1], pull[2], pull[0]), found.end()
        return Token(Type.WORD, "url"), found.end()
    if found["number"]:
        return _reference("", found["number"], found[0]), found.end()
    kinds = {"end": Type.END, "open": Type.OPEN, "close": Type.CLOSE}
    for name, kind in kinds.items():
        if found[name]:
            return Token(kind, found[0]), found.end()
    word = (found["word"] or found["other"]).casefold().replace("’", "'")
    return Token(Type.WORD, word), found.end()


def _reference(repository: str, digits: str, text: str) -> Token:
    number = int(digits)
    if not 0 < number <= MOST_NUMBER:
        return Token(Type.WORD, text)
    return Token(Type.REF, text, Reference(repository, number))
