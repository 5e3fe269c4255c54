"""Migrations of the study's database, run by `ccrs init` and `ccrs upgrade` alone."""
