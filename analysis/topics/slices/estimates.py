"""Agreement with people in parts of the responses, and its difference from all other responses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from analysis.core.arrays import BoolArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import QueryStatistic
from analysis.core.response_words import response_words
from analysis.core.statistic import Statistic
from analysis.statistics.agreement.association import Measure, association
from analysis.statistics.binary.rates import rate
from analysis.topics.binary.pass_fail_values import PassFailValues, pass_or_fail
from analysis.topics.distribution.people_by_system import severity_by_system

#: Slices of one kind are compared up to this many.
SLICES_COMPARED = 20

#: Fewest responses with a human value in a third by length.
FEWEST_BY_LENGTH = 5

RATES = ("true_positive_rate", "true_negative_rate", "accuracy")


@dataclass(frozen=True, eq=False)
class Slice:
    """Responses (n,) that have something in common."""

    by: str
    """What they were divided by: system, domain or length."""
    name: str
    chosen: BoolArray
    compared: bool = True
    """Whether it is compared with all other responses: not the second of two, which mirrors the
    first, and no system, for which `error_by_system_given_human` allows for its quality."""

    @property
    def params(self) -> dict[str, Any]:
        """Parameters that name the slice."""
        return {"by": self.by, "slice": self.name}


def slices(context: Context, data: ConstructData) -> list[Slice]:
    """The slices of a construct's responses with a human value; at least two of each kind."""
    rated = np.isfinite(data.reference)
    kinds = (_systems(data), _domains(context, data), _thirds_by_length(context, data))
    result: list[Slice] = []
    for kind in kinds:
        with_values = [of for of in kind if (of.chosen & rated).any()]
        if len(with_values) == 2:
            with_values[1] = replace(with_values[1], compared=False)
        if 1 < len(with_values) <= SLICES_COMPARED:
            result += with_values
    return result


def _systems(data: ConstructData) -> list[Slice]:
    return [Slice("system", name, data.produced_by(name), compared=False) for name in data.systems]


def _domains(context: Context, data: ConstructData) -> list[Slice]:
    frame = context.scores.frame
    if "domain" not in frame:
        return []
    rows = frame[frame["domain"].notna()].drop_duplicates("response_id")
    by_response = rows.set_index(rows["response_id"].astype("object"))["domain"].astype("object")
    domains = by_response.reindex(list(data.responses))
    return [
        Slice("domain", str(name), (domains == name).to_numpy())
        for name in sorted(domains.dropna().unique())
    ]


def _thirds_by_length(context: Context, data: ConstructData) -> list[Slice]:
    words = response_words(context.scores, data)
    rated = np.isfinite(words) & np.isfinite(data.reference)
    if rated.sum() < 3 * FEWEST_BY_LENGTH:
        return []
    short, middle = (int(cut) for cut in np.quantile(words[rated], [1 / 3, 2 / 3], method="lower"))
    thirds = (
        (f"up to {short:,} words", words <= short),
        (f"{short + 1:,} to {middle:,} words", (words > short) & (words <= middle)),
        (f"over {middle:,} words", words > middle),
    )
    if min(int((rated & chosen).sum()) for _, chosen in thirds) < FEWEST_BY_LENGTH:
        return []
    return [Slice("length", name, chosen) for name, chosen in thirds]


def by_slice(context: Context) -> Iterator[Estimate]:
    """The statistics of every scorer in every slice."""
    verdicts = {(v.scored.construct, v.scored.scorer): v for v in pass_or_fail(context)}
    divided = {key: slices(context, data) for key, data in context.rated.items()}
    for scored in context.scored():
        scorer_verdicts = verdicts.get((scored.construct, scored.scorer))
        for part in divided[scored.construct]:
            if scorer_verdicts is not None and scorer_verdicts.reason is None:
                yield from _pass_fail_estimates(context, scorer_verdicts, part)
            elif not context.nominal([scored.construct]):
                yield from _score_estimates(context, scored, part)


def _score_estimates(context: Context, scored: ComparedScores, part: Slice) -> Iterator[Estimate]:
    data, record = scored.data, scored.record()

    def measured(measure: Measure, chosen: BoolArray) -> QueryStatistic:
        return association(
            measure, scored.values, data.reference, data.query, items=chosen,
            n_queries=data.n_queries,
        )  # fmt: skip

    order = measured("kendall_tau_b", part.chosen)
    yield context.estimate("slice_tau_b", order, transform="fisher_z", params=part.params, **record)
    withheld = scored.withheld
    if part.by == "system":
        withheld = withheld or severity_by_system(context, scored.construct)
    if withheld:
        yield Estimate("slice_bias", reason=withheld, params=part.params, **record)
    else:
        bias = measured("bias", part.chosen)
        yield context.estimate("slice_bias", bias, params=part.params, **record)
        yield from _difference(context, "bias", bias, measured("bias", ~part.chosen), part, record)
    others = measured("kendall_tau_b", ~part.chosen)
    yield from _difference(context, "kendall_tau_b", order, others, part, record)


def _pass_fail_estimates(
    context: Context, verdicts: PassFailValues, part: Slice
) -> Iterator[Estimate]:
    cells = verdicts.cells(part.chosen)
    data, record = verdicts.data, verdicts.scored.record()
    for name in RATES:
        value = rate(cells, name, context.options.level)
        yield Estimate(
            "slice_rate",
            value=value.value,
            **value.interval.fields,
            n_responses=cells.n_responses,
            n_queries=int(cells.contributing.sum()),
            n_dropped=cells.n_dropped,
            reason=value.reason or value.interval.reason,
            params={"measure": name, "of": value.of, **part.params},
            **record,
        )

    def disagreement(chosen: BoolArray) -> QueryStatistic:
        return association(
            "mae", verdicts.judge, verdicts.people, data.query, items=chosen,
            n_queries=data.n_queries,
        )  # fmt: skip

    inside, outside = disagreement(part.chosen), disagreement(~part.chosen)
    yield from _difference(context, "accuracy", outside, inside, part, record)


def _difference(
    context: Context,
    measure: str,
    first: QueryStatistic,
    second: QueryStatistic,
    part: Slice,
    record: dict[str, Any],
) -> Iterator[Estimate]:
    if part.compared:
        params = {"measure": measure, **part.params}
        yield context.estimate("slice_difference", first - second, params=params, **record)


#: What the statistics of this module have in common.
_statistic = partial(Statistic, estimates=by_slice, targets=("these_raters",))
_OF = (
    "of the responses of params.slice: of one system, of the queries of one domain, or of the "
    "shortest, middle or longest third by words (params.by: system, domain, length)"
)

STATISTICS = (
    _statistic(
        "slice_tau_b",
        "Tau-b in a slice",
        f"Kendall's tau-b of scores and people's values {_OF}",
        range=(-1, 1),
        better="higher",
    ),
    _statistic(
        "slice_bias",
        "Bias in a slice",
        f"mean of scores minus people's values {_OF}",
        better="0",
    ),
    _statistic(
        "slice_rate",
        "Rate in a slice",
        f"true positive rate, true negative rate or accuracy (params.measure) {_OF}",
        range=(0, 1),
        better="higher",
        nominal=True,
    ),
    _statistic(
        "slice_difference",
        "Difference from the others",
        "tau-b, bias or accuracy (params.measure) in a slice by domain or length minus that of all "
        "other responses",
        better="0",
        nominal=True,
    ),
)
