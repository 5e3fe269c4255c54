"""The opening sentences of a report, for each construct and judge."""
