"""Runs of a judge: the plan, the loop, the store, calls, lock and forecast."""
