"""Migrations of databases that have data: `ccrs upgrade` runs those in `versions`."""
