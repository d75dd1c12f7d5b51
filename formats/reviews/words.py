"""The words of a title, and how rare each is.

Guarantees: a dotted name is one word; words that any review uses weigh nothing or
little; singular and plural, and the endings of one verb, are the same word.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"\w+(?:(?:\.|::)\w+)*")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b|(?<=\w)n['’]t\b")
_CAMEL = re.compile(r"[a-z0-9][A-Z]")

_STOP_WORDS = """
a about above after again all already also although always an and any are as at be
because been before being below between both but by can cannot could did do does
doing done down during each either else even ever every few for from further get
gets given goes had has have having he hence her here how however i if in instead
into is it its itself just keep keeps let lets made make makes many may might more
most much must my need needs no non nor not now of off on once one only onto or
other otherwise our out over own per rather same say says see shall she should since
so some still such than that the their them then there these they this those though
through thus to too toward two under until unless up upon us use used uses using via
was way we were what when where whether which while who whom whose why will with
within without would yet you your pr prs mr pull merge request requests commit
branch diff patch review reviewer finding findings issue issues bug bugs problem
problems fix fixes fixed fixing test tests tested testing testcase suite case cases
change changes changed changing code file files line lines function functions method
methods class classes p0 p1 p2 p3 todo note
"""
_STOP = frozenset(_STOP_WORDS.split())
# Words in which findings that have nothing to do with each other are written.
_COMMON_WORDS = """
add added allow allowed argument arguments array assert assertion assertions async
await bad behavior behaviour block blocks boolean break breaks broken build cache
call called caller callers calls catch caught check checked checks ci class clean
cleanup client condition config configuration context contract copy correct count
create created data dead default defaults delete deleted depend dependency detect
detected detection different docs document documentation drop dropped drops
duplicate duplicated edge empty enable enabling entry error errors event events
exception exceptions exist existing exists expect expected expose exposed fail
failed failing fails failure failures false feature field fields first fixture flag
format found handle handled handler handles handling hard helper id ignore ignored
ignores import imported imports incomplete inconsistent incorrect incorrectly index
input instance invalid item items job key keys known last later leak leaked leaking
leaks length level limit list local log logging logic long loop lose loses lost
message misleading mismatch miss missed misses missing mock module modules name
named names never new null number object old open option options order output
overbroad override parameter parameters parse parsed path paths pass passed passes
pattern possible potential pre previous print process property raise raised raises
read reads record red reference remain remains remove removed removes removing
report reports request reset response restore restored result results return
returned returns root run running runs safe session sessions set setting settings
shared silent silently skip skipped skips specific start state status step stop
string swallow swallowed system table task text time timeout true try type types
uncaught unchecked undefined undetected unexpected unhandled unit unknown
unnecessary unsafe unused update updated user users valid validate validated
validation value values variable variables version wait weak work works write
written wrong yield zero
"""
_COMMON = frozenset(_COMMON_WORDS.split())
LIGHT = 0.4
_FULL = 1.0
_TECHNICAL = 1.5


def words_of(title: str) -> dict[str, float]:
    """The title's words with their weights; stop words are left out."""
    found: dict[str, float] = {}
    for match in _WORD.finditer(_POSSESSIVE.sub("", title)):
        word, weight = _weighed(match[0])
        if weight:
            found[word] = weight
    return found


def spelling(title: str) -> dict[str, str]:
    """How the title writes each of its words, in lower case."""
    found: dict[str, str] = {}
    for match in _WORD.finditer(_POSSESSIVE.sub("", title)):
        found.setdefault(_weighed(match[0])[0], match[0].casefold())
    return found


@lru_cache(maxsize=20_000)
def _weighed(written: str) -> tuple[str, float]:
    word = written.casefold().strip("_")
    if "." in word or "::" in word or "_" in word or _CAMEL.search(written):
        return word, _TECHNICAL
    if len(word) < 2 or word.isdigit() or word in _STOP:
        return word, 0.0
    stem = _stem(word)
    if stem in _STOP_STEMS:
        return stem, 0.0
    return stem, LIGHT if word in _COMMON or stem in _COMMON_STEMS else _FULL


def _stem(word: str) -> str:
    """Cut the commonest endings; never to fewer than three letters."""
    found = word
    if found.endswith("ies") and len(found) > 5:
        return found[:-3] + "y"
    if (
        found.endswith("s")
        and not found.endswith(("ss", "us", "is"))
        and len(found) > 3
    ):
        found = found[:-1]
    for ending in ("ing", "ed"):
        root = found.removesuffix(ending)
        if root != found and len(root) >= 4:
            found = (
                root[:-1] if root[-1] == root[-2] and root[-1] not in "lsz" else root
            )
            break
    return found[:-1] if found.endswith("e") and len(found) > 3 else found


_STOP_STEMS = frozenset(_stem(word) for word in _STOP if len(word) > 3)
_COMMON_STEMS = frozenset(_stem(word) for word in _COMMON)
