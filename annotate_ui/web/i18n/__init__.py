"""Translations of the pages' words."""
