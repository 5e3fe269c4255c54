"""What is asked, and in which order: responses by query and context, prompts side by side."""
