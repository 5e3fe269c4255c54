"""How far the scores of a judge depend on which run of it gave them."""
