"""How often the intervals cover, by simulation."""
