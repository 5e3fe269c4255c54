"""A study as files, with a codebook."""
