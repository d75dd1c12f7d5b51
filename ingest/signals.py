"""What the inbox tells the stages above: something new lies in it, an owner died.

`upload_received` is sent after the commit, with `upload_id`. A receiver that fails is
logged and changes nothing: the row is the queue, and a beat looks anyway.
"""

from __future__ import annotations

from django.dispatch import Signal

upload_received = Signal()

# With `owner`, of leases: it is dead, and after this nobody can tell.
owner_died = Signal()
