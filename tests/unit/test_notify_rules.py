"""Retries, filters, quiet hours, wording and formats: pure rules, enumerated."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notify.matching import BadFilters, Filters, Quiet, matches, read_filters
from notify.messages import Message, as_bytes
from notify.models import EventType
from notify.previews import SAMPLES
from notify.rendering import body_of, slack, teams
from notify.retrying import Answer, judge, pause_after, read_retry_after
from notify.signing import new_secret, standard_key

NOW = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)


class Least(Random):
    """No jitter at all."""

    def random(self) -> float:
        return 0.0


def judged(status, *, tries=1, since=NOW, error="", after="", rng=None):
    answer = Answer(status, error, after)
    return judge(answer, tries=tries, failing_since=since, now=NOW, rng=rng or Least())


def test_the_pauses_are_those_of_the_contract():
    seconds = [pause_after(tries, rng=Least()) for tries in range(11)]
    hours = [2, 5, 10, 14, 20, 24]
    assert seconds == [
        timedelta(0),
        timedelta(seconds=5),
        timedelta(minutes=5),
        timedelta(minutes=30),
        *(timedelta(hours=h) for h in hours),
        None,
    ]


@given(st.integers(1, 9), st.integers())
def test_jitter_only_makes_a_pause_longer_by_a_tenth_at_most(tries, seed):
    least = pause_after(tries, rng=Least())
    assert least <= pause_after(tries, rng=Random(seed)) <= least * 1.1


@pytest.mark.parametrize(
    ("status", "held"),
    [(None, True), (500, True), (503, True), (429, True), (400, False), (302, False)],
)
def test_an_endpoint_that_is_down_is_held_and_a_refusal_is_of_one_event(status, held):
    following = judged(status, tries=2)
    assert following.due_at == NOW + timedelta(minutes=5)
    assert (following.held_until is not None) is held
    assert following.disable == ""


def test_a_hold_is_five_minutes_at_most():
    assert judged(500, tries=5).held_until == NOW + timedelta(minutes=5)
    assert judged(500, tries=1).held_until == NOW + timedelta(seconds=5)


def test_what_ends_an_endpoint():
    assert judged(410).disable == "it answered 410: gone"
    almost = NOW - timedelta(days=5) + timedelta(seconds=1)
    assert judged(500, since=almost).disable == ""
    assert (
        judged(500, since=NOW - timedelta(days=5)).disable == "it has failed for 5 days"
    )


def test_the_tenth_failure_is_the_last():
    assert judged(500, tries=9).due_at is not None
    assert judged(500, tries=10).due_at is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("Mon, 02 Mar 2026 23:40:00 GMT", 600),
        ("Mon, 02 Mar 2026 23:00:00 GMT", 0),
        ("9999999", 86_400),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_at_most_a_day(value, seconds):
    found = read_retry_after(value, now=NOW)
    assert found == (None if seconds is None else NOW + timedelta(seconds=seconds))


def test_retry_after_is_never_shortened_by_our_own_pause():
    following = judged(503, tries=1, after="3600")
    assert following.due_at == following.held_until == NOW + timedelta(hours=1)


@pytest.mark.parametrize(
    ("filters", "about", "passes"),
    [
        ({}, {}, True),
        ({"severity": ["P0"]}, {"severity": "P0"}, True),
        ({"severity": ["P0"]}, {"severity": "P1"}, False),
        ({"severity": ["P0"]}, {}, True),
        ({"owner": ["@a"]}, {"owners": ["@a", "@b"]}, True),
        ({"owner": ["@a"]}, {"owners": ["@b"]}, False),
        ({"owner": ["@a"]}, {}, False),
        ({"path": ["src"]}, {"paths": ["src/a.py"]}, True),
        ({"path": ["src/"]}, {"paths": ["src/a.py"]}, True),
        ({"path": ["src"]}, {"paths": ["srcs/a.py"]}, False),
        ({"path": ["*.py"]}, {"paths": ["x.md", "a/b.py"]}, True),
        ({"path": ["src"]}, {}, False),
        ({"path": ["src"], "owner": ["@a"]}, {"paths": ["src/a"], "owners": []}, False),
    ],
    ids=str,
)
def test_filters(filters, about, passes):
    found = read_filters(filters)
    assert matches(found, events=[], type="leaker.new", about=about) is passes


def test_types():
    def hears(events, kind):
        return matches(Filters(), events=events, type=kind, about={})

    assert hears([], "run.failed")
    assert hears(["run.failed"], "run.failed")
    assert not hears(["run.failed"], "leaker.new")
    assert not hears([], "endpoint.disabled")
    assert hears(["endpoint.disabled"], "endpoint.disabled")


@pytest.mark.parametrize(
    "filters",
    [
        [],
        "P0",
        {"severity": ["p0"]},
        {"severity": 1},
        {"owner": [""]},
        {"path": ["x" * 301]},
        {"path": ["x"] * 51},
        {"project": ["a/b"]},
        {"quiet": {"from": "22:00"}},
        {"quiet": {"from": "22:00", "to": "22:00"}},
        {"quiet": {"from": "25:00", "to": "07:00"}},
        {"quiet": "night"},
    ],
    ids=str,
)
def test_filters_that_cannot_be(filters):
    with pytest.raises(BadFilters):
        read_filters(filters)


@pytest.mark.parametrize(
    ("zone", "at", "until"),
    [
        ("UTC", "2026-03-02T23:30", "2026-03-03T07:00"),
        ("UTC", "2026-03-02T06:59", "2026-03-02T07:00"),
        ("UTC", "2026-03-02T07:00", "2026-03-02T07:00"),
        ("UTC", "2026-03-02T21:59", "2026-03-02T21:59"),
        ("Asia/Tokyo", "2026-03-02T13:00", "2026-03-02T22:00"),
        # The clock is put forward this night.
        ("Europe/Berlin", "2026-03-28T22:00", "2026-03-29T05:00"),
    ],
)
def test_quiet_hours_end_in_the_projects_zone(zone, at, until):
    quiet = read_filters({"quiet": {"from": "22:00", "to": "07:00"}}).quiet
    assert isinstance(quiet, Quiet)
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert quiet.until(moment, zone) == datetime.fromisoformat(until).replace(
        tzinfo=UTC
    )


def message(kind, data, parts=()):
    return Message("evt_1", kind, NOW, "acme/app", data, "https://b.example/p/", parts)


def test_every_event_that_can_be_heard_of_has_a_sample():
    assert set(SAMPLES) == set(EventType) - {EventType.DIGEST, EventType.TEST}


@pytest.mark.parametrize("kind", list(EventType))
@pytest.mark.parametrize("format", ["json", "slack", "teams"])
def test_an_event_without_any_data_is_still_rendered(kind, format):
    assert len(message(kind, {}).headline) > 3
    assert body_of(message(kind, {}), format)


def test_slack_takes_nothing_for_markup():
    told = slack(message("leaker.new", {"nodeid": "<!channel> *a* & <@U1>|x"}))
    text = as_bytes(told).decode()
    assert "<!channel>" not in text
    assert "<@U1>" not in text
    assert "&lt;!channel&gt;" in told["text"]


def test_big_digests_stay_below_the_limits():
    parts = [message("leaker.new", {"nodeid": f"{n}" + "x" * 5000}) for n in range(200)]
    digest = message("digest", {"count": 200, "of": "leaker.new"}, parts)
    told = slack(digest)
    assert len(told["blocks"]) <= 50
    assert all(len(str(one)) < 3200 for one in told["blocks"])
    assert len(as_bytes(teams(digest))) <= 28 * 1024
    assert b"more events" in as_bytes(teams(digest))


def test_a_secret_is_of_32_bytes_and_its_key_what_it_encodes():
    secret = new_secret()
    assert secret.startswith("whsec_")
    assert len(standard_key(secret)) == 32
    assert standard_key("not base64!") == b"not base64!"
