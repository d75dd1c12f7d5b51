"""Fixtures that outlive a test answer for themselves, and `fresh_import` for nobody."""

from __future__ import annotations

import pytest

from tests.client.suites import AGENT, Ran, run, write

SUITE = {
    **AGENT,
    "conftest.py": """
        import os
        import pytest

        @pytest.fixture(scope="session", autouse=True)
        def for_the_session():
            os.environ["SESSION"] = "1"
            yield
            del os.environ["SESSION"]

        @pytest.fixture(scope="session")
        def never_ended():
            os.environ["NEVER"] = "1"
    """,
    "test_a.py": """
        import os, sys
        import pytest
        import agent.loop, agent.context

        @pytest.fixture(scope="module")
        def clean():
            os.environ["CLEAN"] = "1"
            yield
            del os.environ["CLEAN"]

        @pytest.fixture(scope="module")
        def purging():
            yield
            del sys.modules["agent.loop"]

        @pytest.fixture(scope="module")
        def forgetting():
            os.environ["FORGOTTEN"] = "1"

        @pytest.fixture(scope="module", params=["one", "two"])
        def turns(request):
            os.environ["TURN"] = request.param
            yield
            del os.environ["TURN"]

        @pytest.fixture(scope="module")
        def outer(request):
            request.getfixturevalue("inner")
            os.environ["OUTER"] = "1"
            yield
            del os.environ["OUTER"]

        @pytest.fixture(scope="module")
        def inner():
            os.environ["INNER"] = "1"

        def test_first(clean, purging, forgetting, never_ended): pass
        def test_changes_what_is_held(clean): os.environ["CLEAN"] = "2"
        def test_turns(turns): assert os.environ["TURN"]
        def test_outer(outer): pass
        def test_own_leak(clean): os.environ["OWN"] = "1"
        def test_last(clean): pass
    """,
    "test_b.py": """
        import os, unittest

        class TestUnit(unittest.TestCase):
            @classmethod
            def setUpClass(cls): os.environ["UNIT"] = "1"
            @classmethod
            def tearDownClass(cls): del os.environ["UNIT"]
            def test_unit(self): pass

        class TestForgets(unittest.TestCase):
            @classmethod
            def setUpClass(cls): os.environ["UNIT_FORGOTTEN"] = "1"
            def test_forgets(self): pass

        def setup_module(): os.environ["MODULE_FORGOTTEN"] = "1"
        def test_sees(): assert os.environ["FORGOTTEN"]
    """,
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Ran:
    where = tmp_path_factory.mktemp("fixtures")
    return run(write(where, SUITE, gates="sys_modules env", enforce="error"))


@pytest.mark.parametrize(
    ("fixture", "file", "kind", "item"),
    [
        ("purging", "test_a.py", "sys_modules.removed", "agent.loop"),
        ("forgetting", "test_a.py", "env.set", "FORGOTTEN"),
        ("inner", "test_a.py", "env.set", "INNER"),
    ],
)
def test_a_fixture_answers_with_its_file(ran, fixture, file, kind, item):
    (leak,) = ran.of(fixture)
    assert (leak["test"], leak["kind"], leak["items"]) == (None, kind, [item])
    assert (leak["file"], leak["scope"]) == (file, "module")
    assert leak["message"].startswith(f"fixture {fixture} (module) of {file}")
    assert leak["enforced"] is True


def test_no_test_answers_for_a_fixture(ran):
    tests = {leak["test"] for leak in ran.leaks if leak["test"]}
    assert tests == {
        "test_a.py::test_changes_what_is_held",
        "test_a.py::test_own_leak",
    }
    outcomes = {one["test"]: one["outcome"] for one in ran.order}
    assert {test for test, outcome in outcomes.items() if outcome != "passed"} == tests


def test_fixtures_that_clean_up_are_silent(ran):
    for name in ("for_the_session", "clean", "turns", "outer"):
        assert ran.of(name) == []


def test_nobody_follows_the_end_of_a_session(ran):
    (leak,) = ran.of("never_ended")
    assert (leak["scope"], leak["file"]) == ("session", "conftest.py")
    assert leak["enforced"] is False


def test_set_up_functions_answer_as_fixtures_do(ran):
    found = [leak for leak in ran.leaks if leak.get("file") == "test_b.py"]
    assert sorted(leak["items"][0] for leak in found) == [
        "MODULE_FORGOTTEN",
        "UNIT_FORGOTTEN",
    ]


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["one", "xdist"])
def test_an_enforced_fixture_fails_the_session(tmp_path, workers):
    suite = {
        "test_only.py": """
            import os, pytest
            @pytest.fixture(scope="module")
            def forgetting(): os.environ["FORGOTTEN"] = "1"
            def test_only(forgetting): pass
        """
    }
    where = write(tmp_path, suite, gates="env", enforce="error")
    ran = run(where, *workers, plugins="xdist")
    assert ran.code == 1
    assert "1 passed" in ran.out
    assert "enforced: fixture forgetting (module) of test_only.py" in ran.out
    assert run(where, "-ohealthboard_enforce=report").code == 0


