"""The options of an analysis, each with its default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields

from analysis.core.errors import AnalysisError
from study.base.analysis_settings import AnalysisSettings
from study.base.hypotheses import Hypothesis
from study.base.published_figures import PublishedFigures

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
class Options(AnalysisSettings):
    """The settings of a report, and what is known of its scorers.

    Examples
    --------
    >>> from ccrs_study import Options
    >>> Options(resamples=500, bias_margin=5.0).bias_margin
    5.0
    """

    seed: int = 0
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
    instruction_mismatches: tuple[InstructionMismatch, ...] = ()
    """Rules that raters had and a judge lacked, which the report lists."""
    hypotheses: tuple[Hypothesis, ...] = ()
    """Claims about pairs of systems that were declared in advance."""
    published_figures: tuple[PublishedFigures, ...] = ()
    """What publications report on these data, shown next to the figures here."""
    layout: str | None = None
    """Layout of the pages whose ratings are used where there are two, single or side_by_side; by
    default the one with more values."""
    interim_analyses: int = field(default=0, metadata={"ge": 0})
    """Number of interim analyses while people rated: from the first on, the design is
    sequential."""

    def judge_of(self, run: str) -> tuple[object, ...]:
        """What identifies the judge of a run: equal for two runs of one judge."""
        if run not in self.runs:
            return (run,)
        return tuple(sorted(item for item in self.runs[run].items() if item[0] != SEED))

    def __post_init__(self) -> None:
        try:
            super().__post_init__()
        except ValueError as error:
            raise AnalysisError(str(error)) from None


def changed_fields(options: Options) -> tuple[str, ...]:
    """Names of the options whose value is not the default."""
    default = Options()
    return tuple(
        option.name
        for option in fields(Options)
        if getattr(options, option.name) != getattr(default, option.name)
    )
