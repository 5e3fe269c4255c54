"""How far people agree among themselves."""
