"""Figures of one judge beside one rater in plain Python, before numpy and pandas are loaded."""
