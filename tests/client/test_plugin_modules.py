"""The gate of sys.modules, in both directions: what it tells and what it lets be."""

from __future__ import annotations

import pytest

from tests.client.suites import AGENT, Ran, run, write

SUITE = {
    **AGENT,
    "test_modules.py": """
        import importlib
        import sys
        import threading
        import types

        import pytest

        import agent
        import agent.context
        import agent.loop
        import agentic

        BELOW = ("agent.context", "agent.loop")

        @pytest.fixture(autouse=True)
        def as_before():
            '''Let each case begin alike; the gate looks outside of all fixtures.'''
            yield

        def restore():
            sys.modules.update(
                {"agent": agent, "agent.loop": LOOP, "agent.context": CONTEXT}
            )
            agent.loop, agent.context = LOOP, CONTEXT

        LOOP, CONTEXT = agent.loop, agent.context

        def test_untouched():
            assert agent.loop.calls == 0

        def test_removes():
            for name in BELOW:
                del sys.modules[name]

        def test_cleans_up():
            restore()

        def test_replaces():
            sys.modules["agent.loop"] = types.ModuleType("agent.loop")

        def test_cleans_up_again():
            restore()

        def test_imports_again():
            del sys.modules["agent.loop"]
            importlib.import_module("agent.loop")

        def test_cleans_up_a_third_time():
            restore()

        def test_restores_the_module_alone():
            kept = sys.modules.pop("agent.loop")
            importlib.import_module("agent.loop")
            sys.modules["agent.loop"] = kept

        def test_cleans_up_a_fourth_time():
            restore()

        def test_deletes_the_attribute():
            del agent.loop

        def test_cleans_up_a_fifth_time():
            restore()

        def test_purges_and_restores():
            kept = {name: sys.modules.pop(name) for name in BELOW}
            importlib.import_module("agent.loop")
            sys.modules.update(kept)
            agent.loop, agent.context = LOOP, CONTEXT

        def test_patches(monkeypatch):
            monkeypatch.delitem(sys.modules, "agent.loop")
            monkeypatch.setitem(sys.modules, "agent.context", types.ModuleType("x"))
            monkeypatch.setattr(agent, "loop", None)

        def test_adds():
            sys.modules["agent.added"] = types.ModuleType("agent.added")
            import json.tool

        def test_blocks_an_import():
            sys.modules["agent.blocked"] = None

        def test_removes_what_is_not_watched():
            del sys.modules["agentic"]

        def test_removes_what_is_excluded():
            sys.modules["agent.vendored.one"] = types.ModuleType("one")

        def test_removes_what_is_excluded_2():
            del sys.modules["agent.vendored.one"]

        @pytest.mark.allow_leak("sys_modules", reason="the next one needs it away")
        def test_leaks_on_purpose():
            del sys.modules["agent.loop"]

        def test_sees_it_away():
            assert "agent.loop" not in sys.modules

        def test_cleans_up_a_sixth_time():
            restore()

        def test_removes_what_came_after_the_start():
            del sys.modules["agent.added"]

        @pytest.fixture
        def purged():
            del sys.modules["agent.loop"]
            yield
            sys.modules["agent.loop"] = LOOP

        def test_fixture_restores(purged):
            assert "agent.loop" not in sys.modules

        @pytest.fixture
        def purging():
            yield
            del sys.modules["agent.loop"]

        def test_fixture_purges_at_its_end(purging):
            assert "agent.loop" in sys.modules

        def test_cleans_up_a_seventh_time():
            restore()

        @pytest.mark.allow_leak("sys_modules", reason="for the next one")
        def test_a_stub():
            sys.modules["agent.loop"] = types.SimpleNamespace()

        def test_equal_is_not_the_same():
            sys.modules["agent.loop"] = types.SimpleNamespace()
    """,
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Ran:
    where = write(
        tmp_path_factory.mktemp("modules"),
        SUITE,
        gates="sys_modules",
        exclude="agent.vendored",
        enforce="error",
    )
    return run(where)


@pytest.mark.parametrize(
    ("name", "kind", "items"),
    [
        ("test_removes", "removed", ["agent.context", "agent.loop"]),
        ("test_replaces", "replaced", ["agent.loop"]),
        ("test_imports_again", "replaced", ["agent.loop"]),
        ("test_restores_the_module_alone", "detached", ["agent.loop"]),
        ("test_deletes_the_attribute", "detached", ["agent.loop"]),
        ("test_fixture_purges_at_its_end", "removed", ["agent.loop"]),
        ("test_equal_is_not_the_same", "replaced", ["agent.loop"]),
    ],
)
def test_a_leak_names_the_test_the_modules_and_the_recipe(ran, name, kind, items):
    (leak,) = ran.of(name)
    assert leak["test"] == f"test_modules.py::{name}"
    assert leak["kind"] == f"sys_modules.{kind}"
    assert sorted(leak["items"]) == items
    assert leak["item_count"] == len(items)
    assert "fresh_import" in leak["recipe"]
    assert leak["enforced"] is True
    assert leak["phase"] == "teardown"
    assert leak["message"].startswith(f"test_modules.py::{name} ")
    assert ran.outcomes(name) == [("error", "teardown")]
    assert leak["message"] in ran.out
    assert leak["recipe"].splitlines()[0] in ran.out


@pytest.mark.parametrize(
    "name",
    [
        "test_untouched",
        "test_purges_and_restores",
        "test_patches",
        "test_adds",
        "test_blocks_an_import",
        "test_removes_what_is_not_watched",
        "test_removes_what_is_excluded",
        "test_removes_what_is_excluded_2",
        "test_sees_it_away",
        "test_fixture_restores",
    ],
)
def test_it_is_silent(ran, name):
    assert ran.of(name) == []
    assert ran.outcomes(name) == [("passed", "call")]


def test_a_change_back_to_the_start_is_a_clean_up(ran):
    (leak,) = ran.of("test_removes_what_came_after_the_start")
    assert (leak["kind"], leak["items"]) == ("sys_modules.restored", ["agent.added"])
    assert leak["enforced"] is False
    (put_back,) = ran.of("test_cleans_up_again")
    assert (put_back["kind"], put_back["items"]) == (
        "sys_modules.restored",
        ["agent.loop"],
    )
    cleaners = [one for one in ran.order if "cleans_up" in one["test"]]
    assert len(cleaners) == 7
    assert {one["outcome"] for one in cleaners} == {"passed"}


def test_a_marked_leak_is_told_and_not_raised(ran):
    (leak,) = ran.of("test_leaks_on_purpose")
    assert leak["kind"] == "sys_modules.removed"
    assert leak["opted_out"] is True
    assert leak["enforced"] is False
    assert leak["reason"] == "the next one needs it away"
    assert ran.outcomes("test_leaks_on_purpose") == [("passed", "call")]
    assert "2 opted out" in ran.out


def test_a_leak_has_its_test_s_place(ran):
    places = {one["test"]: one["position"] for one in ran.order}
    assert all(places[leak["test"]] == leak["position"] for leak in ran.leaks)
    assert len(ran.leaks) == 12


def test_threads_may_import_while_it_looks(tmp_path):
    suite = {
        **AGENT,
        "test_threads.py": """
            import sys, threading, types, pytest
            import agent.loop

            stop = threading.Event()

            def churn(number):
                for at in range(2_000):
                    sys.modules[f"agent.made{number}_{at}"] = types.ModuleType("x")
                    if stop.is_set():
                        break

            @pytest.fixture(scope="module", autouse=True)
            def churning():
                threads = [threading.Thread(target=churn, args=(n,)) for n in range(3)]
                for one in threads: one.start()
                yield
                stop.set()
                for one in threads: one.join()

            @pytest.mark.parametrize("number", range(40))
            def test_beside(number):
                sys.modules[f"agent.own{number}"] = types.ModuleType("x")

            def test_leaks():
                del sys.modules["agent.loop"]
        """,
    }
    ran = run(write(tmp_path, suite, gates="sys_modules", enforce="error"))
    assert [leak["test"] for leak in ran.leaks] == ["test_threads.py::test_leaks"]
    assert "41 passed, 1 error" in ran.out


def test_without_names_the_project_s_own_modules_are_watched(tmp_path):
    suite = {
        **AGENT,
        "test_own.py": """
            import sys
            import agentic, json.tool

            def test_leaks():
                del sys.modules["agentic"]

            def test_is_silent():
                del sys.modules["json.tool"]
        """,
    }
    ran = run(write(tmp_path, suite, gates="sys_modules", watch=""))
    assert [(leak["test"], leak["items"]) for leak in ran.leaks] == [
        ("test_own.py::test_leaks", ["agentic"])
    ]
