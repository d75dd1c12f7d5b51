"""Real uploads through the whole system, for pages and API to speak of."""

from __future__ import annotations

from typing import Any

from healthboard.pipeline import drain_all
from projects.creation import Created
from tests.sending import Upload, bearer, post

FIRST = b"""<testsuite name="pytest">
<testcase classname="tests.test_cart" name="test_total" time="0.5"/>
<testcase classname="tests.test_cart" name="test_empty[a/b]" time="0.25"/>
<testcase classname="tests.test_login" name="test_session" time="1.5">
<failure message="assert 401 == 200">tests/test_login.py:12: AssertionError</failure>
</testcase>
<testcase classname="tests.test_login" name="test_logout" time="0">
<skipped message="not on this system"/></testcase>
</testsuite>"""
GREEN = b"""<testsuite name="pytest">
<testcase classname="tests.test_cart" name="test_total" time="0.5"/>
<testcase classname="tests.test_cart" name="test_empty[a/b]" time="0.25"/>
<testcase classname="tests.test_login" name="test_session" time="2.5"/>
</testsuite>"""
BROKEN = b'<testsuite name="pytest">\n<testcase name="cut'


def send(created: Created, *files: bytes, drain: bool = True, **context: Any) -> int:
    """Post an upload of JUnit files and process it; return its id."""
    named = [("junit", f"{n}.xml", file) for n, file in enumerate(files, 1)]
    answer = post(Upload({**context}, named), bearer(created.token))
    assert answer.status_code == 202, answer.content
    if drain:
        drain_all()
    upload_id: int = answer.json()["id"]
    return upload_id
