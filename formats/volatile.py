"""The one table of text parts that differ from run to run though nothing changed.

Guarantees: masking is idempotent, linear in the text's length whatever it holds, and
names what it masked. `mask_names` serves identity: only what no author writes on
purpose (addresses, UUIDs, moments, absolute paths). `mask_message` serves
fingerprints: also numbers, hexadecimal ids and durations.
"""

from __future__ import annotations

import re

# Bumping it regroups failures and may split histories: see docs/identity.md.
VERSION = 1

# Where a path may start without a drive letter. Routes such as /api/v1/users are
# names, not places on a disk, so an unknown root is left alone.
_ROOTS = (
    "home|Users|root|tmp|var|private|opt|mnt|media|srv|builds?|workspaces?|github/workspace|"
    "__w|__t|drone|runner|jenkins|Volumes|usr/src|usr/local|nix/store"
)
_PATH_CHARACTER = r"""(?:[^\s"'`()\[\]{}<>|*?,;:]|:(?=[\\/]))"""

_PARTS = re.compile(
    rf"""
    (?P<path>(?<![\w.~/\\:%])
        (?:(?:file://)?/(?:{_ROOTS})/+|[A-Za-z]:[\\/]+|\\\\+[\w.$-]+\\)
        {_PATH_CHARACTER}*)
  | (?P<uuid>(?<![0-9A-Za-z])
        [0-9A-Fa-f]{{8}}-(?:[0-9A-Fa-f]{{4}}-){{3}}[0-9A-Fa-f]{{12}}(?![0-9A-Za-z]))
  | (?P<time>(?<!\d)
        (?:\d{{4}}-\d\d-\d\d[Tt _]\d\d[:.\-]?\d\d(?:[:.\-]?\d\d(?:[.,]\d{{1,9}})?)?
          |\d{{8}}T\d{{6}})
        (?:[Zz]|[+-]\d\d:?\d\d)?(?!\d))
  | (?P<address>(?<!\w)0x[0-9A-Fa-f]{{9,16}}(?!\w)
      | (?<=\bat[ ])0x[0-9A-Fa-f]{{4,16}}(?!\w)
      | (?<=[A-Za-z_$>;\]])@(?=[a-f]{{0,7}}\d)[0-9a-f]{{5,8}}(?![\w.@-]))
    """,
    re.VERBOSE,
)

_WORKSPACE = re.compile(
    r"""
    (?:/home/runner/work|/Users/runner/work|/runner/_work|/home/vsts/work|/__w
      |[A-Za-z]:/a)/[^/]+/[^/]+/                      # GitHub, Azure, Gitea
  | /github/workspace/
  | /builds/[^/]+/[^/]+/                              # GitLab
  | (?:[A-Za-z]:)?/(?:[^/]+/){0,4}?jenkins[^/]*/(?:[^/]+/)?workspace/[^/]+/
  | /home/circleci/[^/]+/ | /root/project/            # CircleCI
  | /home/travis/build/[^/]+/[^/]+/
  | /opt/atlassian/pipelines/agent/build/             # Bitbucket
  | (?:/var/lib/buildkite-agent|/buildkite)/builds/[^/]+/[^/]+/[^/]+/
  | (?:/opt/buildagent|/opt/teamcity/buildagent|[A-Za-z]:/BuildAgent)/work/[^/]+/
  | /drone/src/ | /woodpecker/src/(?:[^/]+/){3}
  | [A-Za-z]:/projects/[^/]+/                         # AppVeyor
  | /home/semaphore/[^/]+/ | /tmp/cirrus-ci-build/
  | /workspaces/[^/]+/ | /workspace/
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ABSOLUTE = re.compile(r"/|[A-Za-z]:/")
_TEMPORARY_NAME = re.compile(r"tmp[a-z0-9_]{8}|tmp\.[A-Za-z0-9]{6,10}")
_SLASHES = re.compile(r"[\\/]+")

_HEX = re.compile(
    r"(?<![\w<])(?=[0-9A-Fa-f]*\d)(?=\d*[A-Fa-f])[0-9A-Fa-f]{7,128}(?!\w)"
)
_NUMBER = re.compile(
    r"(?<![\w<])(?<!\d[.,:])\d+(?:[.,:]\d+)*+"
    r"(?:\s?(?:ns|us|µs|ms|secs?|seconds?|s|mins?|minutes?|m|hours?|h"
    r"|[KMGT]i?B|bytes|%))?(?!\w)"
)
_ROUNDS = 6  # one suffices but for texts made to mislead


def may_be_volatile(text: str) -> bool:
    """Tell, quickly, whether masking could change this text: most names pass by."""
    return (
        "/" in text
        or "\\" in text
        or ":" in text
        or "@" in text
        or "0x" in text
        or text.count("-") > 3  # a UUID, a moment with hyphens
        or "T0" in text  # a moment's hour
        or "T1" in text
        or "T2" in text
    )


def mask_names(text: str) -> tuple[str, tuple[str, ...]]:
    """Mask what differs from run to run in a name; also return what was masked."""
    if not may_be_volatile(text):
        return text, ()
    found: list[str] = []

    def replace(match: re.Match[str]) -> str:
        found.append(match.group())
        return _replacement(match)

    for _ in range(_ROUNDS):
        masked = _PARTS.sub(replace, text)
        if masked == text:
            break
        text = masked
    return text, tuple(found)


def mask_message(text: str) -> str:
    """Mask what differs from failure to failure of one cause in a message."""
    for _round in range(_ROUNDS):
        masked, _ = mask_names(text)
        masked = _NUMBER.sub("<n>", _HEX.sub("<hex>", masked))
        if masked == text:
            break
        text = masked
    return text


def strip_checkout(path: str) -> str:
    """The path below a known CI workspace; any other absolute path's base name."""
    clean = _SLASHES.sub("/", path.removeprefix("file://"))
    while _ABSOLUTE.match(clean):
        workspace = _WORKSPACE.match(clean)
        if workspace is None or workspace.end() == len(clean):
            clean = clean.rstrip("/").rpartition("/")[2]
            break
        clean = clean[workspace.end() :]
    return clean


def _replacement(match: re.Match[str]) -> str:
    if match.lastgroup != "path":
        return f"<{match.lastgroup}>"
    kept = strip_checkout(match.group())
    head, _, base = kept.rpartition("/")
    base = _TEMPORARY_NAME.sub("<tmp>", base)
    return f"{head}/{base}" if head else base
