"""pyarrow, which reads and writes Parquet: the extra `parquet`."""

from typing import Any

from study.errors import StudyError


def load_pyarrow() -> Any:
    """Return the module `pyarrow`, with `pyarrow.parquet`.

    Raises
    ------
    StudyError
        It is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise StudyError(
            "Parquet files need pyarrow, which is not installed; run: "
            "pip install 'ccrs-study[parquet]', or use CSV."
        ) from None
    return pa
