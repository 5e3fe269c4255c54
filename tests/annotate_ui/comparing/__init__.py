"""Tests of annotate_ui.comparing."""
