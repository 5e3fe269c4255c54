"""Databases as past releases made them, as SQL; upgrades are tested on them."""
