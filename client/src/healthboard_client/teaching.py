"""What `--help` teaches."""

from __future__ import annotations

MAIN = """\
Sends test reports to Healthboard, asks it whether a build is red, proves which test
breaks which, and splits a suite into even shards.

  export HEALTHBOARD_URL=https://health.example.com
  export HEALTHBOARD_TOKEN=...        # a secret of your CI, never an option

  pytest --junitxml=junit.xml; code=$?
  healthboard-ci upload --exit-code $code
  healthboard-ci check
"""

EXITS = """\
exit codes:
  0   done; also: an upload failed and --strict was not given
  1   no: check found what --fail-on names, confirm proved nothing, or a --strict
      upload failed
  2   no answer: the time was over, or the server cannot say
  64  wrong options or settings; nothing was asked
"""

UPLOAD = """\
Sends the reports of this job. The kind of each file is told from its content (JUnit
XML, pytest-reportlog, order trace, gate, effects, review); run, shard, attempt, pull
request and commit are read from the CI (GitHub Actions, GitLab, Jenkins, CircleCI,
Buildkite, Azure, Bitbucket, TeamCity), the ancestry from git.

A failed upload warns and exits 0, as the tests are what your job is about; what could
not be sent waits in the spool and goes out with the next upload.

examples:
  healthboard-ci upload                             # **/junit*.xml and other usual names
  healthboard-ci upload 'build/**/TEST-*.xml'       # quoted: this command expands it
  healthboard-ci upload review:comments.md          # the kind said, not told
  healthboard-ci upload --dry-run                   # what would be sent
  healthboard-ci upload --wait --strict             # and what became of it
  healthboard-ci upload --shard 2/4 --env python=3.12 --exit-code $code
"""

CHECK = """\
Waits until the server knows the answer, prints it, and exits 1 for what --fail-on
names. Quarantined tests never make it red.

  introduced-leak     a test of this change leaves something behind, and none did before
  introduced-failure  a test fails that did not at the base
  failure             any test fails, quarantined ones apart
  p0                  an open review finding of severity P0
  blocked             a pull request that this one waits for is open
  new-flaky           a test both passed and failed here that was not known to be flaky
  incomplete          a shard is missing, or a report is damaged
Without a pull request there is no base: then introduced-failure means failure, and
introduced-leak a leaker first seen in this run.

examples:
  healthboard-ci check                              # the run of this job
  healthboard-ci check --pr 538 --fail-on introduced-leak,p0,blocked
  healthboard-ci check --run github-7211 --fail-on failure,incomplete --timeout 900
"""

CONFIRM = """\
Proves in fresh processes which test breaks VICTIM. Asks the server for the ranked
candidates and runs `pytest CANDIDATE VICTIM`, the best first; where none proves it, it
bisects a recorded order. A proof is sent to the server, where it outranks statistics.
A victim that fails alone is brittle: then the test is looked for that it needs.

Nothing is changed: no cache, no temporary directory of pytest's but its own.

examples:
  healthboard-ci confirm tests/test_cart.py::test_total
  healthboard-ci confirm tests/test_cart.py::test_total --against tests/test_a.py::test_b
  healthboard-ci confirm tests/test_cart.py::test_total --order .healthboard/order.jsonl
  healthboard-ci confirm tests/test_cart.py::test_total --pytest "poetry run pytest"
"""

SHARDS = """\
Prints the test files of one shard, the heaviest files dealt first. The same files and
durations give the same shards on every machine, and each file is in exactly one; files
without a duration count as the median. Durations come from a file or the server.

A run that ends meanwhile changes the server's durations: let one job write them with
--save-durations and give that file to all shards, or a file may be dealt twice or not
at all.

examples:
  healthboard-ci shards --index 1 --count 4 | xargs -r pytest
  git ls-files 'test_*.py' | healthboard-ci shards --index 1 --count 4 -
  healthboard-ci shards --index 1 --count 4 --durations durations.json tests
"""
