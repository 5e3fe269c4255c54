"""Runs of a judge: what each is known by, who may write to it, what it has given."""
