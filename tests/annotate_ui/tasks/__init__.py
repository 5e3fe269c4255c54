"""Tests of annotate_ui.tasks."""
