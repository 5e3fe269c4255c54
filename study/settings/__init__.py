"""study.toml: a module for each group of sections."""
