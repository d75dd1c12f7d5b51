"""The kinds of files that an upload may hold; `readers.py` says who reads them."""

from __future__ import annotations

AUTO = "auto"  # the content tells
READ = ("junit", "reportlog", "order", "gate")
HANDED = ("effects", "review")  # checked here, stored by a stage above
HOOKS = ("github", "gitlab")  # from routes alone; kept for the pull-request stage
KINDS = (*READ, *HANDED, AUTO)
