"""The input of an analysis from a file, as `ccrs report` reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.cli.read_scores import compares, from_file, from_preferences
from analysis.cli.report_input import ReportInput
from ccrs_study.written_scales import Scales, scale_of
from study.base.scales import Scale
from study.importing.score_columns.column_purposes import ColumnNames
from study.importing.score_columns.named_columns import NamedColumns


def read_file(
    path: Path,
    judge: ColumnNames | None,
    human: ColumnNames | None,
    identifying: Mapping[str, str | None],
    scale: Scales | None,
    values: Mapping[str, float | None] | None,
    options: Mapping[str, Any],
) -> ReportInput:
    """Read a file; the arguments are those of `evaluate`."""
    words = tuple(
        f"{word}={'' if number is None else f'{number:g}'}"
        for word, number in (values or {}).items()
    )
    columns = NamedColumns(_texts(judge), _texts(human), **identifying, values=words)
    if columns == NamedColumns() and scale is None and compares(path):
        return from_preferences(path, (), None, dict(options))
    return from_file(path, _scales(scale), (), None, None, dict(options), columns=columns or None)


def _texts(names: ColumnNames | None) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    if isinstance(names, Mapping):
        return tuple(
            f"{construct}={column}"
            for construct, of in names.items()
            for column in ([of] if isinstance(of, str) else of)
        )
    return tuple(names)


def _scales(scale: Scales | None) -> Sequence[str]:
    if scale is None:
        return ()
    if isinstance(scale, Mapping):
        return [f"{construct}={_written(scale_of(one))}" for construct, one in scale.items()]
    return [_written(scale_of(scale))]


def _written(scale: Scale) -> str:
    step = "" if scale.step is None else f"{scale.step:g}"
    return f"{scale.min:g}:{scale.max:g}:{step}:{scale.level}"
