from __future__ import annotations
import pytest
from results.models import Run
from tests.builders import make_project, make_run
pytestmark = pytest.mark.django_db

def test_smoke():
    p = make_project()
    run = Run.objects.get(pk=make_run(p, {"test_a": "passed", "test_b": "failed"}))
    assert (run.outcome, run.tests, run.passed, run.failed) == ("failed", 2, 1, 1)
