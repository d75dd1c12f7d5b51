"""The kinds of files that an upload may hold; `readers.py` says who reads them."""

from __future__ import annotations

AUTO = "auto"  # the content tells
READ = ("junit", "reportlog", "order")
HANDED = ("effects", "review")  # checked here, stored by a stage above
UNREAD = ("gate",)  # kept until there is a reader for them
KINDS = (*READ, *HANDED, *UNREAD, AUTO)
