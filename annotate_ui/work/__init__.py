"""What a rater has to do, step by step, and what becomes of it. Knows no web."""
