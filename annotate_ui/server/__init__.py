"""The rating pages as a running server: its secret, its place, its size, its start and end."""
