"""Statistics on plain arrays; a folder for each family."""
