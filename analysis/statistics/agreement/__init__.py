"""Judge against people, and what a rater reaches."""
