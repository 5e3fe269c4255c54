"""The commands of `study`. Only click is imported until they run."""
