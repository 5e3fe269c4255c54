"""Prompt versions: their words, placeholders and decoding."""
