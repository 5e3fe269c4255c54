"""Keeping a study safe and its raters' rights: backup, restore, archive, erasure."""
