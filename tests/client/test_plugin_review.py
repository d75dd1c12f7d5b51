"""What reviewers found wrong in a gate of this kind, each as a test that ours passes."""

from __future__ import annotations

import pytest

from tests.client.suites import AGENT, Ran, run, write

OLD = {
    **AGENT,
    "test_old.py": """
        import importlib, sys, types
        import agent.loop, agent.context, agentic

        KEPT = dict(sys.modules)

        def test_old_purge():
            del sys.modules["agent.context"]
        def test_replaces():
            sys.modules["agent.loop"] = types.SimpleNamespace()
        def test_imports_again():
            del sys.modules["agent"], sys.modules["agent.loop"]
            importlib.import_module("agent.loop")
        def test_like_the_prefix():
            del sys.modules["agentic"]
        def test_restores():
            kept = {n: sys.modules.pop(n) for n in list(sys.modules) if n[:6] == "agent."}
            attributes = dict(vars(sys.modules["agent"]))
            importlib.import_module("agent.context")
            sys.modules.pop("agent.context")
            sys.modules.update(kept)
            vars(sys.modules["agent"]).clear()
            vars(sys.modules["agent"]).update(attributes)
    """,
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Ran:
    """On the day it lands: the suite is as old as it is, and no baseline is there."""
    return run(write(tmp_path_factory.mktemp("old"), OLD, gates="sys_modules env cwd"))


def test_a_replacement_is_not_missed(ran):
    assert ran.kinds("test_replaces") == ["sys_modules.replaced"]


def test_an_import_after_a_purge_is_not_missed(ran):
    (leak,) = [one for one in ran.of("test_imports_again") if "replaced" in one["kind"]]
    assert sorted(leak["items"]) == ["agent", "agent.loop"]


def test_a_prefix_ends_at_a_dot(ran):
    assert ran.of("test_like_the_prefix") == []


def test_a_restored_purge_is_silent(ran):
    assert ran.of("test_restores") == []


def test_it_does_not_turn_old_tests_red_on_the_day_it_lands(ran, tmp_path):
    assert ran.code == 0
    assert "5 passed" in ran.out
    assert ran.kinds("test_old_purge") == ["sys_modules.removed"]
    # Nor when it begins to be enforced: what is there is known, what is new is not.
    where = write(tmp_path, OLD, gates="sys_modules", enforce="ratchet")
    assert run(where, "--healthboard-accept").code == 0
    assert run(where).code == 0
    new = "import sys, agent.loop\ndef test_new(): del sys.modules['agent.loop']\n"
    (where / "test_new.py").write_text(new)
    again = run(where)
    assert [one["test"] for one in again.leaks if one["enforced"]] == [
        "test_new.py::test_new"
    ]
    assert again.code == 1


def test_a_fixed_test_is_really_fixed(tmp_path):
    """The gate's own recipe, followed to the letter, satisfies the gate."""
    suite = {
        **AGENT,
        "test_fixed.py": """
            import importlib, sys
            import agent.loop

            def test_by_the_fixture(fresh_import):
                fresh_import("agent")
                importlib.import_module("agent.context")

            def test_by_monkeypatch(monkeypatch):
                loop = agent.loop
                monkeypatch.setattr(agent, "loop", loop)
                monkeypatch.delitem(sys.modules, "agent.loop")
                assert importlib.import_module("agent.loop") is not loop
        """,
    }
    ran = run(write(tmp_path, suite, gates="sys_modules", enforce="error"))
    assert (ran.code, ran.leaks) == (0, [])
