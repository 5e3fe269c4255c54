"""A real vLLM engine without a GPU, in an environment of its own."""
