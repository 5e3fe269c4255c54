"""Answer Correctness: the exact match, the judge's part, and their composition."""
