"""Comparisons of two responses as a task of their own. Knows no web."""
