"""Almost-XML: what is repaired, how it is told, and what is refused with its place."""

from __future__ import annotations

import gzip
import io

import pytest

from formats.encoding import CHUNK
from formats.junit import read_junit
from formats.report import Reading, Rejected


def read(data: bytes) -> Reading:
    return read_junit(io.BytesIO(data))


def suite(inside: str = "", name: str = "s", head: str = "") -> str:
    return (
        f'{head}<testsuite name="{name}"><testcase classname="c" name="a"/>'
        f'<testcase classname="c" name="b"><failure message="m">{inside}</failure>'
        "</testcase></testsuite>"
    )


def text_of(reading: Reading) -> str:
    return reading.elements[1].text


def codes(reading: Reading) -> list[str]:
    return [note.code for note in reading.notes]


# Characters


@pytest.mark.parametrize(
    ("raw", "kept", "code", "named"),
    [
        ("a\x1b[31mb\x08\x08c", "a\ufffd[31mb\ufffd\ufffdc", "control-characters", "BS (U+0008) ×2, ESC (U+001B) ×1"),
        ("a\x00b", "a\ufffdb", "control-characters", "NUL (U+0000) ×1"),
        ("é\ufffe\uffff", "é\ufffd\ufffd", "control-characters", "U+FFFE ×1, U+FFFF ×1"),
        ("a&#27;b&#x1B;c&#0;", "a\ufffdb\ufffdc\ufffd", "illegal-references", "reference &#27; ×1"),
        ("&#xD800;&#x110000;", "\ufffd\ufffd", "illegal-references", "&#xD800; ×1"),
        ("a ]]> b", "a ]]> b", "unescaped-markup", "unescaped ]]> ×1"),
        ("a & b &nbsp; &lt;", "a & b &nbsp; <", "unescaped-markup", "unescaped & ×2"),
    ],
)  # fmt: skip
def test_characters_are_replaced_and_named(raw, kept, code, named):
    reading = read(suite(raw).encode())
    assert text_of(reading) == kept
    assert codes(reading) == [code]
    assert named in reading.notes[0].message


def test_legal_references_and_cdata_stay_while_others_are_repaired():
    reading = read(suite("&#233;&#x1F600;\x01<![CDATA[&#27; & ]] ]]>&amp;").encode())
    assert text_of(reading) == "é😀\ufffd&#27; & ]] &"
    assert codes(reading) == ["control-characters"]


def test_names_and_messages_are_repaired_too():
    xml = '<testsuite name="s"><testcase classname="c" name="n[\x02]"><failure message="&#18;"/></testcase></testsuite>'
    (element,) = read(xml.encode()).elements
    assert (element.name, element.message) == ("n[\ufffd]", "\ufffd")


@pytest.mark.parametrize("offset", range(-12, 3))
@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("&#x1B;", "\ufffd"),
        ("]]>", "]]>"),
        ("<![CDATA[&#27;]]>", "&#27;"),
        ("&amp;&", "&&"),
        ("é\x01", "é\ufffd"),
    ],
)
def test_repairs_do_not_depend_on_where_a_piece_ends(raw, kept, offset):
    before = len(suite("#").partition("#")[0])
    padding = "x" * (CHUNK - before + offset)
    text = text_of(read(suite(padding + raw + "\x02").encode()))
    assert text.endswith(f"xx{kept}\ufffd")


# Bytes and encodings


def test_bytes_that_are_not_utf8_beside_some_that_are():
    reading = read(suite("é").encode().replace(b'message="m"', b'message="\xff\xfe"'))
    assert reading.elements[1].message == "\ufffd\ufffd"
    assert codes(reading) == ["invalid-bytes"]
    assert "byte 0xFE ×1, byte 0xFF ×1" in reading.notes[0].message


def test_without_any_multibyte_sequence_it_is_windows_1252():
    reading = read(
        suite("réussi – bien", head='<?xml version="1.0" encoding="UTF-8"?>').encode(
            "cp1252"
        )
    )
    assert text_of(reading) == "réussi – bien"
    assert codes(reading) == ["windows-1252"]


def test_surrogates_written_as_utf8_are_bad_bytes():
    reading = read(suite("#").encode().replace(b"#", b"\xed\xa0\x80"))
    assert text_of(reading) == "\ufffd\ufffd\ufffd"
    assert codes(reading) == ["invalid-bytes"]


@pytest.mark.parametrize(
    ("declared", "codec", "noted"),
    [
        ("windows-1252", "cp1252", []),
        ("ISO-8859-1", "latin-1", []),
        ("ISO-8859-15", "iso8859-15", []),
        ("utf-16", "utf-16", []),
        ("utf-8", "utf-8-sig", []),
        ("utf-8", "utf-16", []),
        ("utf-16", "utf-16-le", []),
        ("utf-16", "utf-16-be", []),
        ("utf-16", "utf-8", ["encoding-declaration"]),
        ("utf-16", "utf-8-sig", ["encoding-declaration"]),
        ("ISO-8859-1", "utf-8", ["encoding-declaration"]),
        ("x-unheard-of", "utf-8", ["encoding-declaration"]),
        ("us-ascii", "utf-8", []),
        ("utf-7", "utf-8", ["encoding-declaration"]),
    ],
)
def test_the_bytes_decide_before_the_declaration(declared, codec, noted):
    head = f'<?xml version="1.0" encoding="{declared}"?>\n'
    reading = read(suite("réussi £", head=head).encode(codec))
    assert text_of(reading) == "réussi £"
    assert codes(reading) == noted


