"""The bridge to Label Studio: raters rate there; the study assigns, stores and reports."""

CHANNEL = "label_studio"
"""The channel of assignments that are rated in Label Studio."""
FOLLOWED = "label_studio_followed"
"""The channel of assignments that were rated in projects which the study did not push.

They are nobody's task; their ratings have the channel `CHANNEL` like all of Label Studio.
"""
