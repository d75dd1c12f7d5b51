"""A child ends when its supervisor does, however that ends: kill -9 included.

The supervisor holds the writing end of a pipe; the end of file says that it is gone.
"""

from __future__ import annotations

import os
import signal
import threading
import time

WEB_LOCK = "web.lock"  # held by a part for as long as anything of it lives
VARIABLE = "HEALTHBOARD_LIFELINE"  # the reading end's number, set by the supervisor


def hold(*, grace: float) -> None:
    """End this process when its supervisor ends: asked first, then at once."""
    descriptor = os.environ.get(VARIABLE)
    if descriptor is not None:
        arguments = (int(descriptor), grace)
        threading.Thread(target=_wait, args=arguments, daemon=True).start()


def _wait(descriptor: int, grace: float) -> None:
    os.read(descriptor, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace)
    os._exit(1)
