"""Metrics that score a response."""
