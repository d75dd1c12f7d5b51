"""What stages above hear of inside the transaction that makes it true.

`run_summarised` carries `run`, whose summary was made anew. A receiver that raises
fails the recording: what it writes is part of the same transaction.
"""

from __future__ import annotations

from django.dispatch import Signal

run_summarised = Signal()
