"""A built distribution holds every package of the project, at any depth.

setuptools finds a directory that has an `__init__.py`, as has each one above it, and
whose dotted name fits a pattern.
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase

from tests.architecture.tracked import PACKAGES, ROOT, files


def test_every_package_with_code_is_found():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["packages"]["find"]["include"]
    paths = [path.relative_to(ROOT) for path in files() if path.suffix == ".py"]
    held = {path.parent for path in paths if path.parts[0] in PACKAGES}
    assert {"formats/reviews", "results/migrations"} <= {str(path) for path in held}
    lost = [
        path
        for path in held
        if not any(fnmatchcase(".".join(path.parts), one) for one in patterns)
        or not all(
            (ROOT / above / "__init__.py").is_file()
            for above in (path, *path.parents[:-1])
        )
    ]
    assert lost == []
    assert not any(fnmatchcase("tests", one) for one in patterns)
