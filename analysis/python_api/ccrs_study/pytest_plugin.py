"""A pytest fixture that checks a judge's figures against thresholds, as `ccrs check` does."""

from collections.abc import Callable
from pathlib import Path

import pytest

CcrsCheck = Callable[..., None]


@pytest.fixture
def ccrs_check() -> CcrsCheck:
    """A function with the arguments of `ccrs check`, which fails the test where one is not met.

    ``ccrs_check("my-study")`` or
    ``ccrs_check("scores.csv", "--scale", "0:100", "--thresholds", "gate.toml")``
    """

    def checked(source: Path | str, *words: str) -> None:
        from click.testing import CliRunner

        import ccrs_study  # noqa: F401  (the project's packages, whatever the tests are called)
        from analysis.cli.check import check

        result = CliRunner().invoke(check, [str(source), *words])
        if result.exit_code:
            pytest.fail(result.output.strip() or repr(result.exception), pytrace=False)

    return checked
