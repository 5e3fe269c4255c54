"""Import of files and rows into a study: each source is stored completely or not at all."""
