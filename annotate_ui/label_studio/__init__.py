"""The bridge to Label Studio: raters rate there; the study assigns, stores and reports."""

CHANNEL = "label_studio"
"""The channel of assignments that are rated in Label Studio."""
PREFILLED = "label_studio_prefilled"
"""The channel of values that the caller takes although they were made from a prediction."""
FOLLOWED = "label_studio_followed"
"""The channel of assignments that were rated in projects which the study did not push.

They are nobody's task; their ratings have the channel `CHANNEL` like all of Label Studio.
"""
