"""Sent after the commit of a transaction that wrote work for this package's stages.

With `stage`: the one that should look now. A receiver that fails changes nothing: the
rows are the queue, and a beat looks anyway.
"""

from __future__ import annotations

from django.dispatch import Signal

work_waits = Signal()
