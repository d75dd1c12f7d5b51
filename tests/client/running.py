"""The client as CI runs it: a process, with nothing of the test's own environment."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "client" / "src"


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err


@dataclass
class Job:
    """One job of a CI: a directory, variables, a token."""

    folder: Path
    url: str = "http://127.0.0.1:9"
    token: str = "a-token-that-nobody-may-see"
    variables: dict[str, str] = field(default_factory=dict)
    python: str = sys.executable

    def ci(self, *arguments: str, stdin: str = "", **variables: str) -> Said:
        """Run `healthboard-ci`; whatever it prints never holds the token."""
        answer = subprocess.run(
            [self.python, "-m", "healthboard_client", *arguments],
            cwd=self.folder,
            env=self.environment | variables,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        said = Said(answer.returncode, answer.stdout, answer.stderr)
        if self.token:
            assert self.token not in said.text
        assert "Traceback" not in said.text, said.text
        return said

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(SOURCES),
            "HEALTHBOARD_URL": self.url,
            "HEALTHBOARD_TOKEN": self.token,
            "HEALTHBOARD_SPOOL": str(self.folder / "spool"),
            **self.variables,
        }

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def git(self, *arguments: str) -> str:
        who = {
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.com",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.com",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        answer = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=self.environment | who,
            capture_output=True,
            text=True,
            check=True,
        )
        return answer.stdout.strip()

    def commit(self, message: str = "change") -> str:
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")
