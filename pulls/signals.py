"""What happened to pull requests, for the packages above.

Each is sent inside the transaction that makes it true, once a fact: a receiver writes
its own rows there, and does nothing slow.

`verdict_changed`: `pull` (pulls.models.Pull), `before` and `after` (words; `before` is
"" at the first verdict), `told` (pulls.shapes.Told), `at`.
`unblocked`: `pull`, `by` (the blockers that it waited for last), `at`: the last open
blocker is gone, and the pull request is open.
"""

from __future__ import annotations

from django.dispatch import Signal

verdict_changed = Signal()
unblocked = Signal()
