"""The raters' pages."""
