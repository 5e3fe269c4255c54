"""Models that make vectors of texts, on this machine or behind an endpoint."""
