"""Statistics of a judge and people who say pass or fail."""
