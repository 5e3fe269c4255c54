"""The tables of a report, each with its caption, its data and the reasons of its empty cells."""
