"""The figures of a report, each with a title that says what it shows, a caption and its data."""
