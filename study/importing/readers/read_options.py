"""How the cells of one file are to be read, and what was already said of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from study.importing.import_report import ImportReport
from study.importing.readers.column_layout import Fields
from study.text import abbreviate


@dataclass
class ReadOptions:
    """What holds for every record of a file."""

    tally: ImportReport
    fields: Fields
    typed: bool
    """Whether cells have types of their own, as in JSON and Parquet, or are all text."""
    decimal_comma: bool
    defused: bool
    """Whether the file is an export of ours, with apostrophes before formulas."""
    told: set[tuple[str, ...]] = field(default_factory=set)
    """What is reported once for the whole file."""
    _decimals: dict[str, set[str]] = field(default_factory=dict)
    """By column: the signs of its decimal numbers, where both are understood."""

    def see_decimal(self, column: str, cell: Any) -> None:
        """Note which decimal sign a cell of numbers has."""
        if self.decimal_comma and isinstance(cell, str):
            signs = {sign for sign in ",." if sign in cell}
            if signs:
                self._decimals.setdefault(column, set()).update(signs)

    def mixed_decimals(self) -> Iterator[str]:
        """Yield a warning for each column with decimal commas and decimal points."""
        for column, signs in self._decimals.items():
            if len(signs) > 1:
                yield (
                    f"the column {abbreviate(column)} holds decimal commas and decimal points; "
                    "see whether both are meant as such."
                )
