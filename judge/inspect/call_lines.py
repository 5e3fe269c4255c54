"""The calls on a run as lines of text: what they come to, and the last of them one by one."""

from collections.abc import Iterator, Mapping, Sequence

from judge.running.calls import Account, Call

# Calls that are shown one by one; --json has all.
_SHOWN = 10


def call_lines(calls: Sequence[Call], total: Account) -> Iterator[str]:
    """Yield what the calls come to, then each."""
    if not calls:
        return
    yield ""
    open_ = f", {total.unended} without an end (killed, or at work)" if total.unended else ""
    yield f"Calls: {total.calls}{open_}."
    pace = f", {total.tokens_a_second:,.0f} tokens a second" if total.tokens_a_second else ""
    yield f"{total.answered:,} prompts were answered in {_time(total.seconds)}{pace}."
    if total.retries:
        yield f"Tried again: {_listed(total.retries, ' after ')}."
    if total.failed:
        yield f"No answer, to be asked by the next call: {_listed(total.failed)}."
    if total.overhead:
        yield f"Questions of other kinds (the probe, counts, drift): {_listed(total.overhead)}."
    if "recomputed" in total.figures:
        least = total.figures.get("least_recomputed")
        beside = "" if least is None else f"; the least possible is {least:.1%}"
        yield f"Of the prompt tokens {total.figures['recomputed']:.1%} were computed{beside}."
    if total.cost is not None:
        noun = "call" if total.unpriced == 1 else "calls"
        without = f" ({total.unpriced} {noun} without prices)" if total.unpriced else ""
        yield f"Cost: {total.cost:,.2f}{without}."
    yield from map(_one, calls[-_SHOWN:])
    if len(calls) > _SHOWN:
        yield f"  {len(calls) - _SHOWN} earlier calls are in --json."


def _one(call: Call) -> str:
    title = f"  {call.began} {call.kind}: "
    if call.ended is None:
        return f"{title}{call.planned} prompts to ask, no end"
    cost = "" if call.cost is None else f", {call.cost:,.2f}"
    failed = f", {sum(call.failed.values())} without answer" if call.failed else ""
    return (
        f"{title}{call.answered} of {call.planned} prompts{failed}, {call.judged} judgments, "
        f"{_time(call.seconds or 0.0)}{cost}, {call.ended}"
    )


def _listed(counts: Mapping[str, int], between: str = " ") -> str:
    return ", ".join(f"{number:,}{between}{name}" for name, number in counts.items())


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
