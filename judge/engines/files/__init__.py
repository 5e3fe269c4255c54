"""The engine `files`: prompts into files of requests, and answers from files."""
