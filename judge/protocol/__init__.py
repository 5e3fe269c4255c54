"""What passes between a run and an engine: requests, answers, usage, conditions."""
