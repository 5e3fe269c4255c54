"""Models that make vectors of texts or classify pairs of them, here or behind an endpoint."""
