"""What became true of leakers and tests, told to the layers above.

Guarantees: sent inside the transaction that stores it, once a fact, however often a
stage is run again; what a receiver raises rolls the fact back with it.
"""

from __future__ import annotations

from django.dispatch import Signal

# Each with `leaker`, the stored row, and `at`, when it was decided.
leaker_opened = Signal()  # it was never open before
leaker_reopened = Signal()  # it was fixed, or no longer suspected
leaker_fixed = Signal()  # also `verified`: told once as fixed, once as proven so
# With `verdict`, the stored row of the test, and `at`.
test_newly_flaky = Signal()
