"""From histories to leakers, victims and verdicts: pure functions of plain arrays.

Nothing here reads a database, a clock or a random source: the same arrays give
the same judgement, and every stored claim carries METHOD_VERSION so that it can
be explained, or computed again, years later.
"""

from __future__ import annotations

METHOD_VERSION = 1
