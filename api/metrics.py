"""`/metrics`: this installation's numbers, read from the database at each scrape.

Guarantees: the numbers are those of all processes together; nothing is counted in the
memory of one. Open only to a token that reads, to staff, or to all if a setting says.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from api import heartbeat
from api.access import optional_asker
from api.problems import ApiError, Forbidden, NotAuthenticated, answer
from api.waiting import waiting
from ingest import queries as inbox
from projects.models import Scope
from results.queries.totals import totals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from django.http import HttpRequest
    from prometheus_client import Metric


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer the numbers in the text format that scrapers read."""
    try:
        _admit(request)
    except ApiError as error:
        return answer(request, error)
    registry = CollectorRegistry()
    registry.register(Installation())
    return HttpResponse(
        generate_latest(registry),
        status=HTTPStatus.OK,
        content_type=CONTENT_TYPE_LATEST,
    )


def _admit(request: HttpRequest) -> None:
    if settings.HEALTHBOARD_METRICS_OPEN:
        return
    asker = optional_asker(request)
    if asker is None:
        raise NotAuthenticated("Send a token with the scope read, or sign in as staff.")
    if asker.token is not None and not {Scope.READ, Scope.ADMIN} & set(
        asker.token.scopes
    ):
        raise Forbidden("The token has neither the scope read nor admin.")
    if asker.user is not None and not asker.user.is_staff:
        raise Forbidden("This is for staff.")


class Installation(Collector):
    """Asks the database when it is asked."""

    def collect(self) -> Iterable[Metric]:
        found = totals()
        yield _labelled(
            "uploads", "Uploads by state.", "state", inbox.counts_of_all().items()
        )
        yield _labelled(
            "waiting", "Items that wait, by stage.", "stage", waiting().items()
        )
        yield _plain(
            "oldest_waiting_seconds",
            "Age of the oldest upload that is not done yet.",
            _age_of_oldest(),
        )
        yield _labelled("runs", "Runs by outcome.", "outcome", found.runs.items())
        yield _plain("results", "Results of all runs, one a test.", found.results)
        yield _plain("tests", "Test cases.", found.tests)
        yield _plain("projects", "Projects.", found.projects)
        yield _labelled(
            "worker_age_seconds",
            "Since the last sign of life of who serves a queue.",
            "queue",
            _ages(),
        )


def _ages() -> Iterator[tuple[str, float]]:
    for queue in settings.WORKING_QUEUES.values():
        last = heartbeat.last_beat(queue)
        if last is not None:
            yield queue, (timezone.now() - last).total_seconds()


def _age_of_oldest() -> float:
    oldest = inbox.oldest_waiting()
    return (timezone.now() - oldest).total_seconds() if oldest else 0.0


def _plain(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"healthboard_{name}", text, value=value)


def _labelled(
    name: str, text: str, label: str, values: Iterable[tuple[str, float]]
) -> Metric:
    family = GaugeMetricFamily(f"healthboard_{name}", text, labels=[label])
    for key, value in values:
        family.add_metric([str(key)], value)
    return family
