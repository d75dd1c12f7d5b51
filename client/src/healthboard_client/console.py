"""What the commands print: answers on stdout, remarks and warnings on stderr.

Guarantees: a secret that was named once is never printed, whatever text it stands in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TextIO

HIDDEN = "***"


@dataclass
class Console:
    """Both streams, and the texts that must not appear on either."""

    out: TextIO
    err: TextIO
    secrets: list[str] = field(default_factory=list)

    def hide(self, secret: str) -> None:
        """Never print this text."""
        # The longest first, so that of two tokens no rest of the longer one stays.
        if secret:
            self.secrets = sorted({*self.secrets, secret}, key=len, reverse=True)

    def masked(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return text

    def answer(self, text: str) -> None:
        """Print what was asked for."""
        self._write(self.out, text)

    def note(self, text: str) -> None:
        """Print a remark beside the answer."""
        self._write(self.err, f"healthboard: {text}")

    def warn(self, text: str) -> None:
        """Print what a person should look at."""
        self._write(self.err, f"healthboard: warning: {text}")

    def _write(self, stream: TextIO, text: str) -> None:
        line = self.masked(text) + "\n"
        try:
            stream.write(line)
        except UnicodeEncodeError:
            # A log that is ASCII only gets every word, if not every letter.
            encoding = stream.encoding or "ascii"
            stream.write(line.encode(encoding, "replace").decode(encoding))
        stream.flush()
