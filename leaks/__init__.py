"""Leakers, their victims, the classes of unstable tests, and proofs from outside."""
