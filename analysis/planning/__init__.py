"""How many queries, responses and raters a study needs, and when it may stop."""
