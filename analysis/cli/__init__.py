"""The commands `ccrs report` and `ccrs demo`: what a study or a file holds, handed to analysis.

Modules of commands import only click until they run.
"""
