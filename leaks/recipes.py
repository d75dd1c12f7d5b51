"""How each kind of leak is mended, for a leaker whose gate gave no recipe of its own.

Guarantees: pure; every kind has a recipe, a kind that nobody knows the general one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to do about leaks of one family (`sys_modules` of `sys_modules.removed`)."""

    family: str
    title: str
    steps: tuple[str, ...]
    code: str = ""


_GENERAL = Recipe(
    "",
    "Find what it leaves behind, and put it back",
    (
        "Run the leaker and one victim alone, in this order, to see it fail.",
        "Look for what the leaker changes outside itself: module attributes, "
        "environment variables, files, singletons, caches.",
        "Make the change through monkeypatch or a fixture that undoes it after its yield.",
    ),
    "@pytest.fixture\n"
    "def changed(monkeypatch):\n"
    '    monkeypatch.setattr(module, "name", replacement)\n'
    "    yield",
)

_RECIPES = {
    one.family: one
    for one in (
        Recipe(
            "sys_modules",
            "Import afresh without touching the modules of others",
            (
                "Never delete from sys.modules: others hold on to the old module and "
                "its classes.",
                "Where a fresh import is the point of the test, save what was there and "
                "put it back, the parent package's attribute too.",
                "Better: run the import in a process of its own.",
            ),
            "@pytest.fixture\n"
            "def fresh_import():\n"
            "    before = dict(sys.modules)\n"
            "    yield\n"
            "    sys.modules.clear()\n"
            "    sys.modules.update(before)",
        ),
        Recipe(
            "env",
            "Change the environment through monkeypatch",
            (
                "Replace assignments to the environment by monkeypatch.setenv and "
                "monkeypatch.delenv: they are undone after the test.",
                "A fixture of a wider scope needs its own MonkeyPatch.context().",
            ),
            "def test_it(monkeypatch):\n"
            '    monkeypatch.setenv("NAME", "value")\n'
            '    monkeypatch.delenv("OTHER", raising=False)',
        ),
        Recipe(
            "cwd",
            "Leave the working directory as it was",
            ("Replace os.chdir by monkeypatch.chdir, or pass paths instead.",),
            "def test_it(monkeypatch, tmp_path):\n    monkeypatch.chdir(tmp_path)",
        ),
        Recipe(
            "sys_path",
            "Leave sys.path as it was",
            (
                "Replace sys.path.insert by monkeypatch.syspath_prepend.",
                "Better: install the package, or set pythonpath in the configuration.",
            ),
            "def test_it(monkeypatch, tmp_path):\n"
            "    monkeypatch.syspath_prepend(tmp_path)",
        ),
        Recipe(
            "logging",
            "Put handlers and levels back",
            (
                "Remove in the fixture's end each handler that it added, and set the "
                "level back.",
                "To look at messages use caplog, which cleans up after itself.",
            ),
            "@pytest.fixture\n"
            "def handler():\n"
            "    logger.addHandler(mine)\n"
            "    yield mine\n"
            "    logger.removeHandler(mine)",
        ),
        Recipe(
            "warnings",
            "Change warning filters inside a block",
            ("Wrap what changes the filters in warnings.catch_warnings().",),
            'with warnings.catch_warnings():\n    warnings.simplefilter("ignore")',
        ),
        Recipe(
            "threads",
            "End every thread that the test starts",
            (
                "Signal the thread to end and join it, with a timeout, in the fixture's "
                "end.",
                "Shut executors down: `with ThreadPoolExecutor() as pool:`.",
            ),
            "@pytest.fixture\n"
            "def worker():\n"
            "    thread.start()\n"
            "    yield thread\n"
            "    stop.set()\n"
            "    thread.join(timeout=5)",
        ),
        Recipe(
            "processes",
            "End every process that the test starts",
            (
                "Terminate the child in the fixture's end and wait for it.",
                "Start it in a group of its own, so that its children end with it.",
            ),
            "@pytest.fixture\n"
            "def server():\n"
            "    child = subprocess.Popen(command)\n"
            "    yield child\n"
            "    child.terminate()\n"
            "    child.wait(timeout=10)",
        ),
        Recipe(
            "files",
            "Write into tmp_path",
            (
                "Give the code a directory and pass tmp_path: each test has its own.",
                "What must lie elsewhere is removed in the fixture's end.",
            ),
            'def test_it(tmp_path):\n    write_report(tmp_path / "report.txt")',
        ),
        Recipe(
            "control_plane",
            "Register what acts, and unregister it",
            (
                "Make entries through the fixture that registers a session and removes "
                "its entries when it ends.",
                "An entry of a session that is over is removed by hand, once.",
            ),
        ),
        Recipe(
            "effect",
            "Settle or undo the effect",
            (
                "Observe what the tool did before the test ends, and record it.",
                "Undo it in the fixture's end, and record the cleanup.",
            ),
        ),
    )
}


def recipe_for(kind: str) -> Recipe:
    """Return the recipe for a kind of leak such as `env.set`; for none, the general."""
    return _RECIPES.get(kind.partition(".")[0], _GENERAL)


def recipes_for(kinds: list[str]) -> list[Recipe]:
    """Return the recipes for several kinds, each once; without a kind the general."""
    found = {one.family: one for one in map(recipe_for, kinds or [""])}
    return list(found.values())
