"""The formats that files come in; each is a module, and an entry point in `ccrs.importers`."""
