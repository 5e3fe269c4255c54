"""The outcomes of several metrics of one call, as one block of lines."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from judge.running.run_outcome import Outcome
from judge.text import Result, by_number, duration
from study.text import counted


@dataclass(frozen=True)
class SuiteOutcome(Result):
    """What one call did for several metrics, each of which is a run."""

    outcomes: Sequence[Outcome]

    def as_json(self) -> dict[str, Any]:
        """Return the outcome of each run, and the forecast of all metrics where there is one."""
        runs = [outcome.as_json() for outcome in self.outcomes]
        return {"runs": runs, "forecast": runs[-1]["by_step"]}

    def lines(self) -> list[str]:
        """Return a line for each run, and once what their prompts have in common."""
        total = _together(self.outcomes)
        stored = "was" if total.judged == 1 else "were"
        first = (
            f"{counted(total.judged, 'judgment')} of {len(self.outcomes)} runs {stored} stored; "
            f"{counted(total.answered, 'prompt was', 'prompts were')} answered in "
            f"{duration(total.seconds)}."
        )
        width = max(len(outcome.run) for outcome in self.outcomes)
        runs = [f"  {outcome.run:{width}}  {_counts(outcome)}" for outcome in self.outcomes]
        # The first line of a single run says what the first line here does.
        rest = replace(total, max_missing=1.0).lines()[1:]
        return [first, *runs, *rest, *_short_lines(self.outcomes)]


def _counts(outcome: Outcome) -> str:
    """Return the judgments that a call stored for a run, with those that have no value."""
    missing = ", ".join(f"{number} {reason}" for reason, number in by_number(outcome.missing))
    return f"{outcome.judged:,}" + (f", missing: {missing}" if missing else "")


def _short_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a line on the runs of which too much is missing, if there are any."""
    short = [
        f"{outcome.run} {outcome.missing_share:.1%}" for outcome in outcomes if outcome.falls_short
    ]
    if not short:
        return []
    allowed = f"{outcomes[0].max_missing:.1%}"
    return [f"Missing of the whole run, more than --max-missing ({allowed}): {', '.join(short)}."]


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the sums of the outcomes; what each of them says is there once."""
    costs = [outcome.cost for outcome in outcomes if outcome.cost is not None]
    return replace(
        outcomes[-1],
        answered=sum(outcome.answered for outcome in outcomes),
        remaining=sum(outcome.remaining for outcome in outcomes),
        judged=sum(outcome.judged for outcome in outcomes),
        seconds=sum(outcome.seconds for outcome in outcomes),
        uncounted=sum(outcome.uncounted for outcome in outcomes),
        cost=sum(costs) if costs else None,
        cost_is_most=any(outcome.cost_is_most for outcome in outcomes),
        sample=any(outcome.sample for outcome in outcomes),
        missing=_sums(outcome.missing for outcome in outcomes),
        failed=_sums(outcome.failed for outcome in outcomes),
        flags=_sums(outcome.flags for outcome in outcomes),
        tokens=_sums(outcome.tokens for outcome in outcomes),
        retries=_sums(outcome.retries for outcome in outcomes),
        overhead=_sums(outcome.overhead for outcome in outcomes),
        served=_sums(outcome.served for outcome in outcomes),
        notes=tuple(dict.fromkeys(chain(*(outcome.notes for outcome in outcomes)))),
        examples=tuple(dict.fromkeys(chain(*(outcome.examples for outcome in outcomes)))),
        reasons=dict(chain(*(outcome.reasons.items() for outcome in outcomes))),
        text_metrics=dict(chain(*(outcome.text_metrics.items() for outcome in outcomes))),
    )


def _sums(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)
