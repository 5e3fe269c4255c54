"""What answers prompts: an endpoint, files of answers, a provider's batch service."""
