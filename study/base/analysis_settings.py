"""The settings of an analysis: `[analysis]` of study.toml, options of commands and of Python."""

from dataclasses import dataclass, field
from typing import Any, Literal

from study.base.declaration import Declaration, described

Reference = Literal["mean_of_raters", "adjudicated"]


def _setting(description: str, metavar: str | None = None, **bounds: float) -> dict[str, Any]:
    """The metadata of a setting with an option, whose placeholder is `metavar`."""
    extra = {} if metavar is None else {"metavar": metavar}
    return {**described(description, **bounds), "json_schema_extra": extra}


@dataclass(frozen=True)
class AnalysisSettings(Declaration):
    """Choices of the report."""

    reference: Reference = field(
        default="mean_of_raters",
        metadata=_setting(
            "what scorers are compared with: the mean of a response's raters, or an "
            "adjudicated value"
        ),
    )
    resamples: int = field(
        default=2000, metadata=_setting("bootstrap resamples of queries", "N", ge=100, le=100_000)
    )
    level: float = field(
        default=0.95, metadata=_setting("confidence level of every interval", "SHARE", gt=0.5, lt=1)
    )
    ac_lambda: float = field(
        default=0.7,
        metadata=_setting("weight of the exact match in composed AC", "WEIGHT", ge=0, le=1),
    )
    second_metrics: tuple[str, ...] = field(
        default=(),
        metadata=_setting(
            "constructs or scorers that form a second set of metrics, compared with the study's",
            "NAMES",
        ),
    )
    published: bool = field(
        default=False,
        metadata=_setting(
            "whether the CCRS paper's figures are shown next to those of systems A to F"
        ),
    )
    non_inferiority_margin: float | None = field(
        default=None,
        metadata=_setting(
            "how much lower a judge's correlation with people may be than a rater's; "
            "default: 0.1 in the answers",
            "DIFFERENCE",
            gt=0,
            lt=1,
        ),
    )
    bias_margin: float | None = field(
        default=None,
        metadata=_setting(
            "largest bias of a judge, in points, that is treated as none; default: 5% of "
            "the scale in the answers",
            "POINTS",
            gt=0,
        ),
    )
    alt_test_epsilon: float = field(
        default=0.15,
        metadata=_setting(
            "allowance of the alternative annotator test: 0.2 where raters are experts, "
            "0.15 where they are skilled, 0.1 in a crowd",
            "ALLOWANCE",
            ge=0,
            lt=1,
        ),
    )
    true_rate: float = field(
        default=0.8,
        metadata=_setting(
            "smallest true positive and true negative rate with which a judge of two "
            "values is used for its level",
            "SHARE",
            gt=0.5,
            lt=1,
        ),
    )
    cut: dict[str, float] = field(
        default_factory=dict,
        metadata=_setting(
            "lowest value with which people (human) or a scorer pass a response, where "
            "they grade; default: not cut, a scorer where people pass or fail by the best cut",
            "human|SCORER[:CONSTRUCT]=VALUE",
        ),
    )
    overall: str | None = field(
        default=None,
        metadata=_setting(
            "construct of an overall human rating, from which the weights of a composite "
            "are estimated",
            "CONSTRUCT",
        ),
    )
    without_unopened: bool = field(
        default=False,
        metadata=_setting(
            "whether the agreement is also shown without ratings that were given before "
            "any passage was opened"
        ),
    )
    target_width: float | None = field(
        default=None,
        metadata=_setting(
            "half-width in points that corrected means should reach; default: 5% of the scale",
            "POINTS",
            gt=0,
        ),
    )
    map: dict[str, Literal["linear", "thresholds"]] = field(
        default_factory=dict,
        metadata=_setting(
            "how a scorer with a different scale is mapped to people's: linear, its ends to "
            "theirs, or thresholds, by people's distribution on other queries; default: not mapped",
            "SCORER=linear|thresholds",
        ),
    )
