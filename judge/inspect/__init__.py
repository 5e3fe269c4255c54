"""Runs and their answers: list, show, compare, export, read again."""
