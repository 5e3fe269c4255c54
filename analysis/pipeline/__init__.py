"""From tables to a report: all estimates, all sections, the files."""
