"""dev.py in small clones of its own: it sets up, heals, and says what is missing."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MANAGE = """
import json, os, pathlib, sys
data = pathlib.Path(os.environ["HEALTHBOARD_DATA"])
print(json.dumps([sys.prefix, str(data), sys.argv[1:], sorted(p.name for p in data.iterdir())]))
"""
OLD = "import runpy, sys; sys.version_info = (3, 9, 1); sys.argv = sys.argv[1:];"


pytestmark = pytest.mark.timeout(180)


def _clone(path: Path) -> Path:
    """A clone with a space in its path, without any package to install."""
    (path / "requirements").mkdir(parents=True)
    for kind in ("base", "dev"):
        (path / "requirements" / f"{kind}.txt").write_text("")
    shutil.copy(ROOT / "dev.py", path)
    (path / "manage.py").write_text(MANAGE)
    return path


@pytest.fixture
def clone(tmp_path):
    return _clone(tmp_path / "a clone")


@pytest.fixture(scope="module")
def first_use(tmp_path_factory):
    """A clone after its first use, and what that said."""
    path = _clone(tmp_path_factory.mktemp("first") / "a clone")
    return path, _dev(path, "manage", "hello", "--data", "my data")


@pytest.fixture
def used(first_use, clone):
    """A clone that was used before, as a copy of its own."""
    shutil.copytree(first_use[0] / ".venv", clone / ".venv", symlinks=True)
    return clone


def _environment(**variables: str) -> dict[str, str]:
    ours = ("HEALTHBOARD_", "SECRET_KEY", "DJANGO_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    return {**kept, **variables}


def _dev(clone: Path, *arguments: str, **variables: str):
    return subprocess.run(
        [sys.executable, clone / "dev.py", *arguments],
        cwd=clone.parent,
        env=_environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )


def _venv(clone: Path) -> None:
    """A stand-in for a virtual environment, which takes seconds to make."""
    (clone / ".venv" / "bin").mkdir(parents=True)
    (clone / ".venv" / "bin" / "python").symlink_to(sys.executable)


def test_first_use_makes_the_environment_and_later_ones_do_not(first_use):
    clone, first = first_use
    assert first.returncode == 0, first.stderr
    assert "Setting up" in first.stdout
    data = clone.parent / "my data"
    expected = [f"{clone}/.venv", str(data), ["hello"], ["secret-key"]]
    assert json.loads(first.stdout.splitlines()[-1]) == expected
    second = _dev(clone, "manage", "hello", "--data=my data", PATH="")
    assert json.loads(second.stdout) == expected
    assert (clone / ".venv.lock").read_text() == ""


def test_interrupted_set_up_is_made_again_once_by_two_at_once(clone):
    _venv(clone)
    (clone / ".venv" / "half").touch()
    (clone / ".venv.lock").write_text("setting up")
    command = [sys.executable, clone / "dev.py", "manage", "hello"]
    both = [
        subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("Setting up" in text for text in said) == 1
    assert not (clone / ".venv" / "half").exists()


def test_environment_whose_python_is_gone_is_made_again(used):
    (used / ".venv" / "bin" / "python").unlink()
    (used / ".venv" / "bin" / "python").symlink_to("/nowhere/python")
    answer = _dev(used, "manage", "hello")
    assert answer.returncode == 0, answer.stderr


def test_changed_requirements_are_installed(used):
    (used / "requirements" / "base.txt").write_text("# another\n")
    assert "Setting up" in _dev(used, "manage", "hello").stdout
    assert "Setting up" not in _dev(used, "manage", "hello").stdout


def test_package_that_cannot_be_had_is_one_sentence_and_is_tried_again(used):
    missing = "healthboard-no-such-package==1 --hash=sha256:" + "0" * 64
    requirements = used / "requirements" / "base.txt"
    requirements.write_text(missing)
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "UV_OFFLINE": "1"}
    answer = _dev(used, "manage", "hello", **offline)
    assert answer.returncode == 1
    assert "Run the same command again" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert (used / ".venv.lock").read_text() == ""  # nothing is half done


def test_secret_key_is_private_and_kept(used):
    _dev(used, "manage", "hello", "--data", "data")
    key = used.parent / "data" / "secret-key"
    made = key.read_text()
    assert len(made) > 50
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    _dev(used, "manage", "hello", HEALTHBOARD_DATA=str(key.parent))
    assert key.read_text() == made


def test_too_old_python_is_one_sentence(clone, tmp_path):
    (tmp_path / "bin").mkdir()
    stub = tmp_path / "bin" / "python3.13"  # as a version manager leaves it
    stub.write_text("#!/bin/sh\nexit 127\n")
    stub.chmod(0o755)
    answer = _old(clone, path=tmp_path / "bin")
    assert answer.returncode == 1
    assert answer.stdout == ""
    (line,) = answer.stderr.splitlines()
    assert line.startswith("Healthboard needs Python 3.12 or newer, and this is 3.9")


def test_too_old_python_finds_a_newer_one(clone, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.12").symlink_to(sys.executable)
    answer = _old(clone, path=tmp_path / "bin")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("Runs Healthboard")


def _old(clone: Path, *, path: Path):
    run = f"{OLD} runpy.run_path(sys.argv[0], run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-c", run, clone / "dev.py", "--help"],
        env=_environment(PATH=f"{path}:/bin"),
        capture_output=True,
        text=True,
        check=False,
    )
