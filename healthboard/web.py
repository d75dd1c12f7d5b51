"""The web process of `serve`: gunicorn on the socket that the supervisor opened."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from django.conf import settings
from gunicorn.app.wsgiapp import WSGIApplication

from healthboard import lifeline, locks

CONFIG = Path(__file__).resolve().parent.parent / "gunicorn.conf.py"
SOCKET = "HEALTHBOARD_SOCKET"


def main() -> None:
    lifeline.hold(grace=3)
    # Processes that gunicorn forks hold it too, until the last of them ends.
    locks.wait_for(settings.DATA_DIR / lifeline.WEB_LOCK)
    bind = f"fd://{os.environ[SOCKET]}"
    sys.argv = ["gunicorn", "--config", str(CONFIG), "--bind", bind, "healthboard.wsgi"]
    WSGIApplication("%(prog)s [OPTIONS] [APP_MODULE]", prog="gunicorn").run()


if __name__ == "__main__":
    main()
