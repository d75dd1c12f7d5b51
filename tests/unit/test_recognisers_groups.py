"""Gates inside exception groups: each member is an exception, a quote in one is none."""

from __future__ import annotations

import traceback

import pytest

from formats.recognisers import Carrier, Recognisers

NAME = "test_swaps"
NODEID = f"tests/test_loader.py::{NAME}"
SAID = (
    f"{NODEID} removed 2 module(s) from sys.modules and did not restore them: a.b, a.c"
)
TEARDOWN = f"errors while tearing down <Function {NAME}>"


class Failed(Exception):
    """As a gate raises it."""


def raised(error: Exception) -> Exception:
    try:
        raise error
    except type(error) as caught:
        return caught


def printed(*errors: Exception) -> tuple[str, str]:
    """The message and the text of a group, as pytest puts them into a report."""
    group = raised(ExceptionGroup(TEARDOWN, [raised(error) for error in errors]))
    text = "".join(traceback.format_exception(group)).strip()
    return f'failed on teardown with "{type(group).__name__}: {group}"', text


def find(message: str, text: str):
    return Recognisers().find(message, text, Carrier(NAME, NODEID))


def chained() -> Exception:
    try:
        try:
            raise Failed(SAID)
        except Failed:
            raise ValueError("x")  # noqa: B904 - the context is the point
    except ValueError as error:
        return error


FIRES = {
    "alone": ([Failed(SAID)], True),
    "first": ([Failed(SAID), ValueError("x")], False),
    "last": ([ValueError("x"), Failed(f"{SAID}\n\nRestore them.")], False),
    "nested": ([ExceptionGroup("inner", [Failed(SAID)])], True),
    "beside a group": ([ExceptionGroup("in", [KeyError(1)]), Failed(SAID)], False),
    "more than are shown": (
        [Failed(SAID)] + [ValueError(f"{n}") for n in range(20)],
        False,
    ),
    "more gates than are shown": ([Failed(SAID)] * 20, False),
    "beside a chain": ([Failed(SAID), chained()], False),
}


@pytest.mark.parametrize("name", FIRES)
def test_a_member_that_is_a_gates_failure_is_a_leak(name):
    errors, whole = FIRES[name]
    found = find(*printed(*errors))
    [leak] = found.leaks
    assert (leak.kind, leak.items, leak.phase) == (
        "sys_modules.removed",
        ("a.b", "a.c"),
        "teardown",
    )
    assert found.whole is whole


def test_a_tree_without_a_message_speaks_for_itself():
    text = printed(Failed(SAID))[1]
    assert find("", text).whole
    assert find(text.split("\n")[0], text).whole


QUOTES = {
    "asserted": AssertionError(f"assert '{SAID}' == ''"),
    "behind words": ValueError(f"got Failed: {SAID}"),
    "on a later line": ValueError(f"child said\nFailed: {SAID}"),
    "a printed branch": ValueError(
        "\n".join(["out", f"    +{'-' * 16} 2 {'-' * 16}", f"    | Failed: {SAID}", ""])
    ),
    "a printed tree": ValueError(printed(Failed(SAID))[1]),
    "handled": chained(),
    "of another test": Failed(SAID.replace(NAME, "test_inner")),
    "a group's name": ExceptionGroup(f"x {SAID}", [ValueError("y")]),
}


@pytest.mark.parametrize("name", QUOTES)
def test_a_quote_in_a_member_is_no_leak(name):
    assert find(*printed(QUOTES[name], ValueError("z"))) is None


def test_a_tree_counts_only_where_the_failure_is_the_group():
    message, text = printed(Failed(SAID))
    assert find("AssertionError: assert text == ''", text) is None
    assert find(message, f"printed:\n{text}") is None


def test_what_was_cut_is_not_taken_for_a_gates_failure_alone():
    message, text = printed(Failed(SAID), ValueError("x"))
    cut = text[: text.index("ValueError")]
    assert not find(message, cut).whole
    assert find(message, text[: text.index("a.b")]) is None
