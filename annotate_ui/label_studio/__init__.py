"""The bridge to Label Studio: raters rate there; the study assigns, stores and reports."""

CHANNEL = "label_studio"
"""The channel of assignments that are rated in Label Studio."""
PREFILLED = "label_studio_prefilled"
"""The channel of values that the caller takes although they were made from a prediction."""
NAME = "ccrs_id"
"""Field of a task's data with its name."""
