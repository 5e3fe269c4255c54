"""How a metric's scores are distributed: center, spread, shape, ties, bounds."""
