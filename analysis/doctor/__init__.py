"""Describing a table of scores, and what can be computed from it."""
