"""The commands of `judge`. Only click is imported until they run."""
