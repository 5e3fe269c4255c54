"""A setting of the analysis is declared once: study.toml, options and Python have its bounds."""

from dataclasses import fields

import click
import pytest

from analysis import AnalysisError, Options
from analysis.cli.report import analysis_options
from study.base import AnalysisSettings
from study.errors import StudyError
from study.settings.study_toml import StudyConfig, parse_config


def test_the_section_and_the_options_of_a_report_are_the_same_model() -> None:
    assert issubclass(Options, AnalysisSettings)
    assert StudyConfig().analysis == AnalysisSettings()
    assert {option.name for option in analysis_options()} == {
        *(setting.name for setting in fields(AnalysisSettings)),
        "seed",
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("resamples", 10),
        ("resamples", 100_001),
        ("level", 1.0),
        ("level", 0.5),
        ("ac_lambda", -1.0),
        ("true_rate", 1.0),
        ("bias_margin", 0.0),
        ("alt_test_epsilon", 1.0),
    ],
)
def test_a_value_out_of_bounds_is_refused_everywhere(name: str, value: float) -> None:
    with pytest.raises(AnalysisError, match=f"{name} .* is not "):
        Options(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(StudyError, match=rf"analysis\.{name} = "):
        parse_config(f"[analysis]\n{name} = {value}\n")
    (option,) = [option for option in analysis_options() if option.name == name]
    with pytest.raises(click.BadParameter, match="not in the range"):
        option.type.convert(value, option, None)


def test_an_unknown_choice_or_setting_is_refused_with_what_is_known() -> None:
    with pytest.raises(AnalysisError, match="use one of mean_of_raters, adjudicated"):
        Options(reference="majority")  # type: ignore[arg-type]
    with pytest.raises(StudyError, match=r"analysis\.levle: unknown setting\. Did you mean"):
        parse_config("[analysis]\nlevle = 0.9\n")
    with pytest.raises(StudyError, match=r"constructs\.0\.scale\.mim: unknown setting\."):
        parse_config('[[constructs]]\nkey = "A"\nname = "A"\nscale = {mim = 0}\n')
