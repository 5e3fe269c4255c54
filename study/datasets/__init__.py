"""Public data sets with human judgments, downloaded and turned into studies."""
