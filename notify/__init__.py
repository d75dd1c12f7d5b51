"""Telling people: events out, endpoints, deliveries."""
