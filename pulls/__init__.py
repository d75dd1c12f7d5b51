"""Pull requests: facts, ancestry, attribution, dependencies, verdicts."""
