"""What counts: ratings, judgments, responses, and the tables made of them."""
