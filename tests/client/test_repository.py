"""What git says of a checkout, deep, shallow or none."""

from __future__ import annotations

import pytest

from healthboard_client.repository import read_history


@pytest.fixture
def checkout(job, monkeypatch):
    """A branch of two commits beside a main that went on."""
    job.git("init", "-q", "-b", "main")
    job.root = [job.commit("root"), job.commit("second")]
    job.git("checkout", "-q", "-b", "feature")
    job.mine = [job.commit("third"), job.commit("fourth")]
    job.git("checkout", "-q", "main")
    job.upstream = job.commit("upstream")
    job.git("checkout", "-q", "feature")
    monkeypatch.chdir(job.folder)
    return job


def test_merge_base_and_ancestry_of_a_branch(checkout):
    found = read_history(base_branch="main")
    root, second = checkout.root
    third, fourth = checkout.mine
    assert found.commit == fourth
    assert found.branch == "feature"
    assert found.ancestry == [fourth, third, second, root]
    assert found.merge_base == second
    assert found.remarks == []
    assert found.committed_at[10] == "T"


def test_only_first_parents_count(checkout):
    checkout.git("merge", "-q", "--no-ff", "-m", "merge main", "main")
    merge = checkout.git("rev-parse", "HEAD")
    found = read_history(base_branch="main")
    assert found.ancestry == [merge, *reversed(checkout.mine), *reversed(checkout.root)]
    assert found.merge_base == checkout.upstream


def test_the_head_of_a_pull_request_is_not_the_merge_that_is_checked_out(checkout):
    checkout.git("checkout", "-q", "main")
    checkout.git("merge", "-q", "--no-ff", "-m", "test merge", "feature")
    head = checkout.mine[-1]
    found = read_history(head=head, base_branch="main")
    assert found.commit == checkout.git("rev-parse", "HEAD")
    assert found.ancestry[0] == head


def test_a_head_that_git_does_not_have_gives_no_ancestry(checkout):
    found = read_history(head="0" * 40, base_branch="main")
    assert (found.ancestry, found.merge_base) == ([], "")
    assert "git does not have the head 000000000000" in found.remarks[0]


def test_a_shallow_clone_is_said(checkout, tmp_path_factory, monkeypatch):
    clone = tmp_path_factory.mktemp("clones") / "shallow"
    checkout.git("clone", "-q", "--depth=1", f"file://{checkout.folder}", str(clone))
    monkeypatch.chdir(clone)
    found = read_history()
    assert found.ancestry == [checkout.mine[-1]]
    assert "shallow (1 commits)" in found.remarks[0]


def test_at_most_500_commits(checkout):
    tree = checkout.git("rev-parse", "HEAD^{tree}")
    lines = []
    for number in range(600):
        parent = f"from {checkout.mine[-1]}\n" if number == 0 else ""
        lines.append(
            "commit refs/heads/long\ncommitter A <a@example.com> "
            f"{1_770_000_000 + number} +0000\ndata 1\nx\n{parent}"
        )
    checkout.write("import", "".join(lines))
    checkout.git("config", "advice.detachedHead", "false")
    import_all = "git fast-import --quiet < import"
    checkout.git("-c", f"alias.load=!{import_all}", "load")
    checkout.git("checkout", "-q", "-f", "long")
    found = read_history()
    assert tree
    assert len(found.ancestry) == 500
    assert found.ancestry[0] == found.commit


def test_no_repository_is_said(job, monkeypatch):
    monkeypatch.chdir(job.folder)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(job.folder.parent))
    found = read_history(base_branch="main")
    assert (found.commit, found.ancestry) == ("", [])
    assert found.remarks == ["git knows no commit here: no ancestry is sent"]


def test_no_git_at_all_is_said(checkout, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert read_history().remarks == ["git knows no commit here: no ancestry is sent"]


def test_a_branch_that_looks_like_an_option_is_not_given_to_git(checkout):
    assert read_history(base_branch="--output=stolen").merge_base == ""
    assert not (checkout.folder / "stolen").exists()
