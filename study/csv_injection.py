"""Text cells of our own CSV exports: defused for spreadsheets, and restored when read again."""

MARK = "_ccrs_export"
"""Column that tells an export of ours; only where it stands is anything restored."""

# A spreadsheet runs what begins so as a formula, or drops the leading control character. The
# apostrophe itself is among them, so that the way back has no exception.
_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


def escape_formula(text: str) -> str:
    """Return text that a spreadsheet shows and does not run."""
    return f"'{text}" if text.startswith(_ACTIVE) else text


def unescape_formula(text: str) -> str:
    """Undo `defused`."""
    return text.removeprefix("'")
