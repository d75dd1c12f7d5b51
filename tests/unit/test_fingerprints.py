"""When two failures are the same one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.fingerprints import VERSION, fingerprint
from formats.frames import project_frames

PYTHON = """
request = <SubRequest 'db' for <Function test_pays>>

    def test_pays(db):
>       charge(db, 3)

tests/test_cart.py:{line}:
_ _ _ _ _ _ _ _ _ _ _ _
shop/cart.py:{line}: in charge
    client.post()
/srv/venv/lib/python3.13/site-packages/requests/api.py:{line}: in post
    raise ConnectionError(url)
E   ConnectionError: http://127.0.0.1:{port} refused

requests/api.py:{line}: ConnectionError
"""


def test_lines_ports_and_addresses_do_not_matter():
    first = fingerprint("ConnectionError: port 4711", PYTHON.format(line=7, port=4711))
    second = fingerprint("ConnectionError: port 52", PYTHON.format(line=19, port=52))

    assert first == second
    assert first.version == VERSION
    assert len(first.digest) == 16
    assert first.title == "ConnectionError: port <n>"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("ConnectionError: host <n>", PYTHON),
        ("ValueError: port <n>", PYTHON),
        ("ConnectionError: port <n>", PYTHON.replace("shop/cart", "shop/other")),
        ("ConnectionError: port <n>", PYTHON.replace("in charge", "in refund")),
    ],
    ids=["message", "type", "file", "function"],
)
def test_what_matters(message, text):
    known = fingerprint("ConnectionError: port <n>", PYTHON.format(line=7, port=1))

    assert fingerprint(message, text.format(line=7, port=1)) != known


def test_checkout_does_not_matter():
    here = 'File "/home/runner/work/shop/shop/shop/cart.py", line 3, in charge\n'
    there = 'File "D:\\a\\shop\\shop\\shop\\cart.py", line 9, in charge\n'

    assert fingerprint("E: x", here) == fingerprint("E: x", there)


def test_junit_wrapping_of_setup_and_teardown_does_not_matter():
    plain = fingerprint("RuntimeError: td broke", "")

    assert fingerprint('failed on teardown with "RuntimeError: td broke"', "") == plain
    assert fingerprint('failed on setup with "RuntimeError: td broke"', "") == plain


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("noise\nE   AssertionError: one is not two\nmore", "AssertionError: one is not two"),
        ("noise\njava.lang.IllegalStateException: closed\n\tat a.B.c(B.java:3)",
         "java.lang.IllegalStateException: closed"),
        ("\n  only a line \n", "only a line"),
        ("", "no message"),
    ],
)  # fmt: skip
def test_exception_is_found_where_the_message_is_missing(text, title):
    assert fingerprint("", text).title == title


STACKS = {
    "python-short": (
        PYTHON,
        ["tests/test_cart.py", "shop/cart.py charge", "requests/api.py"],
    ),
    "python-long": (
        'Traceback (most recent call last):\n  File "shop/cart.py", line 9, in charge\n'
        '    x()\n  File "/usr/lib/python3.12/json/decoder.py", line 3, in decode\n',
        ["shop/cart.py charge"],
    ),
    "java": (
        "java.lang.IllegalStateException: x\n"
        "\tat java.base/java.util.List.get(List.java:7)\n"
        "\tat com.acme.Cart.charge(Cart.java:12)\n"
        "\tat com.acme.CartTest.pays(CartTest.java:30)\n"
        "\tat org.junit.jupiter.Runner.run(Runner.java:99)\n"
        "\tat java.lang.Thread.run(Thread.java:1)\n",
        ["com.acme.CartTest.pays CartTest.java", "com.acme.Cart.charge Cart.java"],
    ),
    "javascript": (
        "Error: x\n    at charge (/home/runner/work/shop/shop/src/cart.js:12:7)\n"
        "    at async Object.<anonymous> (src/cart.test.js:3:1)\n"
        "    at run (/home/runner/work/shop/shop/node_modules/jest/run.js:1:1)\n"
        "    at node:internal/process:9:1\n",
        ["Object.<anonymous> src/cart.test.js", "charge src/cart.js"],
    ),
    "go": (
        "panic: x\n\ngoroutine 6 [running]:\nshop.Charge(...)\n"
        "\t/builds/acme/shop/cart.go:12 +0x1d\ntesting.tRunner(0xc0001)\n"
        "\t/usr/local/go/src/testing/testing.go:1595 +0xff\n",
        ["cart.go"],
    ),
    "rust": (
        "thread 'pays' panicked at src/cart.rs:12:5:\nx\nstack backtrace:\n"
        "   0: rust_begin_unwind\n   1: core::panicking::panic_fmt\n"
        "   2: shop::cart::charge\n   3: shop::tests::pays::h0123456789abcdef\n"
        "   4: test::run_test\n",
        ["shop::tests::pays", "shop::cart::charge", "src/cart.rs"],
    ),
    "ruby": (
        "cart.rb:3:in `charge'\n/usr/lib/ruby/3.2.0/net/http.rb:1:in `get'\n",
        ["cart.rb charge"],
    ),
    "dotnet": (
        "   at Shop.Cart.Charge(Int32 n) in /builds/a/b/Cart.cs:line 12\n"
        "   at System.Threading.Tasks.Task.Run(Action a)\n",
        ["Shop.Cart.Charge Cart.cs"],
    ),
    "native": ("cart_test.cc:12: Failure\nExpected: 3\n", ["cart_test.cc"]),
    "none": ("nothing: here at all\n12: 13\n", []),
}


@pytest.mark.parametrize(("text", "frames"), STACKS.values(), ids=STACKS.keys())
def test_frames_of_the_project_outermost_first(text, frames):
    assert project_frames(text.replace("{line}", "7")) == frames


@pytest.mark.parametrize("most", [0, 1, 2, 3, 9])
@pytest.mark.parametrize(("text", "frames"), STACKS.values(), ids=STACKS.keys())
def test_the_innermost_frames_are_the_last_ones(text, frames, most):
    last = frames[-most:] if most else []

    assert project_frames(text.replace("{line}", "7"), most=most) == last


def test_a_stack_of_two_languages_goes_as_most_of_the_projects_frames_do():
    java = "\tat shop.Cart.charge(Cart.java:9)\n\tat shop.Main.run(Main.java:3)\n"
    library = "".join(f"\tat java.lang.Thread.run{n}(Thread.java:1)\n" for n in "abcd")
    python = 'File "shop/a.py", line 1, in a\n' + 'File "shop/b.py", line 2, in b\n'
    third = 'File "shop/c.py", line 3, in c\n'
    charge, run = "shop.Cart.charge Cart.java", "shop.Main.run Main.java"
    inside_out = ["shop/a.py a", "shop/b.py b", "shop/c.py c", charge, run]

    assert project_frames(python + third + java + library) == inside_out


def test_marker_makes_a_library_frame_one_of_the_project():
    line = 'File "/v/lib/python3.12/site-packages/acme_cart/api.py", line 3, in get\n'

    assert project_frames(line) == []
    assert project_frames(line, markers=["acme_cart"]) == ["api.py get"]


@pytest.mark.parametrize(
    "piece",
    ["a.", "at ", "a:", "::", "(", " at a.b(c.java:1)", 'File "', "E   ", "1: ", "\n",
     "panicked at '", "x.py:1: ", "Error", "A.Error.", "/x", "\t", "in `"],
)  # fmt: skip
def test_hostile_text_ends(piece):
    text = piece * (300_000 // len(piece))

    assert len(fingerprint(text, text).digest) == 16
    assert len(fingerprint("", text).digest) == 16


@given(st.text(), st.text())
def test_any_text_has_one_fingerprint(message, text):
    first = fingerprint(message, text)

    assert first == fingerprint(message, text)
    assert len(first.title) <= 200
