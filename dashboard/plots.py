"""Pages with a plot: plotly sets inline styles, so their policy allows them.

Scripts stay as strict as everywhere: only files of our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.csp import CSP
from django.views.decorators.csp import csp_override

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpResponseBase


def plot_page[**P, R: HttpResponseBase](view: Callable[P, R]) -> Callable[P, R]:
    """Allow inline styles in the policy of this page."""
    policy: dict[str, Any] = dict(settings.SECURE_CSP)  # Any: as Django types it
    policy["style-src"] = [CSP.SELF, CSP.UNSAFE_INLINE]
    allowed: Callable[P, R] = csp_override(policy)(view)
    return allowed
