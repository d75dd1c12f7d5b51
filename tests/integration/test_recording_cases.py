"""Test cases under several workers, and what a process remembers of them."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction

from results import models, testcases
from tests.builders import START, make_project, make_result

pytestmark = pytest.mark.django_db(transaction=True)


def resolve(project, names):
    results = [make_result(name) for name in names]
    return testcases.resolve(project.pk, results, seen_at=START)


def test_two_workers_that_meet_the_same_new_tests_number_them_once():
    project = make_project()
    names = [f"test_{n}" for n in range(60)]
    start, errors = threading.Barrier(4), []
    found: dict[int, dict[str, int]] = {}

    def work(worker):
        try:
            start.wait()
            for shift in range(6):
                some = names[shift * 10 :] + names[: shift * 10 + 5]
                unique = list(dict.fromkeys(some if worker % 2 else some[::-1]))
                told = resolve(project, unique)
                pairs = zip(unique, told.numbers.tolist(), strict=True)
                found.setdefault(worker, {}).update(pairs)
        except Exception as error:  # noqa: BLE001 - shown by the assertion
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert all(told == found[0] for told in found.values())
    assert sorted(found[0].values()) == list(range(60))
    assert models.TestCase.objects.count() == 60
    assert models.Counter.objects.get().tests == 60


def test_what_is_remembered_is_not_asked_again(django_assert_num_queries):
    project = make_project()
    first = resolve(project, ["test_a", "test_b"])
    with django_assert_num_queries(1):
        again = resolve(project, ["test_b", "test_a"])
    assert again.numbers.tolist() == first.numbers.tolist()[::-1]
    assert again.ids.tolist() == first.ids.tolist()[::-1]
    assert len(again.made) == 0


def test_what_another_process_made_is_found():
    project = make_project()
    resolve(project, ["test_a"])
    remembered = testcases._known.pop(project.pk)
    other = resolve(project, ["test_a", "test_b"])
    testcases._known[project.pk] = remembered
    assert resolve(project, ["test_a", "test_b"]).ids.tolist() == other.ids.tolist()


def test_an_emptied_database_is_not_mistaken_for_the_one_before():
    project = make_project()
    resolve(project, ["test_a", "test_b"])
    models.TestCase.objects.all().delete()
    models.Counter.objects.all().delete()
    told = resolve(project, ["test_b"])
    assert told.numbers.tolist() == [0]
    assert models.TestCase.objects.get().pk == told.ids[0]


def test_an_older_backup_is_not_mistaken_for_what_was_known():
    project = make_project()
    resolve(project, ["test_a"])
    resolve(project, ["test_b", "test_c"])
    models.TestCase.objects.filter(number__gt=0).delete()
    models.Counter.objects.update(tests=1)
    assert resolve(project, ["test_c", "test_a"]).numbers.tolist() == [1, 0]


def test_what_was_rolled_back_is_forgotten():
    project = make_project()
    with transaction.atomic():
        resolve(project, ["test_a", "test_b"])
        transaction.set_rollback(True)
    assert resolve(project, ["test_b"]).numbers.tolist() == [0]


def test_projects_not_asked_for_longest_are_forgotten(monkeypatch):
    monkeypatch.setattr(testcases, "MOST_REMEMBERED", 3)
    first, second = make_project("acme/a"), make_project("acme/b")
    resolve(first, ["test_a", "test_b"])
    resolve(second, ["test_a", "test_b"])
    assert first.pk not in testcases._known
    assert second.pk in testcases._known
    assert resolve(first, ["test_b"]).numbers.tolist() == [1]


def test_more_tests_than_fit_in_one_question():
    project = make_project()
    names = [f"test_{n}" for n in range(2_100)]
    first = resolve(project, names)
    testcases._known.clear()
    assert resolve(project, names).ids.tolist() == first.ids.tolist()
