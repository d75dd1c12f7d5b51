"""The one signal of the project: something new lies in the inbox.

Sent after the commit, with `upload_id`. A receiver that fails is logged and changes
nothing: the row is the queue, and a beat looks anyway.
"""

from __future__ import annotations

from django.dispatch import Signal

upload_received = Signal()
