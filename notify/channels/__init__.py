"""Hosts of pull requests: one comment and one check each, kept up to date."""
