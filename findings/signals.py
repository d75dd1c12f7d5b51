"""What stages above hear of inside the transaction that makes it true.

`findings_written` carries `rows`, the findings that are new or changed. A receiver that
raises fails the work: what it writes is part of the same transaction.
"""

from __future__ import annotations

from django.dispatch import Signal

findings_written = Signal()
