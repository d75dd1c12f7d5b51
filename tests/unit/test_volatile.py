"""The table of volatile parts: what is masked, what stays, and that it ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.volatile import mask_message, mask_names, strip_checkout


@pytest.mark.parametrize(
    ("name", "masked"),
    [
        ("reads[/home/runner/work/shop/shop/data/a.json]", "reads[data/a.json]"),
        (r"reads[D:\a\shop\shop\data\a.json]", "reads[data/a.json]"),
        (r"reads[D:\\a\\shop\\shop\\data\\a.json]", "reads[data/a.json]"),
        ("reads[/builds/acme/shop/data/a.json]", "reads[data/a.json]"),
        ("x[/var/lib/jenkins/workspace/shop-main/a/b.py]", "x[a/b.py]"),
        ("x[/home/vsts/work/1/s/a/b.py]", "x[a/b.py]"),
        ("x[/home/ann/shop/a/b.py]", "x[b.py]"),
        (r"x[C:\Users\ann\b.py]", "x[b.py]"),
        ("x[file:///home/ann/b.py]", "x[b.py]"),
        ("x[3-/tmp/tmpab12cd3_/b.py]", "x[3-b.py]"),
        ("x[/tmp/tmpab12cd3_]", "x[<tmp>]"),
        ("x[/tmp/pytest-of-ann/pytest-12/test_x0/b.txt]", "x[b.txt]"),
        ("at[2025-03-01 10:00:00.123456]", "at[<time>]"),
        ("at[2025-03-01T10:00:00+02:00]", "at[<time>]"),
        ("at[20250301T100000Z]", "at[<time>]"),
        ("id[3f2b8c1e-0d5a-4c1e-9d0e-2b7a1c9f0e11]", "id[<uuid>]"),
        ("f[<Foo object at 0x7f0b3c1d2e80>]", "f[<Foo object at <address>>]"),
        ("f[<function a at 0x1f40>]", "f[<function a at <address>>]"),
        ("f[com.acme.Foo@1b6d3586]", "f[com.acme.Foo<address>]"),
    ],
)
def test_volatile_part_of_a_name_is_masked_and_told(name, masked):
    text, found = mask_names(name)

    assert text == masked
    assert found


@pytest.mark.parametrize(
    "name",
    [
        "test_plain",
        "test[a-b-c]",
        "GET /api/v1/users",
        "x[/etc/passwd]",
        "x[tests/data/a.json]",
        "x[../a.json]",
        "x[0xff]",
        "x[0xdeadbeef]",
        "x[2025-03-01]",
        "x[10:00]",
        "x[ann@example.org]",
        "x[http://example.org/home/ann]",
        "x[a/b/c]",
        "x[12345678901234567890]",
        "x[3f2b8c1e-0d5a-4c1e-9d0e]",
        "a::b::c",
    ],
)
def test_what_an_author_writes_stays(name):
    assert mask_names(name) == (name, ())


@pytest.mark.parametrize(
    ("message", "masked"),
    [
        ("expected 3, got 27", "expected <n>, got <n>"),
        ("took 1.5s of 2 seconds", "took <n> of <n>"),
        ("took 120ms", "took <n>"),
        ("commit 3f2b8c1e0d5a missing", "commit <hex> missing"),
        ("at 12:30:05 sharp", "at <n> sharp"),
        ("test_case2 in utf8", "test_case2 in utf8"),
        ("'/tmp/x1/a.txt' not found", "'a.txt' not found"),
        ("127.0.0.1:52341 refused", "<n> refused"),
    ],
)
def test_volatile_parts_of_a_message_are_masked(message, masked):
    assert mask_message(message) == masked


PIECES = st.sampled_from(
    [
        "/home/runner/work/a/a/", "/tmp/", "C:\\", "C:", "\\", "/", "x", "-", " ", "[",
        "3f2b8c1e-0d5a-4c1e-9d0e-2b7a1c9f0e11", "12345678-", "1234-", "123456789abc",
        "2025-03-01 10:00", ":00", ".5", "at 0x", "0x", "7f0b3c1d2e80", "a@", "1b6d358",
        "file://", "tmpab12cd3_", "9", "ms", "<n>", "@", "\u00e9", "Z", "T", "%",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=40)


@given(TEXTS)
def test_masking_twice_is_masking_once(text):
    once, _ = mask_names(text)

    assert mask_names(once)[0] == once


@given(TEXTS)
def test_masking_a_message_twice_is_masking_it_once(text):
    once = mask_message(text)

    assert mask_message(once) == once


@pytest.mark.parametrize(
    "piece",
    ["1.", "1,", "a" * 7, "0x", "/home/", "C:\\", "\\\\a\\", "2025-03-01 10:", "at ",
     "@1", "f" * 6 + "1", "12:", "-1234", "jenkins/", "<", "tmp", "9 "],
)  # fmt: skip
def test_masking_hostile_text_ends(piece):
    text = "/" + piece * (200_000 // len(piece))

    assert len(mask_message(text)) <= 3 * len(text)


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("/home/runner/work/shop/shop/tests/a.js", "tests/a.js"),
        ("/home/runner/work/shop/shop", "shop"),
        ("/data/app/tests/a.js", "a.js"),
        ("tests/a.js", "tests/a.js"),
        ("D:/a/1/s/tests/a.cs", "tests/a.cs"),
    ],
)
def test_checkout_is_stripped(path, short):
    assert strip_checkout(path) == short
