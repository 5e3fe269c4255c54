"""Whether constructs measure different things: correlations between them."""
