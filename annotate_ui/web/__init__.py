"""The Flask application: the pages of raters."""