def test_a_teardown_that_fails_keeps_its_failure(tmp_path):
    suite = {
        "test_both.py": """
            import os, pytest
            @pytest.fixture
            def breaking():
                yield
                raise ValueError("its own")
            def test_both(breaking): os.environ["LEFT"] = "1"
        """
    }
    ran = run(write(tmp_path, suite, gates="env", enforce="error"))
    assert ran.kinds("test_both") == ["env.set"]
    assert "ValueError: its own" in ran.out
    assert "test_both set 1 environment variable" in ran.out


FRESH = {
    **AGENT,
    "agent/deep/__init__.py": "",
    "agent/deep/er.py": "",
    "test_fresh.py": """
        import importlib, sys
        import agent, agent.loop, agent.deep.er
        import agentic
        from healthboard_client.plugin.fresh import fresh_import as fresh

        KEPT = {name: one for name, one in sys.modules.items() if "agent" in name}

        def check():
            now = {name: one for name, one in sys.modules.items() if "agent" in name}
            assert now == KEPT
            assert agent.loop is KEPT["agent.loop"]
            assert agent.deep is KEPT["agent.deep"]
            assert agent.deep.er is KEPT["agent.deep.er"]
            assert not hasattr(agent, "context")

        def test_fixture(fresh_import):
            agent.loop.calls = 7
            fresh_import("agent", "agentic")
            assert not [n for n in sys.modules if n.partition(".")[0] == "agent"]
            again = importlib.import_module("agent.loop")
            assert again.calls == 0
            importlib.import_module("agent.context")
            assert sys.modules["agent"].loop is again

        def test_nothing_is_left(): check()

        def test_one_child(fresh_import):
            fresh_import("agent.loop")
            assert not hasattr(agent, "loop")
            from agent import loop
            assert loop is not KEPT["agent.loop"]

        def test_nothing_is_left_of_the_child(): check()

        def test_block(fresh_import):
            with fresh_import("agent.deep"):
                from agent.deep import er
                assert er is not KEPT["agent.deep.er"]
            check()

        def test_context_manager_by_itself():
            try:
                with fresh("agent", "nothing.of.that.name"):
                    import agent.context
                    raise ValueError
            except ValueError:
                check()

        def test_nested(fresh_import):
            fresh_import("agent")
            importlib.import_module("agent.loop")
            with fresh_import("agent.loop"):
                importlib.import_module("agent.loop")
            fresh_import("agent")

        def test_nothing_is_left_of_many(): check()

        def test_not_loaded_before(fresh_import):
            fresh_import("agent.context")
            import agent.context

        def test_nothing_is_left_of_it(): check()
    """,
}


def test_fresh_import_leaves_no_trace(tmp_path):
    where = write(tmp_path, FRESH, gates="sys_modules", enforce="error")
    ran = run(where, "-ohealthboard_watch=agent agentic")
    assert ran.code == 0, ran.out
    assert ran.leaks == []


def test_fresh_import_works_with_the_plugin_off(tmp_path):
    ran = run(write(tmp_path, FRESH), "--no-healthboard")
    assert ran.code == 0, ran.out
