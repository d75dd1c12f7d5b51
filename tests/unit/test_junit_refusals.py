"""Files that are no report: what they are is said, with the place."""

from __future__ import annotations

import io

import pytest

from formats.junit import read_junit
from formats.report import Rejected

PAGE = "not a JUnit report, root element <html>: this is an HTML page"
DTD = "DTD/entity declarations are not allowed"


def refused(data: bytes) -> Rejected:
    with pytest.raises(Rejected) as caught:
        read_junit(io.BytesIO(data))
    return caught.value


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE html><html><body>Sign in</body></html>",
        b"<!doctype html>\n<html lang=en><meta charset=utf-8><p>502",
        b"\xef\xbb\xbf\r\n<!DocType HTML>\n<html></html>",
        b'<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd"><html/>',
        b"<html><head><title>502 Bad Gateway</title></head></html>",
        b"<HTML><BODY>gone",
        b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>',
        "<!doctype html><html><p>ü".encode("latin-1"),
    ],
)
def test_a_web_page_is_called_one(data):
    error = refused(data)
    assert error.message == PAGE
    assert error.line is not None
    assert error.column is not None


@pytest.mark.parametrize(
    "data",
    [
        b'<!DOCTYPE html [<!ENTITY a "b">]><html>&a;</html>',
        b'<!DOCTYPE testsuites SYSTEM "x.dtd"><testsuites/>',
        b"<!DOCTYPE htmlish><testsuites/>",
    ],
)
def test_other_document_types_are_refused_as_such(data):
    assert refused(data).message == DTD


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b'{"tests": 3}', 1, 1),
        (b'\n\n  [{"a": 1}]', 3, 3),
        (b"Tests run: 3, Failures: 0\n", 1, 1),
    ],
)
def test_json_and_text_sent_as_a_report_keep_their_place(data, line, column):
    error = refused(data)
    assert error.message.startswith("not well-formed XML: ")
    assert (error.line, error.column) == (line, column)
