"""Stack frames of many languages, reduced to where in the project something broke.

Guarantees: a frame is "file function" or what the language gives of it, without line
numbers and without what differs between machines; frames of libraries and runtimes
are left out; they come outermost first.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from formats.volatile import mask_names, strip_checkout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LINES = 2_000
_WIDTH = 500  # a longer line is no frame

_LIBRARY = re.compile(
    r"""
    site-packages|dist-packages|node_modules|/lib(?:64)?/python\d|<frozen\ |<string>
  | (?:^|/)(?:_pytest|pluggy|unittest|importlib)/
  | ^(?:java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy)[./]
  | ^org\.(?:junit|testng|gradle|apache\.maven|mockito|hamcrest|assertj|opentest4j
      |codehaus|spockframework|scalatest)\.
  | ^node:|^internal/|webpack/bootstrap
  | /go/src/|/usr/local/go/|/pkg/mod/
  | ^(?:std|core|alloc|test|backtrace|tokio)::|^<?(?:rust_|__rust)
  | /rustc/|\.cargo/registry|/vendor/|/gems/|/ruby/\d
  | ^(?:System|Microsoft|Xunit|NUnit)\.
    """,
    re.VERBOSE,
)

_PYTHON_LONG = re.compile(r'File "([^"\n]+)", line \d+(?:, in (\S+))?')
_PYTHON_SHORT = re.compile(r"^([^\s:][^:\n]*\.pyx?):\d+:(?:$|\s(?:in (\S+))?)")
_JAVA = re.compile(
    r"^\s*at ([\w$.<>/@-]+)"
    r"\((?:([\w$-]+\.\w+)(?::\d+)?|Native Method|Unknown Source|<generated>)\)"
)
_JS = re.compile(
    r"^\s*at (?:async )?(?:([^\n()]{1,300}?) \()?([^\s()]+?):\d+(?::\d+)?\)?$"
)
_GO_PLACE = re.compile(r"^\s*(\S+\.go):\d+(?: \+0x[0-9a-f]+|: |$)")
_RUST_PANIC = re.compile(r"panicked at (?:'.*', )?([^\s:']+\.rs):\d+")
_RUST_FRAME = re.compile(
    r"^\s*\d+: (?:0x[0-9a-f]+ - )?([\w:<>{}#$ ]+?)(?:::h[0-9a-f]{16})?$"
)
_RUBY = re.compile(r"^\s*(?:from )?([^\s:]+\.rb):\d+:in [`'](.+)'$")
_DOTNET = re.compile(r"^\s*at ([\w.`<>+]+)\(.*\)(?: in (.+):line \d+)?$")
_PHP = re.compile(r"^(?:#\d+ )?(/\S+\.php)[:(]\d+")
_NATIVE = re.compile(r"^\s*([^\s:()]+\.(?:c|cc|cpp|cxx|h|hpp|m|mm|swift|lua|exs?)):\d+")

# Most telling first; the first that fits a line decides. Those that may stand anywhere
# in it begin with words that a plain look finds at a fraction of a search's cost.
_FORMS = (
    (_PYTHON_LONG, 'File "'),
    (_PYTHON_SHORT, ""),
    (_JAVA, ""),
    (_DOTNET, ""),
    (_JS, ""),
    (_GO_PLACE, ""),
    (_RUST_PANIC, "panicked at "),
    (_RUST_FRAME, ""),
    (_RUBY, ""),
    (_PHP, ""),
    (_NATIVE, ""),
)
# Forms whose stacks are written innermost first.
_INNERMOST_FIRST = frozenset({_JAVA, _DOTNET, _JS, _GO_PLACE, _RUST_FRAME, _RUBY, _PHP})
_HINT = re.compile(r":\d|line \d|\bat |::")


def project_frames(
    text: str, *, markers: Sequence[str] = (), most: int | None = None
) -> list[str]:
    """The project's frames in a text, outermost first; the `most` innermost of them."""
    found = list(_find(text))
    turned = sum(form in _INNERMOST_FIRST for _, form in found)
    if 0 < turned < len(found):  # of stacks of two languages the project's decide
        found = [one for one in found if _is_project(one[0], markers)]
        turned = sum(form in _INNERMOST_FIRST for _, form in found)
    innermost_first = found if turned * 2 > len(found) else reversed(found)
    # Named one by one from the inside, as naming is what takes time.
    named = (
        name
        for match, _ in innermost_first
        if _is_project(match, markers) and (name := _named(match))
    )
    return list(islice(named, most))[::-1]


def _find(text: str) -> Iterator[tuple[re.Match[str], re.Pattern[str]]]:
    """Yield what looks like a frame, a library's too, as the text has them."""
    for line in text.splitlines()[:_LINES]:
        # Most lines have none of it, which a plain look tells at a tenth of the cost.
        if not (":" in line or "at " in line or "line " in line):
            continue
        if len(line) > _WIDTH or not _HINT.search(line):
            continue
        for form, begin in _FORMS:
            if begin and begin not in line:
                continue
            match = form.search(line) if begin else form.match(line)
            if match:
                yield match, form
                break


def _is_project(match: re.Match[str], markers: Sequence[str]) -> bool:
    places = [part.replace("\\", "/") for part in match.groups() if part]
    if any(marker and marker in place for marker in markers for place in places):
        return True
    return not any(_LIBRARY.search(place) for place in places)


def _named(match: re.Match[str]) -> str:
    parts = [_short(part) for part in match.groups() if part]
    return " ".join(dict.fromkeys(part for part in parts if part))


@lru_cache(maxsize=4096)  # the same few files and functions in all failures
def _short(part: str) -> str:
    if "/" in part or "\\" in part:
        part = strip_checkout(part)
    return mask_names(part)[0]
