"""Snapshots of interfaces and figures."""
