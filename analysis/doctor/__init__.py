"""What a table of scores is, what can be computed from it, and what can't."""
