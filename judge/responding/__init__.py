"""Responses of retrieval-augmented systems: chunks, rankings, and a reader that answers."""
