"""Numbers with their nouns: nobody reads "1 test(s)"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from formats.plurals import agree, counted

ROOT = Path(__file__).parents[2]
SPOKEN = (
    *("formats", "ingest", "results", "findings", "dashboard", "api", "templates"),
    *("leaks", "pulls", "review", "notify", "projects", "analysis", "healthboard"),
)
# A gate's own words, as they are recognised and told of, and a scheme.
OTHERWISE = ("module(s) from sys.modules", "http(s) address")


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0 tests are"),
        (1, "1 test is"),
        (2, "2 tests are"),
        (1204, "1,204 tests are"),
    ],
)
def test_a_noun_and_its_verb_agree_with_the_number(number, said):
    assert f"{counted(number, 'test')} {agree(number, 'is', 'are')}" == said


def test_a_plural_may_be_named():
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(3, "entry", "entries") == "3 entries"


def test_no_text_leaves_the_plural_to_the_reader():
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for package in SPOKEN
        for path in sorted((ROOT / package).rglob("*"))
        if path.suffix in {".py", ".html", ".txt"}
        for line in path.read_text().splitlines()
        if re.search(r"[a-z}]\(e?s\) (?!for )[a-z]", line)
        and not any(words in line for words in OTHERWISE)
    ]
    assert found == []
