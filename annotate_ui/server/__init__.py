"""The server of the rating pages."""
