"""CODEOWNERS: each documented form of a pattern, by a table made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.codeowners import Odd, read_codeowners

# pattern, paths that it matches, paths that it does not
FORMS = [
    ("*", ["a.py", "x/y/z.py"], []),
    ("*.js", ["a.js", "x/y/b.js"], ["a.jsx", "js", "x.js.map"]),
    ("/build/logs/", ["build/logs/a", "build/logs/x/y"], ["x/build/logs/a", "build/a"]),
    ("/build/logs/", [], ["build/logs"]),
    ("docs/*", ["docs/start.md"], ["docs/app/trouble.md", "x/docs/start.md"]),
    ("docs/**", ["docs/start.md", "docs/app/trouble.md"], ["docs", "x/docs/a"]),
    ("apps/", ["apps/a.py", "x/apps/y/z.py"], ["apps", "apps2/a.py"]),
    ("/docs", ["docs", "docs/a", "docs/a/b"], ["x/docs/a", "docs2"]),
    ("**/logs", ["logs/a", "build/logs/x/y", "a/b/logs"], ["logs2/a", "a/xlogs"]),
    ("a/**/b", ["a/b", "a/x/b", "a/x/y/b/c"], ["ab", "a/xb", "x/a/b"]),
    ("/*", ["a.py"], ["x/a.py"]),
    ("tests/test_*.py", ["tests/test_a.py"], ["tests/x/test_a.py", "tests/a.py"]),
    ("test_?.py", ["test_a.py", "x/test_b.py"], ["test_ab.py", "test_.py"]),
    ("a*b*c", ["abc", "aXbYc", "abbc", "x/abcc"], ["ab", "acb", "aXb/c"]),
    (r"my\ docs/", ["my docs/a"], ["my", "docs/a"]),
    (r"a\*b", ["a*b"], ["axb"]),
    ("Docs", ["Docs/a"], ["docs/a"]),
    ("a.b", ["a.b"], ["axb"]),
]


@pytest.mark.parametrize(("pattern", "inside", "outside"), FORMS)
def test_a_pattern_matches_as_documented(pattern, inside, outside):
    owners = read_codeowners(f"{pattern} @them")
    assert owners.odd == ()
    assert [path for path in inside if not owners.of(path)] == []
    assert [path for path in outside if owners.of(path)] == []


def test_the_last_rule_that_matches_wins():
    owners = read_codeowners("* @all @more\n/shop/ @shop\n/shop/free/\n*.md d@x.org\n")
    assert owners.of("a.py") == ("@all", "@more")
    assert owners.of("shop/a.py") == ("@shop",)
    assert owners.of("shop/free/a.py") == ()
    assert owners.of("shop/free/a.md") == ("d@x.org",)
    assert owners.of("./shop/a.py") == ("@shop",)
    assert owners.of("shop\\a.py") == ("@shop",)
    assert owners.of("") == ()


def test_comments_and_empty_lines_say_nothing():
    owners = read_codeowners("\ufeff# all\n\n  \n*.py @org/team # why\n a#b @hash\n")
    assert [rule.line for rule in owners.rules] == [4, 5]
    assert owners.of("a.py") == ("@org/team",)
    assert owners.of("a#b") == ("@hash",)


def test_what_the_format_does_not_know_is_skipped_and_told_with_its_line():
    owners = read_codeowners(
        "* @all\n!a.py @x\n[ab].py @x\n\\#a @x\nb.py them\nc.py @c them\n" + "**/" * 5
    )
    assert owners.of("a.py") == ("@all",)
    assert owners.of("b.py") == ("@all",)
    assert owners.of("c.py") == ("@c",)
    assert owners.odd == (
        Odd(2, "a pattern cannot be negated with !"),
        Odd(3, "ranges of characters, [ ], are not part of the format"),
        Odd(4, "a pattern cannot begin with an escaped #"),
        Odd(5, "'them' is no @name, @org/team or address"),
        Odd(6, "'them' is no @name, @org/team or address"),
        Odd(7, "more than 4 times ** in one pattern"),
    )


def test_in_each_section_the_last_rule_wins_and_all_of_them_own():
    owners = read_codeowners(
        "* @all\n[Docs][2] @writers\n*.md\n/README.md @lead\n^[Shop]\n/shop/ @shop\n"
    )
    assert owners.of("a.py") == ("@all",)
    assert owners.of("a.md") == ("@all", "@writers")
    assert owners.of("README.md") == ("@all", "@lead")
    assert owners.of("shop/a.md") == ("@all", "@writers", "@shop")


def test_many_stars_take_no_time():
    owners = read_codeowners("/" + "*a" * 500 + "b @them")
    assert owners.of("a" * 4_000) == ()
    assert owners.of("a" * 500 + "b") == ("@them",)


@given(st.text(max_size=200), st.text(max_size=60))
def test_nothing_in_a_file_makes_it_unreadable(text, path):
    owners = read_codeowners(text)
    assert len(owners.rules) + len(owners.odd) <= len(text) + 1
    owners.of(path)
