"""Statistics on plain arrays and tables: agreement, reliability, validity, reports."""
