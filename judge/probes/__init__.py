"""Probes: altered prompts of a run, asked under its own conditions, and what a fair judge does."""
