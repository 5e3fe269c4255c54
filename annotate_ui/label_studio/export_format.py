"""The export of any Label Studio project: how it is recognized.

Reading it takes much that no other file needs, which is loaded with the first such file.
"""

from annotate_ui.label_studio.short_form import is_short
from study.importing.importers import FileDescription, FormatOptions
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows

DESCRIPTION = (
    "the export of a Label Studio project: JSON [{data, annotations: [{result, completed_by}]}], "
    "or JSON_MIN, CSV and TSV with annotation_id, annotator and lead_time"
)
TAKES = ("columns", "controls", "ranges", "raters", "rater_prefix", "annotations")
is_certain = is_short


def matches(head: Head) -> bool:
    """Whether the file is a list of tasks with annotations, or an export in a short form."""
    full = head.form.startswith("json") and {"data", "annotations"} <= set(head.columns)
    return full or is_short(head)


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read responses and ratings; see `export_file.rows`."""
    from annotate_ui.label_studio import export_file

    return export_file.rows(source, options)


def describe(source: RecordSource, options: FormatOptions) -> FileDescription:
    """Return the controls of an export; see `export_controls.described`."""
    from annotate_ui.label_studio.export_controls import described

    return described(source, options)


def unmapped(source: RecordSource, options: FormatOptions) -> list[str]:
    """Return the controls without a construct; see `export_controls.unmapped_controls`."""
    from annotate_ui.label_studio.export_controls import unmapped_controls

    return unmapped_controls(source, options)
