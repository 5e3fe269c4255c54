"""Comparing two responses directly: a task of its own, after the ratings."""
