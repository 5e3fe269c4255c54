"""One module per migration, in the order of their revisions; the only place that lists them."""
