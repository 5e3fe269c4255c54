"""Altered texts that probe a judge."""
