"""A gate for automation: thresholds on the report's figures, a baseline, and a noise floor."""