@pytest.mark.parametrize("codec", ["shift_jis", "euc-jp"])
def test_multibyte_legacy_encodings(codec):
    head = f'<?xml version="1.0" encoding="{codec}"?>'
    assert text_of(read(suite("日本語", head=head).encode(codec))) == "日本語"


def test_gzip_is_known_by_its_magic():
    assert text_of(read(gzip.compress(suite("x").encode()))) == "x"
    with pytest.raises(Rejected, match="damaged gzip"):
        read(gzip.compress(suite("x").encode())[:-20])


# Text around documents


@pytest.mark.parametrize(
    "data",
    [
        "Compiling <a.cpp>\n" + suite("t", head='<?xml version="1.0"?>\n'),
        suite("t", head='<?xml version="1.0"?>\nprinted by the program\n'),
        suite("t") + "\nProgram code.",
        suite("t") + "\n</b> & < <![CDATA[",
        "log\n" + suite("t", head='<?xml version="1.0"?>\nmore log\n') + "done\n",
    ],
)
def test_program_output_around_the_document(data):
    reading = read(data.encode())
    assert (reading.reported.tests, text_of(reading)) == (2, "t")
    assert codes(reading) == ["text-around-document"]


def test_asides_around_the_document_are_not_told():
    aside = '<!-- <testsuite name="old"> -->\n<?pi <testsuite> ?>'
    reading = read(f"\x01{aside}{suite('t')}{aside}".encode())
    assert reading.suites == 1
    assert "1 characters" in reading.notes[0].message


def test_nul_padding_at_the_end():
    reading = read(suite("t").encode() + b"\x00" * 3000)
    assert codes(reading) == ["trailing-nul"]
    assert "3,000" in reading.notes[0].message


def test_several_documents_all_count():
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    reading = read(
        (suite("é", head=head) + "\n" + suite("u", head=head) + suite("v")).encode()
    )
    assert (reading.reported.tests, reading.reported.failed, reading.suites) == (
        6,
        3,
        3,
    )
    assert codes(reading) == ["several-documents"]
    assert "3 documents" in reading.notes[0].message


def test_several_documents_with_output_between_and_in_small_pieces():
    piece = suite("x" * 5000) + "\nrunning doc tests\n"
    reading = read((piece * 100).encode())
    assert (reading.reported.tests, reading.suites) == (200, 100)
    assert sorted(codes(reading)) == ["several-documents", "text-around-document"]


# Refusals and their places


@pytest.mark.parametrize(
    ("data", "message", "line", "column"),
    [
        (b"", "file is empty", None, None),
        (b" \n\xef\xbb\xbf", "file is empty", None, None),
        (b"\x00" * 50, "file is empty", None, None),
        (b'{"tests": 1}', "not well-formed XML: ", 1, 1),
        (b"TAP version 13\nok 1\n", "not well-formed XML: ", 1, 1),
        (b"<foo/>", "not a JUnit report, root element <foo>", 1, 1),
        (b"\n  <x:test-run>", "not a JUnit report, root element <test-run>", 2, 3),
        (b"<testcase name='a'/>", "not a JUnit report, root element <testcase>", 1, 1),
        (b"<testsuite>\n <a b='1' b='2'/></testsuite>", "not well-formed XML: duplicate attribute", 2, 11),
        (b"<testsuite>\n<testcase name='a<b'/></testsuite>", "not well-formed XML: ", 2, 18),
        (b"<testsuite>\n</testcase></testsuite>", "not well-formed XML: mismatched tag", 2, 3),
        (b"log\nlog <testsuite>\n  </b>", "not well-formed XML: mismatched tag", 3, 5),
        (b"log\nlog <testsuite></b>", "not well-formed XML: mismatched tag", 2, 18),
        (b"<testsuite>\n&#27;&#27; \x01 </b>", "not well-formed XML: mismatched tag", 2, 16),
        (b"<testsuite/>\nlog\n<testsuite>\n</b>", "not well-formed XML: mismatched tag", 4, 3),
        (b"<testsuite/>log <testsuite></b>", "not well-formed XML: mismatched tag", 1, 30),
    ],
)  # fmt: skip
def test_refused_with_the_place_in_the_original_file(data, message, line, column):
    with pytest.raises(Rejected) as caught:
        read(data)
    assert caught.value.message.startswith(message)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "tail",
    [
        "<testcase name='c'><skip",
        "<system-out><![CDATA[GET /",
        "",
        "<testcase name='c'>é",
        "<testcase name='c'><failure/>",
    ],
)
@pytest.mark.parametrize("broken", ["", "<testcase name='\x01' status='todo'/>"])
def test_a_cut_off_report_is_refused_and_says_what_was_read(tail, broken):
    whole = (
        "<testsuite>\n<testcase name='a'/>\n<testcase classname='c' name='b' time='1'/>"
    )
    with pytest.raises(Rejected) as caught:
        read(f"{whole}{broken}{tail}".encode())
    number = 3 if broken else 2
    assert caught.value.message.startswith("not well-formed XML: the report is cut off")
    assert f"{number} complete cases were read before the end" in caught.value.message
    assert caught.value.line == 3
    assert caught.value.column


def test_cut_off_inside_a_character():
    with pytest.raises(Rejected, match="cut off"):
        read("<testsuite><testcase name='é".encode()[:-1])


def test_a_second_document_cut_off_refuses_the_file():
    with pytest.raises(Rejected, match="2 complete cases were read before the end"):
        read((suite("x") + "<testsuites><testsuite>").encode())
