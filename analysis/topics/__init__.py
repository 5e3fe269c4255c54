"""The topics of a report: a folder for each question, from estimates to the section."""
