"""The short forms of exports of Label Studio: JSON_MIN, CSV and TSV."""

from study.importing.readers.column_layout import folded
from study.importing.readers.source import Head

SIGNS = {"annotation_id", "annotator", "lead_time"}
"""Columns that every such file has."""


def is_short(head: Head) -> bool:
    """Whether a file is an export in a short form."""
    columns = folded(head.columns)
    return columns >= SIGNS and not {"construct", "value"} <= columns
