"""One file for each step of the schema, from the first on."""
