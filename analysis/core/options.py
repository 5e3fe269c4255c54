"""The options of an analysis, each with its default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, get_args

from analysis.core.errors import AnalysisError
from analysis.core.hypothesis import Hypothesis
from analysis.core.published_figures import PublishedFigures

Reference = Literal["mean_of_raters", "adjudicated"]

#: The attribute in which runs of one judge may differ.
SEED = "seed"


@dataclass(frozen=True)
class InstructionMismatch:
    """Rules for a construct that the raters had and the judge's prompt lacks."""

    construct: str
    judge: str
    rules: tuple[str, ...] | None
    """None: the judge's prompt is not known."""


def missing_rules(rules: Iterable[str], prompt: str) -> tuple[str, ...]:
    """Return the rules whose text is not in the prompt, whatever its case and line breaks."""
    words = _plain(prompt)
    return tuple(rule for rule in rules if _plain(rule) not in words)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


@dataclass(frozen=True)
class Options:
    """The options of a report, all of which are recorded in report.json."""

    reference: Reference = "mean_of_raters"
    """The human value that judges and metrics are compared with."""
    resamples: int = 2000
    """Bootstrap resamples of queries."""
    seed: int = 0
    level: float = 0.95
    """Confidence level of every interval."""
    ac_lambda: float = 0.7
    """Weight of the exact match in composed AC."""
    scorer_notes: Mapping[str, str] = field(default_factory=dict)
    """Remarks by scorer, which the report shows with it."""
    derived_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Scorers whose scores follow from those of others, with these: a jury, an expected score."""
    low_is_good: tuple[str, ...] = ()
    """Metrics of which a low value is a good sign: their sign is turned where orders are compared
    with those of judges."""
    not_computed: Mapping[str, str] = field(default_factory=dict)
    """By jury or composite without any score: what it is made of, and what has no scores."""
    runs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By run of a judge: its attributes, such as model, prompts and seed. Runs whose attributes are
    equal, apart from the seed, are of one judge; other judge scorers are different judges."""
    map: Mapping[str, Literal["linear", "thresholds"]] = field(default_factory=dict)
    """By scorer with a different scale: how it is mapped to people's (core/scale_mapping.py)."""
    instruction_mismatches: tuple[InstructionMismatch, ...] = ()
    """Rules that raters had and a judge lacked, which the report lists."""
    hypotheses: tuple[Hypothesis, ...] = ()
    """Claims about pairs of systems that were declared in advance."""
    second_metrics: tuple[str, ...] = ()
    """Constructs or scorers that make up a second set of metrics, next to the study's."""
    published_figures: tuple[PublishedFigures, ...] = ()
    """What publications report on these data, shown next to the figures here."""
    published: bool = False
    """Whether the figures of the CCRS paper are shown next to those of systems A to F."""
    non_inferiority_margin: float | None = None
    """By how much a judge's correlation may be lower than a rater's; None: not tested."""
    bias_margin: float | None = None
    """Margin in points of the equivalence test of the bias; None: not tested."""
    alt_test_epsilon: float = 0.15
    """Allowance of the alternative annotator test: .2 experts, .15 skilled, .1 a crowd."""
    true_rate: float = 0.8
    """Smallest true positive and true negative rate with which a binary judge's level counts."""
    cut: Mapping[str, float] = field(default_factory=dict)
    """By `human`, a scorer, or one of them with :CONSTRUCT: the lowest graded value that passes."""
    overall: str | None = None
    """Construct with an overall human rating, from which the weights of a composite are learned."""
    layout: str | None = None
    """Layout of the pages whose ratings are used where there are two, single or side_by_side; by
    default the one with more values."""
    without_unopened: bool = False
    """Whether the agreement is also shown without ratings given before a passage was opened."""
    target_width: float | None = None
    """Half-width in points that corrected means should reach; by default 5% of the scale."""
    interim_analyses: int = 0
    """Number of interim analyses while people rated: from the first on, the design is
    sequential."""

    def judge_of(self, run: str) -> tuple[object, ...]:
        """What identifies the judge of a run: equal for two runs of one judge."""
        if run not in self.runs:
            return (run,)
        return tuple(sorted(item for item in self.runs[run].items() if item[0] != SEED))

    def __post_init__(self) -> None:
        if self.target_width is not None and not self.target_width > 0:
            raise AnalysisError(f"a target width of {self.target_width:g} points is not above 0")
        if self.reference not in get_args(Reference):
            raise AnalysisError(
                f"reference {self.reference!r}: use one of {', '.join(get_args(Reference))}"
            )
        if self.interim_analyses < 0:
            raise AnalysisError(f"{self.interim_analyses} interim analyses: give 0 or more")
        if self.resamples < 100:
            raise AnalysisError(f"{self.resamples} resamples are too few; take 100 or more")
        if not 0.5 < self.level < 1:
            raise AnalysisError(f"level {self.level:g} is not between 0.5 and 1")
        if not 0 <= self.ac_lambda <= 1:
            raise AnalysisError(f"lambda {self.ac_lambda:g} is outside 0 to 1")
        margin = self.non_inferiority_margin
        if margin is not None and not 0 < margin < 1:
            raise AnalysisError(f"margin {margin:g} of a correlation is not between 0 and 1")
        if self.bias_margin is not None and not self.bias_margin > 0:
            raise AnalysisError(f"bias margin {self.bias_margin:g} is not above 0 points")
        if not 0.5 < self.true_rate < 1:
            raise AnalysisError(f"true rate {self.true_rate:g} is not between 0.5 and 1")
        if not 0 <= self.alt_test_epsilon < 1:
            raise AnalysisError(f"epsilon {self.alt_test_epsilon:g} is not between 0 and 1")


def changed_fields(options: Options) -> tuple[str, ...]:
    """Names of the options whose value is not the default."""
    default = Options()
    return tuple(
        option.name
        for option in fields(Options)
        if getattr(options, option.name) != getattr(default, option.name)
    )
